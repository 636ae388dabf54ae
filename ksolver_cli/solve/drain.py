"""The drain MIP: which nodes to remove when pods on kept nodes stay put and only evicted ones find a new home.

Unlike the class relaxation it remembers who stays. z_n keeps node n, f_gc counts evicted pods of group g that come to
class c. What it leaves out (order, scores, affinity) is for the replay to judge.
"""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Spread
from ksolver_cli.solve.bound.cuts import merged_spreads, violated
from ksolver_cli.solve.bound.highs import Ended, Lp, MipBudget
from ksolver_cli.solve.bound.relaxation import INF, eligible_domains, merge_groups
from ksolver_cli.solve.bound.sparse import RowBuilder, Rows, stack
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray, Problem
from ksolver_cli.solve.solution import Run

ROUNDS = 8
MIP = MipBudget(nodes=3000, steps=100, gap=3e-3)
"""At any effort: that says how many sets are looked for."""
MIP_ROUNDS = 2


@dataclass(frozen=True)
class DrainSet:
    """A set worth replaying: names of the nodes to remove, in node order, and what the model makes of it."""

    removed: tuple[str, ...]
    cost_micros: int
    moved: int


Columns = tuple[FloatArray, FloatArray, FloatArray]
"""Cost, lower and upper bound of every column."""


