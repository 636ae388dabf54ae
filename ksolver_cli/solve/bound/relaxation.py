"""The class relaxation: nodes kept per class, pods per group and class, and rows that no reachable state breaks."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Spread
from ksolver_cli.solve.bound.cliques import host_cliques
from ksolver_cli.solve.bound.sparse import RowBuilder, Rows
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray, Problem, rule_groups

INF = float("inf")
STEPS = 4.0


@dataclass(frozen=True, eq=False)
class Relaxation:
    """Variables, in order: y_c nodes kept of class c; x_j pods of LP group `x_group[j]` on class `x_class[j]`; v_i
    "all of these classes are gone".

    LP groups are pod groups that the rows cannot tell apart. Costs are micro-dollars an hour.
    """

    problem: Problem
    group_of: IntArray
    """[g] → LP group, −1 for residents."""
    request: FloatArray
    """[lp group, k], whole numbers unless coarse."""
    demand: IntArray
    x_group: IntArray
    x_class: IntArray
    gone: tuple[tuple[int, ...], ...]
    """The class sets of the v variables."""
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray
    rows: Rows
    """Demand, capacity and vanishing rows: always present, in that order."""
    capacity_row: IntArray
    """[c, k] → row of that capacity, −1 where nobody takes of it."""
    column_of: IntArray
    """[lp group, c] → column of x, −1 where there is none."""

    @property
    def num_classes(self) -> int:
        """Number of y columns."""
        return self.problem.num_classes

    @property
    def num_columns(self) -> int:
        """Number of all columns."""
        return len(self.cost)

    @property
    def first_gone(self) -> int:
        """Column of the first v."""
        return self.num_classes + len(self.x_group)

    def seats(self, pods: BoolArray) -> FloatArray:
        """[lp group, c] of these bound pods, how many are on each class today."""
        problem, table = self.problem, np.zeros(self.column_of.shape)
        chosen = np.flatnonzero(pods & (self.group_of[problem.pod_group] >= 0))
        cell = self.group_of[problem.pod_group[chosen]], problem.node_class[problem.pod_node[chosen]]
        np.add.at(table, cell, 1.0)
        return table

    def x_matrix(self, x: FloatArray) -> FloatArray:
        """[lp group, c] pods, from a full solution vector."""
        table = np.zeros(self.column_of.shape)
        table[self.x_group, self.x_class] = x[self.num_classes : self.first_gone]
        return table


def relax(problem: Problem, *, coarse: bool = False) -> Relaxation:
    """Build the relaxation of a problem; a coarse one takes similar groups together and bounds nothing by itself."""
    group_of, count = merge_groups(problem, coarse=coarse)
    request = _mean_requests(problem, group_of, count)
    gone = _vanishing_sets(problem)
    columns = _columns(problem, group_of, count, len(gone))
    first_gone = problem.num_classes + len(columns.x_group)
    builder = RowBuilder.empty()
    for g in range(count):
        mine = columns.column_of[g][columns.column_of[g] >= 0]
        builder.add(mine, np.ones(len(mine)), float(columns.demand[g]), float(columns.demand[g]))
    capacity_row = _capacity_rows(problem, request, columns.column_of, builder)
    _vanishing_rows(problem, gone, first_gone, builder)
    return Relaxation(
        problem=problem,
        group_of=group_of,
        request=request,
        demand=columns.demand,
        x_group=columns.x_group,
        x_class=columns.x_class,
        gone=gone,
        cost=columns.cost,
        lower=columns.lower,
        upper=columns.upper,
        rows=builder.build(),
        capacity_row=capacity_row,
        column_of=columns.column_of,
    )


@dataclass(frozen=True, eq=False)
class _Columns:
    """The variables of a relaxation and their bounds."""

    demand: IntArray
    x_group: IntArray
    x_class: IntArray
    column_of: IntArray
    cost: FloatArray
    lower: FloatArray
    upper: FloatArray


def _columns(problem: Problem, group_of: IntArray, count: int, num_gone: int) -> _Columns:
    real, size = group_of >= 0, problem.num_classes
    demand = np.bincount(group_of[real], weights=problem.demand[real], minlength=count).astype(np.int64)
    feasible = np.zeros((count, size), dtype=bool)
    feasible[group_of[real]] = problem.feasible[real]
    now = _per_class(problem, group_of, count, problem.pod_node >= 0)
    pinned = _per_class(problem, group_of, count, problem.pod_pinned & (problem.pod_node >= 0))
    x_group, x_class = np.nonzero(feasible | (now > 0))
    kept = np.array([problem.must_keep[n].sum() for n in problem.class_nodes], dtype=float)
    sizes = np.array([len(n) for n in problem.class_nodes], dtype=float)
    x_upper = np.where(feasible[x_group, x_class], demand[x_group], now[x_group, x_class])
    column_of = np.full((count, size), -1, dtype=np.int64)
    column_of[x_group, x_class] = size + np.arange(len(x_group))
    return _Columns(
        demand=demand,
        x_group=x_group,
        x_class=x_class,
        column_of=column_of,
        cost=np.concatenate([problem.class_price, np.zeros(len(x_group) + num_gone)]).astype(float),
        lower=np.concatenate([kept, pinned[x_group, x_class], np.zeros(num_gone)]).astype(float),
        upper=np.concatenate([sizes, x_upper, np.ones(num_gone)]).astype(float),
    )


def _per_class(problem: Problem, group_of: IntArray, count: int, mask: object) -> IntArray:
    table = np.zeros((count, problem.num_classes), dtype=np.int64)
    chosen = np.asarray(mask, dtype=bool) & (group_of[problem.pod_group] >= 0)
    np.add.at(table, (group_of[problem.pod_group[chosen]], problem.node_class[problem.pod_node[chosen]]), 1)
    return table


def _mean_requests(problem: Problem, group_of: IntArray, count: int) -> FloatArray:
    """[lp group, k] mean request of a pod; exact where all are equal."""
    real = np.flatnonzero(group_of >= 0)
    total = np.zeros((count, len(problem.resources)))
    np.add.at(total, group_of[real], problem.request_floor[real].astype(float) * problem.demand[real][:, None])
    pods = np.bincount(group_of[real], weights=problem.demand[real], minlength=count)
    mean = total / np.maximum(pods, 1.0)[:, None]
    first = np.full(count, -1, dtype=np.int64)
    first[group_of[real][::-1]] = real[::-1]
    sample = problem.request_floor[first]
    differs = np.zeros(count, dtype=bool)
    np.logical_or.at(differs, group_of[real], (problem.request_floor[real] != sample[group_of[real]]).any(axis=1))
    return np.where(differs[:, None], mean, sample.astype(float))


def _size_bins(problem: Problem) -> IntArray:
    """[g, k] requests on a logarithmic scale, a quarter of an octave a step."""
    return np.asarray(np.round(np.log2(problem.request_floor + 1.0) * STEPS), dtype=np.int64)


def merge_groups(problem: Problem, *, coarse: bool = False) -> tuple[IntArray, int]:
    """Groups with equal request, feasibility and counting rules are one: the rows cannot tell them apart.

    Coarsely, groups without such rules are one already when their requests are of about the same size.
    """
    bins = _size_bins(problem)
    signature: list[list[int]] = [[] for _ in range(problem.num_groups)]
    for index, rule in enumerate(problem.rules):
        if isinstance(rule, CapPerDomain | Spread):
            for g in rule_groups(rule):
                signature[g].append(index)
    for index, (_, members) in enumerate(host_cliques(problem)):
        for g in members:
            signature[g].append(len(problem.rules) + index)
    known: dict[tuple[bytes, bytes, tuple[int, ...]], int] = {}
    group_of = np.full(problem.num_groups, -1, dtype=np.int64)
    for g in range(problem.num_groups):
        if problem.resident[g] or problem.demand[g] == 0:
            continue
        size = bins[g] if coarse and not signature[g] else problem.request_floor[g]
        key = (size.tobytes(), problem.feasible[g].tobytes(), tuple(signature[g]))
        group_of[g] = known.setdefault(key, len(known))
    return group_of, len(known)


def _vanishing_sets(problem: Problem) -> tuple[tuple[int, ...], ...]:
    """Class sets of spread domains that may lose every node: all eligible classes of one domain of one rule."""
    found: set[tuple[int, ...]] = set()
    for key, eligible in sorted({(r.key, r.eligible) for r in problem.rules if isinstance(r, Spread)}, key=repr):
        for classes in eligible_domains(problem, key, eligible).values():
            if may_vanish(problem, classes):
                found.add(classes)
    return tuple(sorted(found))


def eligible_domains(problem: Problem, key: str, eligible: frozenset[int]) -> dict[int, tuple[int, ...]]:
    """Domain → classes with eligible nodes in it, where classes do not straddle domains; else empty."""
    classes = np.array(sorted(eligible), dtype=np.int64)
    domains = problem.class_domain[problem.key_index[key], classes]
    if (domains == -2).any():
        return {}
    found: dict[int, list[int]] = {}
    for c, domain in zip(classes.tolist(), domains.tolist(), strict=True):
        if domain >= 0:
            found.setdefault(domain, []).append(c)
    return {domain: tuple(members) for domain, members in found.items()}


def may_vanish(problem: Problem, classes: tuple[int, ...]) -> bool:
    """Whether all nodes of these classes could go: none must stay, and no group lives there alone."""
    chosen = np.zeros(problem.num_classes, dtype=bool)
    chosen[list(classes)] = True
    if problem.must_keep[chosen[problem.node_class]].any():
        return False
    needing = (problem.demand > 0) & ~problem.feasible[:, ~chosen].any(axis=1)
    stuck = (problem.now_class[:, ~chosen].sum(axis=1) < problem.demand) & needing
    return not stuck.any()


def _capacity_rows(problem: Problem, request: FloatArray, column_of: IntArray, builder: RowBuilder) -> IntArray:
    row = np.full((problem.num_classes, len(problem.resources)), -1, dtype=np.int64)
    index = len(request)
    for c, nodes in enumerate(problem.class_nodes):
        present = np.flatnonzero(column_of[:, c] >= 0)
        capacity = problem.class_capacity[c]
        over = np.maximum(problem.load_now[nodes] - capacity, 0).sum(axis=0)
        for k in range(len(problem.resources)):
            taking = present[request[present, k] > 0]
            if not len(taking):
                continue
            columns = np.concatenate([[c], column_of[taking, c]])
            values = np.concatenate([[-float(capacity[k])], request[taking, k]])
            builder.add(columns, values, -INF, float(over[k]))
            row[c, k] = index
            index += 1
    return row


def _vanishing_rows(problem: Problem, gone: tuple[tuple[int, ...], ...], first: int, builder: RowBuilder) -> None:
    for index, classes in enumerate(gone):
        for c in classes:
            size = float(len(problem.class_nodes[c]))
            builder.add(np.array([c, first + index]), np.array([1.0, size]), -INF, size)
