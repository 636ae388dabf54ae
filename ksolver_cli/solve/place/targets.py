"""From a relaxation to targets: integer node counts, the nodes to keep, and how many pods each class takes."""

import numpy as np

from ksolver_cli.solve.bound.cuts import strict_spread_rows, violated
from ksolver_cli.solve.bound.highs import Ended, Lp, MipBudget
from ksolver_cli.solve.bound.lower import Bounded
from ksolver_cli.solve.bound.relaxation import Relaxation
from ksolver_cli.solve.bound.sparse import Rows, stack, with_twins
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray, Problem
from ksolver_cli.solve.solution import Run

NEAR = 1e-6
FEW = 16
"""What a node has so few of (GPUs) comes in whole units anyway: a reserve of it would be a whole node more."""
PREFERENCE = 1e-4
TWO_STAGE = 250
"""Up to this many nodes the split that moves fewest pods is a linear programme of its own."""


class Guide:
    """The bound's linear programme turned into a guide: the same basis, stricter spread rows, shrunk capacities.

    Once made, the bounded relaxation behind it must not be used as a bound any more.
    """

    def __init__(self, bounded: Bounded, run: Run) -> None:
        self.bounded, self.run = bounded, run
        self.relaxation = bounded.relaxation
        self.lp = bounded.lp
        strict = strict_spread_rows(self.relaxation)
        bounded.spare = stack(bounded.spare, strict)
        bounded.spare_rule = np.concatenate([bounded.spare_rule, np.full(strict.count, -1)])
        self.shrink = 0.0
        self.cost = _with_preference(bounded.relaxation)
        self.lp.set_cost(self.cost)
        self.lp.start_cold()
        self.lp.solve(run)
        self.lp.remember()
        self._first_counts = bounded.point.x[: self.relaxation.num_classes].copy()
        upper = self.relaxation.upper.copy()
        upper[self.relaxation.first_gone :] = 0.0
        self._box = (self.relaxation.lower, upper)

    def set_shrink(self, share: float) -> None:
        """Hold back this share of every capacity, as it was used in the first solution.

        Only right-hand sides change, so that the basis stays dual feasible and few pivots are needed.
        """
        if share == self.shrink:
            return
        self.shrink = share
        self.lp.set_row_upper(*self._held_back())

    def _held_back(self) -> tuple[IntArray, FloatArray]:
        """Capacity rows and their upper sides under the present reserve."""
        c, k = np.nonzero(self.relaxation.capacity_row >= 0)
        rows = self.relaxation.capacity_row[c, k]
        capacity = self.relaxation.problem.class_capacity[c, k]
        reserve = np.where(capacity > FEW, self.shrink * capacity * self._first_counts[c], 0.0)
        return rows, self.relaxation.rows.upper[rows] - reserve

    def best_counts(self, budget: MipBudget) -> IntArray | None:
        """[c] the cheapest integer node counts under the present reserve, by branch and bound from scratch."""
        rows, upper = self.bounded.rows, self.bounded.rows.upper.copy()
        which, sides = self._held_back()
        upper[which] = sides
        held = Rows(rows.start, rows.column, rows.value, rows.lower, upper)
        lp = Lp(self.cost, *self._box, held, self.run.limits.seed)
        size = self.relaxation.num_classes
        x = lp.solve_integer(np.arange(self.relaxation.num_columns) < size, budget, self.run).x
        return None if x is None else np.round(x[:size]).astype(np.int64)

    def solve(self, rounds: int = 12) -> bool:
        """Solve as things are set, adding broken rows at most so many times; whether there is a solution."""
        bounded = self.bounded
        bounded.point = self.lp.solve(self.run)
        for _ in range(rounds):
            if bounded.point.ended is not Ended.OPTIMAL or not bounded.separate(bounded.point.x):
                break
            bounded.point = self.lp.solve(self.run)
        return bounded.point.ended is Ended.OPTIMAL

    def solve_with_twins(self, twins: IntArray) -> FloatArray | None:
        """Solve with twin columns behind the relaxation's; each twin's value is added to its original."""
        size, bounded = self.relaxation.num_columns, self.bounded
        self.lp.start_cold()
        while True:
            bounded.point = self.lp.solve(self.run)
            if bounded.point.ended is not Ended.OPTIMAL:
                return None
            x = bounded.point.x[:size].copy()
            x[twins] += bounded.point.x[size:]
            mask = violated(bounded.spare, x)
            if not mask.any():
                return x
            found = bounded.spare.take(mask)
            self.lp.add_rows(with_twins(found, twins, size))
            bounded.rows, bounded.spare = stack(bounded.rows, found), bounded.spare.take(~mask)
            bounded.added.append(bounded.spare_rule[mask])
            bounded.spare_rule = bounded.spare_rule[~mask]

    def counts(self) -> FloatArray:
        """[c] nodes kept in the last solution."""
        return self.bounded.point.x[: self.relaxation.num_classes]

    def set_counts(self, lower: FloatArray, upper: FloatArray) -> None:
        """Bound the node counts."""
        self.lp.set_bounds(np.arange(self.relaxation.num_classes), lower, upper)

    def solve_counts(self, lower: FloatArray, upper: FloatArray) -> bool:
        """Bound the node counts and solve without new rows."""
        self.set_counts(lower, upper)
        return self.solve(rounds=0)

    def restart(self) -> None:
        """Node counts as in the relaxation again, and its basis: a far-off one costs more pivots than a cold start."""
        size = self.relaxation.num_classes
        self.set_counts(self._box[0][:size], self._box[1][:size])
        self.lp.restore()