class DrainModel:
    """The programme of one problem, solved with one reserve after the other.

    Columns: z_n for every node, then f_j for every feasible pair of LP group and class.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.group_of, self.count = merge_groups(problem)
        real = np.flatnonzero(self.group_of >= 0)
        self.request = np.zeros((self.count, len(problem.resources)), dtype=np.int64)
        self.request[self.group_of[real]] = problem.request[real]
        feasible = np.zeros((self.count, problem.num_classes), dtype=bool)
        feasible[self.group_of[real]] = problem.feasible[real]
        self.f_group, self.f_class = np.nonzero(feasible)
        self.column_of = np.full(feasible.shape, -1, dtype=np.int64)
        self.column_of[self.f_group, self.f_class] = problem.num_nodes + np.arange(len(self.f_group))
        bound = np.flatnonzero((problem.pod_node >= 0) & (self.group_of[problem.pod_group] >= 0))
        pairs = self.group_of[problem.pod_group[bound]] * problem.num_nodes + problem.pod_node[bound]
        unique, counts = np.unique(pairs, return_counts=True)
        self.on_group, self.on_node, self.on_count = unique // problem.num_nodes, unique % problem.num_nodes, counts
        self.demand = _demand(problem, self.group_of, self.count)
        self.weight = np.bincount(
            problem.pod_node[bound], weights=problem.pod_weight[bound], minlength=problem.num_nodes
        )

    def solve(self, reserve: FloatArray, move_price_micros: int, run: Run) -> DrainSet | None:
        """Linear programme with lazy rows, then the MIP over what is left open; None without a solution, or time.

        `reserve` is the share of capacity held back on kept nodes, [class, resource] 0 … 1; moving one pod (of weight
        1) costs `move_price_micros` micro-dollars an hour, which trades saving against moves.
        """
        problem = self.problem
        size = problem.num_nodes + len(self.f_group)
        cost = np.zeros(size)
        cost[: problem.num_nodes] = problem.price - move_price_micros * self.weight
        lower = np.concatenate([problem.must_keep.astype(float), np.zeros(len(self.f_group))])
        upper = np.concatenate([np.ones(problem.num_nodes), self.demand[self.f_group].astype(float)])
        free = self._free(reserve)
        rows, spare = self._base_rows(free), self._spare_rows(free)
        lp = Lp(cost, lower, upper, rows, run.limits.seed)
        for _ in range(ROUNDS):
            point = lp.solve(run)
            if point.ended is not Ended.OPTIMAL:
                return None
            mask = violated(spare, point.x)
            if not mask.any():
                break
            lp.add_rows(spare.take(mask))
            rows, spare = stack(rows, spare.take(mask)), spare.take(~mask)
        whole = self._integral((cost, lower, upper), (rows, spare), point.x, run)
        return None if whole is None else self._drain_set(whole[: problem.num_nodes] > 0.5)

    def _integral(self, columns: Columns, split: tuple[Rows, Rows], x: FloatArray, run: Run) -> FloatArray | None:
        """The MIP with lazy rows, the nodes fixed that x decides."""
        nodes = self.problem.num_nodes
        cost, lower, upper = columns[0], columns[1].copy(), columns[2].copy()
        settled = np.flatnonzero(np.abs(x[:nodes] - np.round(x[:nodes])) < 1e-6)
        lower[settled] = np.round(x[settled])
        narrow = upper.copy()
        narrow[settled] = lower[settled]
        found = self._searched((cost, lower, narrow), split, run)
        # Fractions lean on nodes that are cut up; whole nodes may need some that the programme let go altogether.
        return found if found is not None or run.stopped() else self._searched((cost, lower, upper), split, run)

    def _searched(self, columns: Columns, split: tuple[Rows, Rows], run: Run) -> FloatArray | None:
        (cost, lower, upper), (rows, spare) = columns, split
        whole = np.arange(len(cost)) < self.problem.num_nodes
        x: FloatArray | None = None
        for _ in range(MIP_ROUNDS):
            x = Lp(cost, lower, upper, rows, run.limits.seed).solve_integer(whole, MIP, run).x
            if x is None or run.stopped():
                break
            mask = violated(spare, x)
            if not mask.any():
                break
            rows, spare = stack(rows, spare.take(mask)), spare.take(~mask)
        return x

    def _drain_set(self, kept: BoolArray) -> DrainSet:
        problem = self.problem
        leaving = ~kept[self.on_node]
        return DrainSet(
            removed=tuple(problem.node_names[n] for n in np.flatnonzero(~kept).tolist()),
            cost_micros=problem.cost(kept),
            moved=int(self.on_count[leaving].sum()),
        )

    def _free(self, reserve: FloatArray) -> IntArray:
        """[n, k] room on a node that keeps its pods, after the reserve."""
        problem = self.problem
        # To the nearest: a hundredth held back of one GPU, or of 29 pod slots, is nothing held back.
        usable = np.floor((1 - reserve[problem.node_class]) * problem.capacity + 0.5).astype(np.int64)
        return np.asarray(np.maximum(usable - problem.load_now, 0))

    def _base_rows(self, free: IntArray) -> Rows:
        problem, builder = self.problem, RowBuilder.empty()
        order = np.argsort(self.on_group, kind="stable")
        ends = np.searchsorted(self.on_group[order], np.arange(self.count + 1))
        for g in range(self.count):
            here = order[ends[g] : ends[g + 1]]
            columns = self.column_of[g][self.column_of[g] >= 0]
            values = np.concatenate([self.on_count[here], np.ones(len(columns))])
            builder.add(np.concatenate([self.on_node[here], columns]), values, self.demand[g], self.demand[g])
        for c, nodes in enumerate(problem.class_nodes):
            present = np.flatnonzero(self.column_of[:, c] >= 0)
            for k in range(len(problem.resources)):
                taking = present[self.request[present, k] > 0]
                if len(taking):
                    columns = np.concatenate([nodes, self.column_of[taking, c]])
                    builder.add(columns, np.concatenate([-free[nodes, k], self.request[taking, k]]), -INF, 0.0)
        return builder.build()

    def _spare_rows(self, free: IntArray) -> Rows:
        builder = RowBuilder.empty()
        self._fit_rows(free, builder)
        for rule in self.problem.rules:
            if isinstance(rule, CapPerDomain):
                self._cap_rows(rule, builder)
        for spread in merged_spreads(self.problem):
            self._spread_rows(spread, builder)
        return builder.build()

    def _fit_rows(self, free: IntArray, builder: RowBuilder) -> None:
        """f_gc ≤ Σ_n (pods of g that node n still fits) · z_n: room in splinters is no room."""
        for c, nodes in enumerate(self.problem.class_nodes):
            for g in np.flatnonzero(self.column_of[:, c] >= 0).tolist():
                need = self.request[g] > 0
                fits = (free[np.ix_(nodes, np.flatnonzero(need))] // self.request[g][need]).min(axis=1)
                fits = np.minimum(fits, self.demand[g])
                columns = np.concatenate([nodes, [self.column_of[g, c]]])
                builder.add(columns, np.concatenate([-fits, [1]]), -INF, 0.0)

    def _members(self, groups: frozenset[int], classes: list[int]) -> tuple[IntArray, IntArray, IntArray]:
        """(columns of f, nodes with their pods, counts) of the groups on the classes."""
        lp = self.group_of[sorted(groups)]
        lp = np.unique(lp[lp >= 0])
        columns = self.column_of[np.ix_(lp, np.array(classes, dtype=np.int64))].ravel()
        chosen = np.isin(self.on_group, lp) & np.isin(self.problem.node_class[self.on_node], classes)
        return columns[columns >= 0], self.on_node[chosen], self.on_count[chosen]

    def _cap_rows(self, rule: CapPerDomain, builder: RowBuilder) -> None:
        problem = self.problem
        if problem.is_host_key(rule.key):
            for c, nodes in enumerate(problem.class_nodes):
                columns, at, count = self._members(rule.members, [c])
                room = np.maximum(rule.limit - np.bincount(at, weights=count, minlength=problem.num_nodes)[nodes], 0)
                values = np.concatenate([-room, np.ones(len(columns))])
                builder.add(np.concatenate([nodes, columns]), values, -INF, 0.0)
            return
        everywhere = frozenset(range(problem.num_classes))
        for classes in eligible_domains(problem, rule.key, everywhere).values():
            columns, at, count = self._members(rule.members, list(classes))
            values = np.concatenate([count, np.ones(len(columns))])
            builder.add(np.concatenate([at, columns]), values, -INF, float(max(rule.limit, count.sum())))

    def _spread_rows(self, rule: Spread, builder: RowBuilder) -> None:
        """Domain − other domain ≤ max(maxSkew, what it is today)."""
        if self.problem.is_host_key(rule.key):
            return
        zones = eligible_domains(self.problem, rule.key, rule.eligible)
        parts = {z: self._members(rule.counted, list(classes)) for z, classes in zones.items()}
        for z, (columns, at, count) in parts.items():
            for other, (columns_o, at_o, count_o) in parts.items():
                if z == other or not len(columns):
                    continue
                values = np.concatenate([count, np.ones(len(columns)), -count_o, -np.ones(len(columns_o))])
                slack = float(max(rule.max_skew, count.sum() - count_o.sum()))
                builder.add(np.concatenate([at, columns, at_o, columns_o]), values, -INF, slack)


def _demand(problem: Problem, group_of: IntArray, count: int) -> IntArray:
    real = group_of >= 0
    return np.bincount(group_of[real], weights=problem.demand[real], minlength=count).astype(np.int64)
