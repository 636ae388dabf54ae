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
    coarse = problem.num_groups > FINE_GROUPS
    relaxation = relax(problem, coarse=coarse)
    lower, upper = relaxation.lower, relaxation.upper.copy()
    upper[relaxation.first_gone :] = 0.0
    lp = Lp(relaxation.cost, lower, upper, relaxation.rows, run.limits.seed)
    rules, fits = rule_rows(relaxation), fit_rows(relaxation)
    mark = np.concatenate([np.arange(rules.count), np.full(fits.count, -1)])
    rows, spare = relaxation.rows, stack(rules, fits)
    bounded = Bounded(relaxation, rows, spare, lp, _nothing(relaxation), 0, 0, rows, mark, [])
    bounded.fine = FineCertificate(relaxation) if coarse else None
    _solve(bounded, run)
    if bounded.point.ended is not Ended.OPTIMAL:
        return bounded
    root = _certify(bounded, lower, upper)
    floor, loose = _loose(bounded, root, run)
    root = min([root, floor, *(_branch(bounded, index, root, run) for index in loose)])
    bounded.certificate = lift(root, problem.price[problem.price > 0])
    bounded.bound = bounded.certificate
    bounded.floor_rows = bounded.rows
    return bounded


def _loose(bounded: Bounded, root: float, run: Run) -> tuple[float, list[int]]:
    """The v that must be branched on, and the bound that holds while all of them are 0 and the others free."""
    relaxation = bounded.relaxation
    first, columns = relaxation.first_gone, np.arange(relaxation.num_columns)
    upper, before, closed, value = relaxation.upper.copy(), bounded.point, set[int](), root
    while len(closed) < len(relaxation.gone):
        bounded.lp.set_bounds(columns, relaxation.lower, upper)
        _solve(bounded, run)
        optimal = bounded.point.ended is Ended.OPTIMAL
        value = _certify(bounded, relaxation.lower, upper) if optimal else -np.inf
        positive = np.flatnonzero(bounded.point.x[first:] > 1e-9) if optimal else np.arange(len(relaxation.gone))
        if value >= root * (1 - 1e-9) or not len(positive):
            break
        closed.update(int(i) for i in positive)
        upper[first + positive] = 0.0
        value = root
    upper[first:] = 0.0
    bounded.lp.set_bounds(columns, relaxation.lower, upper)
    bounded.point = before
    return value, sorted(closed)


def _nothing(relaxation: Relaxation) -> LpResult:
    return LpResult(Ended.STOPPED, 0.0, np.zeros(relaxation.num_columns), np.zeros(relaxation.rows.count))


def _solve(bounded: Bounded, run: Run) -> None:
    for _ in range(MAX_ROUNDS):
        result = bounded.lp.solve(run.left())
        bounded.point = result
        if result.ended is not Ended.OPTIMAL or run.interrupted() or not bounded.separate(result.x):
            return
    bounded.point = bounded.lp.solve(run.left())


def _certify(bounded: Bounded, lower: FloatArray, upper: FloatArray) -> float:
    if bounded.fine is not None:
        return bounded.fine.bound((lower, upper), *_proof(bounded, bounded.point.duals))
    return certified_bound(bounded.relaxation.cost, lower, upper, bounded.rows, bounded.point.duals)


def _proof(bounded: Bounded, duals: FloatArray) -> tuple[FloatArray, IntArray]:
    """Duals of all rows so far (0 for rows newer than them) and which rule rows the added ones are."""
    missing = np.zeros(bounded.rows.count - len(duals))
    return np.concatenate([duals, missing]), np.concatenate([*bounded.added, np.zeros(0, dtype=np.int64)])


def _branch(bounded: Bounded, index: int, root: float, run: Run) -> float:
    """The bound where this set of classes is gone altogether (the others may be too); the root's where that is worse.

    An infeasible branch is believed only with a ray that certifies it.
    """
    relaxation = bounded.relaxation
    lower, upper = relaxation.lower.copy(), relaxation.upper.copy()
    classes = np.array(relaxation.gone[index], dtype=np.int64)
    upper[classes] = 0.0
    lower[relaxation.first_gone + index] = 1.0
    columns = np.arange(relaxation.num_columns)
    bounded.lp.set_bounds(columns, lower, upper)
    before = bounded.point
    _solve(bounded, run)
    value = -np.inf
    if bounded.point.ended is Ended.OPTIMAL:
        value = _certify(bounded, lower, upper)
    elif bounded.point.ended is Ended.INFEASIBLE:
        value = _certified_infeasible(bounded, lower, upper, root)
    closed = relaxation.upper.copy()
    closed[relaxation.first_gone :] = 0.0
    bounded.lp.set_bounds(columns, relaxation.lower, closed)
    bounded.point = before
    return value


def _certified_infeasible(bounded: Bounded, lower: FloatArray, upper: FloatArray, root: float) -> float:
    ray = bounded.lp.ray()
    if ray is None:
        return -np.inf
    nothing = np.zeros(bounded.relaxation.num_columns)
    if bounded.fine is not None:
        proofs = [bounded.fine.bound((lower, upper), *_proof(bounded, s * ray), priced=False) for s in (1.0, -1.0)]
    else:
        proofs = [certified_bound(nothing, lower, upper, bounded.rows, s * ray) for s in (1.0, -1.0)]
    return root if max(proofs) > 0 else -np.inf


def class_mip(bounded: Bounded, run: Run, budget: MipBudget) -> FloatArray | None:
    """Branch and bound over integer node counts: lifts the bound; returns the best class plan found, if any."""
    relaxation = bounded.relaxation
    columns = np.arange(relaxation.num_columns)
    integral = (columns < relaxation.num_classes) | (columns >= relaxation.first_gone)
    lp = Lp(relaxation.cost, relaxation.lower, relaxation.upper, bounded.floor_rows, run.limits.seed)
    result = lp.solve_integer(integral, budget)
    prices = relaxation.problem.price[relaxation.problem.price > 0]
    if np.isfinite(result.bound):
        safe = result.bound * (1 - MIP_TOLERANCE)
        bounded.bound = max(bounded.bound, lift(safe, prices))
    return result.x
