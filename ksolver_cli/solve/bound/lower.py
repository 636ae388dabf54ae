"""The proven lower bound of one component: relaxation, rows as needed, branches over vanishing domains, class MIP."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.solve.bound.certificate import certified_bound, lift
from ksolver_cli.solve.bound.cuts import fit_rows, rule_rows, violated
from ksolver_cli.solve.bound.fine import FineCertificate
from ksolver_cli.solve.bound.highs import Ended, Lp, LpResult, MipBudget
from ksolver_cli.solve.bound.relaxation import Relaxation, relax
from ksolver_cli.solve.bound.sparse import Rows, stack
from ksolver_cli.solve.problem import FloatArray, IntArray, Problem
from ksolver_cli.solve.solution import Run

MAX_ROUNDS = 12
FINE_GROUPS = 1500
"""With more groups than this the linear programme is solved on coarse ones, and certified on all."""
MIP_TOLERANCE = 1e-6
"""HiGHS works to 1e-7 of feasibility in each row; its dual bound is trusted less by this share before it is lifted."""


Box = tuple[FloatArray, FloatArray]
"""Lower and upper bound of every column."""


@dataclass(eq=False)
class Bounded:
    """A relaxation with the rows found so far, its LP point, and what is proven. Micro-dollars an hour."""

    relaxation: Relaxation
    rows: Rows
    spare: Rows
    lp: Lp
    point: LpResult
    certificate: int
    bound: int
    floor_rows: Rows
    """The valid rows at the end of `lower_bound`; a guide adds rows to `rows` that are not."""
    spare_rule: IntArray
    """[spare row] the rule row it is, −1 for others."""
    added: list[IntArray]
    """The same of the rows added so far."""
    fine: FineCertificate | None = None
    """Certifies for the full relaxation where this one is coarse."""
    boxes: tuple[tuple[float, Box], ...] = ()
    """Column boxes that no reachable state lies outside of, each with what is proven for it."""

    @property
    def guide_box(self) -> Box:
        """Every domain stays: where plans are looked for."""
        relaxation = self.relaxation
        upper = relaxation.upper.copy()
        upper[relaxation.first_gone :] = 0.0
        return relaxation.lower, upper

    def separate(self, x: FloatArray) -> bool:
        """Add the spare rows that the point breaks; whether there were any."""
        mask = violated(self.spare, x)
        if not mask.any():
            return False
        found = self.spare.take(mask)
        self.lp.add_rows(found)
        self.rows = stack(self.rows, found)
        self.spare = self.spare.take(~mask)
        self.added.append(self.spare_rule[mask])
        self.spare_rule = self.spare_rule[~mask]
        return True


def lower_bound(problem: Problem, run: Run) -> Bounded:
    """Solve the class relaxation and certify it."""
    bounded = _relaxed(problem, run)
    _solve(bounded, run)
    if bounded.point.ended is not Ended.OPTIMAL:
        return bounded
    root = certify(bounded, bounded.guide_box)
    kept = bounded.point
    value, box, loose = _loose(bounded, root, run)
    branches = [_vanished(bounded, index, root, run) for index in loose]
    bounded.boxes = ((min(root, value), box), *(found for found in branches if found is not None))
    bounded.point = kept
    set_box(bounded, bounded.guide_box)
    prove(bounded, min(value for value, _ in bounded.boxes))
    bounded.floor_rows = bounded.rows
    return bounded


def prove(bounded: Bounded, value: float) -> None:
    """Take a certified value for the bound, lifted to the next sum of prices."""
    prices = bounded.relaxation.problem.price
    bounded.certificate = max(bounded.certificate, lift(value, prices[prices > 0]))
    bounded.bound = max(bounded.bound, bounded.certificate)


def _relaxed(problem: Problem, run: Run) -> Bounded:
    coarse = problem.num_groups > FINE_GROUPS
    relaxation = relax(problem, coarse=coarse)
    upper = relaxation.upper.copy()
    upper[relaxation.first_gone :] = 0.0
    lp = Lp(relaxation.cost, relaxation.lower, upper, relaxation.rows, run.limits.seed)
    rules, fits = rule_rows(relaxation), fit_rows(relaxation)
    mark = np.concatenate([np.arange(rules.count), np.full(fits.count, -1)])
    rows, spare = relaxation.rows, stack(rules, fits)
    bounded = Bounded(relaxation, rows, spare, lp, _nothing(relaxation), 0, 0, rows, mark, [])
    bounded.fine = FineCertificate(relaxation) if coarse else None
    return bounded


def set_box(bounded: Bounded, box: Box) -> None:
    """Give the programme these column bounds."""
    bounded.lp.set_bounds(np.arange(bounded.relaxation.num_columns), *box)


def _loose(bounded: Bounded, root: float, run: Run) -> tuple[float, Box, list[int]]:
    """The v that must be branched on, and the box in which all of them are 0 and the others free, with its bound."""
    relaxation = bounded.relaxation
    first, upper, closed, value = relaxation.first_gone, relaxation.upper.copy(), set[int](), root
    while len(closed) < len(relaxation.gone):
        box = (relaxation.lower, upper)
        set_box(bounded, box)
        _solve(bounded, run)
        optimal = bounded.point.ended is Ended.OPTIMAL
        value = certify(bounded, box) if optimal else -np.inf
        positive = np.flatnonzero(bounded.point.x[first:] > 1e-9) if optimal else np.arange(len(relaxation.gone))
        if value >= root * (1 - 1e-9) or not len(positive):
            break
        closed.update(int(i) for i in positive)
        upper[first + positive] = 0.0
        value = root
    return value, (relaxation.lower, upper), sorted(closed)


def _nothing(relaxation: Relaxation) -> LpResult:
    return LpResult(Ended.STOPPED, 0.0, np.zeros(relaxation.num_columns), np.zeros(relaxation.rows.count))


def _solve(bounded: Bounded, run: Run) -> None:
    for _ in range(MAX_ROUNDS):
        result = bounded.lp.solve(run)
        bounded.point = result
        if result.ended is not Ended.OPTIMAL or run.interrupted() or not bounded.separate(result.x):
            return
    bounded.point = bounded.lp.solve(run)


def certify(bounded: Bounded, box: Box) -> float:
    """What the duals of the present point prove for the box."""
    if bounded.fine is not None:
        return bounded.fine.bound(box, *_proof(bounded, bounded.point.duals))
    duals = bounded.point.duals
    duals = np.concatenate([duals, np.zeros(bounded.rows.count - len(duals))])
    return certified_bound(bounded.relaxation.cost, *box, bounded.rows, duals)


def _proof(bounded: Bounded, duals: FloatArray) -> tuple[FloatArray, IntArray]:
    """Duals of all rows so far (0 for rows newer than them) and which rule rows the added ones are."""
    missing = np.zeros(bounded.rows.count - len(duals))
    return np.concatenate([duals, missing]), np.concatenate([*bounded.added, np.zeros(0, dtype=np.int64)])


def _vanished(bounded: Bounded, index: int, root: float, run: Run) -> tuple[float, Box] | None:
    """The box where this set of classes is gone altogether (the others may be too), and its bound, at most the root's.

    None where no solution is, which is believed only with a ray that certifies it.
    """
    relaxation = bounded.relaxation
    lower, upper = relaxation.lower.copy(), relaxation.upper.copy()
    upper[np.array(relaxation.gone[index], dtype=np.int64)] = 0.0
    lower[relaxation.first_gone + index] = 1.0
    set_box(bounded, (lower, upper))
    _solve(bounded, run)
    if bounded.point.ended is Ended.OPTIMAL:
        return min(root, certify(bounded, (lower, upper))), (lower, upper)
    if bounded.point.ended is Ended.INFEASIBLE and is_certified_empty(bounded, (lower, upper)):
        return None
    return -np.inf, (lower, upper)


def is_certified_empty(bounded: Bounded, box: Box) -> bool:
    """Whether a dual ray proves that the box holds no solution."""
    ray = bounded.lp.ray()
    if ray is None:
        return False
    nothing = np.zeros(bounded.relaxation.num_columns)
    if bounded.fine is not None:
        proofs = [bounded.fine.bound(box, *_proof(bounded, s * ray), priced=False) for s in (1.0, -1.0)]
    else:
        proofs = [certified_bound(nothing, *box, bounded.rows, s * ray) for s in (1.0, -1.0)]
    return max(proofs) > 0


def class_mip(bounded: Bounded, run: Run, budget: MipBudget) -> FloatArray | None:
    """Branch and bound over integer node counts: lifts the bound; returns the best class plan found, if any."""
    relaxation = bounded.relaxation
    columns = np.arange(relaxation.num_columns)
    integral = (columns < relaxation.num_classes) | (columns >= relaxation.first_gone)
    lp = Lp(relaxation.cost, relaxation.lower, relaxation.upper, bounded.floor_rows, run.limits.seed)
    result = lp.solve_integer(integral, budget, run)
    prices = relaxation.problem.price[relaxation.problem.price > 0]
    if np.isfinite(result.bound):
        safe = result.bound * (1 - MIP_TOLERANCE)
        bounded.bound = max(bounded.bound, lift(safe, prices))
    return result.x