def _with_preference(relaxation: Relaxation) -> FloatArray:
    """Costs that break ties for fewer moves: towards classes whose nodes hold more pods, and, in large problems where
    a second programme would take too long, towards classes where more pods of the group are.
    """
    problem, size = relaxation.problem, relaxation.num_classes
    weight = np.zeros(problem.num_nodes)
    bound = problem.pod_node >= 0
    np.add.at(weight, problem.pod_node[bound], problem.pod_weight[bound])
    share = np.array([weight[nodes].mean() for nodes in problem.class_nodes]) / max(float(weight.max(initial=0)), 1.0)
    preferred = relaxation.cost.copy()
    preferred[:size] *= 1.0 - PREFERENCE * share
    if problem.num_nodes > TWO_STAGE:
        here = relaxation.seats(bound)
        near = here / np.maximum(here.max(axis=1, keepdims=True), 1.0)
        fee = 5 * PREFERENCE * problem.cost_now / max(problem.num_pods, 1)
        preferred[size : relaxation.first_gone] = fee * (1.0 - near[relaxation.x_group, relaxation.x_class])
    return preferred


def dive(guide: Guide) -> IntArray | None:
    """[c] integer node counts: fix half of the fractional counts a round, nearest to an integer first, re-solve warm.

    None where the relaxation (with its shrunk capacities) has no solution.
    """
    size = guide.relaxation.num_classes
    least, most = guide.relaxation.lower[:size], guide.relaxation.upper[:size]
    lower, upper = least.copy(), most.copy()
    guide.restart()
    solved = guide.solve()
    for _ in range(4 * size):
        if not solved:
            return None
        y = guide.counts()
        nearest = np.round(y)
        distance = np.abs(y - nearest)
        fractional = np.flatnonzero(distance > NEAR)
        if not len(fractional):
            return np.asarray(nearest, dtype=np.int64)
        order = fractional[np.argsort(distance[fractional], kind="stable")]
        chosen = order[: max(1, len(order) // 2)]
        before = lower.copy()
        lower[chosen] = upper[chosen] = nearest[chosen]
        solved = guide.solve_counts(lower, upper)
        if not solved:
            lower = before
            lower[chosen], upper[chosen] = np.ceil(y[chosen] - NEAR), most[chosen]
            solved = guide.solve_counts(lower, upper)
        if not solved:
            # What was rounded down before stands in the way.
            upper = most.copy()
            solved = guide.solve_counts(lower, upper)
    return None


def choose_nodes(problem: Problem, counts: IntArray) -> BoolArray:
    """[n] the nodes to keep: of each class those that must stay, then those whose pods would be dearest to move."""
    weight = np.zeros(problem.num_nodes)
    bound = problem.pod_node >= 0
    np.add.at(weight, problem.pod_node[bound], problem.pod_weight[bound])
    kept = problem.must_keep.copy()
    for c, nodes in enumerate(problem.class_nodes):
        order = nodes[np.lexsort((nodes, -weight[nodes], ~problem.must_keep[nodes]))]
        kept[order[: int(counts[c])]] = True
    return kept


def targets(guide: Guide, kept: BoolArray, *, stay: bool) -> FloatArray | None:
    """[lp group, c] pods per class on these nodes; for large problems as the dive left them unless `stay`."""
    if stay or guide.relaxation.problem.num_nodes <= TWO_STAGE:
        return stay_targets(guide, kept)
    return guide.relaxation.x_matrix(guide.bounded.point.x) if guide.solve() else None


def stay_targets(guide: Guide, kept: BoolArray) -> FloatArray | None:
    """[lp group, c] pods per class on these nodes that let most pods stay where they are; None where they do not fit.

    Each pair with pods on kept nodes gets a twin column that is free of cost up to their number.
    """
    relaxation, problem = guide.relaxation, guide.relaxation.problem
    size = relaxation.num_classes
    counts = np.bincount(problem.node_class[kept], minlength=size).astype(float)
    here = relaxation.seats((problem.pod_node >= 0) & kept[np.maximum(problem.pod_node, 0)])
    group, node_class = np.nonzero(here)
    twins = relaxation.column_of[group, node_class]
    cost = np.zeros(relaxation.num_columns)
    cost[size : relaxation.first_gone] = 1e6
    guide.set_counts(counts, counts)
    guide.lp.set_cost(cost)
    room = np.maximum(here[group, node_class] - relaxation.lower[twins], 0.0)
    guide.lp.add_columns(np.zeros(len(twins)), room, twins, guide.bounded.rows)
    x = guide.solve_with_twins(twins)
    guide.lp.drop_columns(relaxation.num_columns)
    guide.lp.set_cost(guide.cost)
    return None if x is None else relaxation.x_matrix(x)


def round_targets(x: FloatArray, demand: IntArray) -> IntArray:
    """[lp group, c] integers with the same row sums (largest remainder, ties by class)."""
    floor = np.floor(x + NEAR).astype(np.int64)
    missing = demand - floor.sum(axis=1)
    order = np.argsort(-(x - floor), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(x.shape[1])[None, :], axis=1)
    return np.asarray(floor + (rank < missing[:, None]))
