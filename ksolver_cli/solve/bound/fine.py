"""A bound on the full relaxation from the duals of a coarse one, in which similar groups were taken together.

Capacity and rule prices carry over; each group's demand price is then the best that dual feasibility allows it: what
a pod costs on its cheapest class. Weak duality asks for no more, so the coarse model may be as rough as it likes.
"""

import numpy as np

from ksolver_cli.solve.bound.certificate import certified_bound
from ksolver_cli.solve.bound.cuts import rule_rows
from ksolver_cli.solve.bound.relaxation import Relaxation, relax
from ksolver_cli.solve.bound.sparse import Rows, stack
from ksolver_cli.solve.problem import FloatArray, IntArray


class FineCertificate:
    """Bounds for the full relaxation of the problem behind a coarse one."""

    def __init__(self, coarse: Relaxation) -> None:
        self.coarse, self.fine = coarse, relax(coarse.problem)
        rules = rule_rows(self.fine)
        self.rows: Rows = stack(self.fine.rows, rules)
        self.num_rules = rules.count
        self.groups = len(self.fine.demand)

    def bound(
        self, box: tuple[FloatArray, FloatArray], duals: FloatArray, added: IntArray, priced: bool = True
    ) -> float:
        """Never above the optimum of the full relaxation within the coarse column bounds `box` (of y and v).

        `added`: for each coarse row behind the base rows, the rule row it is, −1 for others. Without `priced` the costs
        are 0: a positive answer proves that there is no solution.
        """
        fine, size = self.fine, self.fine.num_classes
        multipliers = self._multipliers(duals, added)
        entries = multipliers[self.rows.row_of_entry()] * self.rows.value
        pull: FloatArray = np.bincount(self.rows.column, weights=entries, minlength=fine.num_columns).astype(np.float64)
        multipliers[: self.groups] = self._demand_prices(-pull[size : fine.first_gone])
        lower, upper = fine.lower.copy(), fine.upper.copy()
        for part, coarse_part in ((slice(0, size), slice(0, size)), (slice(fine.first_gone, None), self._gone())):
            lower[part], upper[part] = box[0][coarse_part], box[1][coarse_part]
        cost = fine.cost if priced else np.zeros(fine.num_columns)
        return certified_bound(cost, lower, upper, self.rows, multipliers)

    def _gone(self) -> slice:
        return slice(self.coarse.first_gone, self.coarse.num_columns)

    def _multipliers(self, duals: FloatArray, added: IntArray) -> FloatArray:
        coarse, fine = self.coarse, self.fine
        found = np.zeros(self.rows.count)
        both = (coarse.capacity_row >= 0) & (fine.capacity_row >= 0)
        found[fine.capacity_row[both]] = np.minimum(duals[coarse.capacity_row[both]], 0.0)
        first_coarse = int(coarse.capacity_row.max(initial=len(coarse.demand) - 1)) + 1
        first_fine = int(fine.capacity_row.max(initial=self.groups - 1)) + 1
        found[first_fine : fine.rows.count] = duals[first_coarse : coarse.rows.count]
        known = np.flatnonzero(added >= 0)
        found[fine.rows.count + added[known]] = np.minimum(duals[coarse.rows.count + known], 0.0)
        return found

    def _demand_prices(self, price: FloatArray) -> FloatArray:
        """[group] the cheapest feasible class; where only today's seats are left, the dearest of them."""
        fine = self.fine
        open_ended = fine.upper[fine.num_classes : fine.first_gone] >= fine.demand[fine.x_group]
        cheapest = np.full(self.groups, np.inf)
        np.minimum.at(cheapest, fine.x_group[open_ended], price[open_ended])
        dearest = np.full(self.groups, -np.inf)
        np.maximum.at(dearest, fine.x_group, price)
        return np.where(np.isfinite(cheapest), cheapest, np.where(np.isfinite(dearest), dearest, 0.0))
