"""Rows that are added only where the relaxation breaks them: caps per host and domain, spread caps, fit rows."""

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Spread
from ksolver_cli.solve.bound.cliques import host_cliques
from ksolver_cli.solve.bound.relaxation import INF, Relaxation, eligible_domains
from ksolver_cli.solve.bound.sparse import RowBuilder, Rows
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray, Problem

WHOLE_PODS = 2500
"""Nodes above which spread is held to whole pods: in smaller clusters repair makes up for fractions, and the rows only
make plans dearer (by 2 % on one of eight instances of 1,000 nodes).
"""
LARGEST_FIT = 6
"""Fit rows look at pods of which at most this many go on a node; beyond that rounding gains next to nothing."""


def fit_rows(relaxation: Relaxation) -> Rows:
    """Rows that know how many large pods share a node, to be filtered by violation."""
    builder = RowBuilder.empty()
    _fit_rows(relaxation, builder)
    return builder.build()


def rule_rows(relaxation: Relaxation) -> Rows:
    """Every row that a rule gives, to be filtered by violation; a coarse relaxation gives the same ones in order."""
    builder = RowBuilder.empty()
    for rule in relaxation.problem.rules:
        if isinstance(rule, CapPerDomain):
            _cap_rows(relaxation, rule.key, rule.members, rule.limit, builder)
    for key, members in host_cliques(relaxation.problem):
        _cap_rows(relaxation, key, members, 1, builder)
    for spread in merged_spreads(relaxation.problem):
        _spread_rows(relaxation, spread, builder)
    return builder.build()


def strict_spread_rows(relaxation: Relaxation) -> Rows:
    """Pairwise skew rows for placements: domain − other domain ≤ maxSkew. Stricter than what is reachable, no bound.

    Pods that may not move are let through. With them goes what their sum says of whole pods: four pods over three
    domains at maxSkew 1 leave none empty, which fractions of pods would.
    """
    builder = RowBuilder.empty()
    problem = relaxation.problem
    for rule in problem.rules:
        if not isinstance(rule, Spread) or problem.is_host_key(rule.key):
            continue
        zones = eligible_domains(problem, rule.key, rule.eligible)
        groups = _lp_groups(relaxation, rule.counted)
        columns = {z: _columns(relaxation, groups, list(classes)) for z, classes in zones.items()}
        skew = {z: max(float(rule.max_skew), float(relaxation.lower[mine].sum())) for z, mine in columns.items()}
        for z, other in permutations(zones, 2):
            if not len(columns[z]):
                continue
            both = np.concatenate([columns[z], columns[other]])
            signs = np.concatenate([np.ones(len(columns[z])), -np.ones(len(columns[other]))])
            builder.add(both, signs, -INF, skew[z])
        everywhere = int((relaxation.column_of[groups] >= 0).sum())
        large = problem.num_nodes > WHOLE_PODS
        if large and len(zones) > 1 and sum(len(mine) for mine in columns.values()) == everywhere:
            _whole_spread_rows(columns, skew, int(relaxation.demand[groups].sum()), builder)
    return builder.build()


def _whole_spread_rows(columns: dict[int, IntArray], skew: dict[int, float], total: int, builder: RowBuilder) -> None:
    """Least and most of a domain's pods, the pairwise rows summed over the other domains and rounded to whole pods."""
    size, slack = len(columns), sum(skew.values())
    for z, mine in columns.items():
        if not len(mine):
            continue
        most = (total + (size - 1) * int(skew[z])) // size
        least = -((int(slack - skew[z]) - total) // size)
        builder.add(mine, np.ones(len(mine)), -INF, float(most))
        if least > 0:
            builder.add(mine, -np.ones(len(mine)), -INF, -float(least))


def violated(rows: Rows, x: FloatArray, tolerance: float = 1e-6) -> BoolArray:
    """[row] which rows the point breaks."""
    over = rows.activity(x) - rows.upper
    return np.asarray(over > tolerance * np.maximum(1.0, np.abs(rows.upper)))


def _lp_groups(relaxation: Relaxation, groups: frozenset[int]) -> IntArray:
    lp = relaxation.group_of[sorted(groups)]
    return np.unique(lp[lp >= 0])


def _columns(relaxation: Relaxation, lp_groups: IntArray, classes: list[int]) -> IntArray:
    columns = relaxation.column_of[np.ix_(lp_groups, np.array(classes, dtype=np.int64))].ravel()
    return np.asarray(columns[columns >= 0])


def _cap_rows(relaxation: Relaxation, key: str, members_of: frozenset[int], limit: int, builder: RowBuilder) -> None:
    """One row a class where domains are hosts (limit · y_c), one a domain elsewhere; what is doubled today may stay."""
    problem = relaxation.problem
    domains = problem.domains_of(key)
    groups = _lp_groups(relaxation, members_of)
    pods = problem.pods_in(members_of)
    nodes = problem.pod_node[pods]
    nodes = nodes[(nodes >= 0) & ~problem.resident[problem.pod_group[pods]]]
    if problem.is_host_key(key):
        over = np.maximum(np.bincount(nodes, minlength=problem.num_nodes) - limit, 0)
        over_in = np.bincount(problem.node_class, weights=over, minlength=problem.num_classes)
        unlabelled = np.bincount(problem.node_class[domains < 0], minlength=problem.num_classes)
        table = relaxation.column_of[groups]
        for c in np.flatnonzero((table >= 0).any(axis=0) & (unlabelled == 0)).tolist():
            columns = table[:, c][table[:, c] >= 0]
            values = np.concatenate([[-float(limit)], np.ones(len(columns))])
            builder.add(np.concatenate([[c], columns]), values, -INF, float(over_in[c]))
        return
    here = np.bincount(domains[nodes][domains[nodes] >= 0], minlength=int(domains.max()) + 1)
    for domain, classes in eligible_domains(problem, key, frozenset(range(problem.num_classes))).items():
        columns = _columns(relaxation, groups, list(classes))
        if len(columns):
            builder.add(columns, np.ones(len(columns)), -INF, float(max(limit, here[domain])))


def merged_spreads(problem: Problem) -> Iterator[Spread]:
    """Spread rules that bind every pod they count, rules of one selector taken together at their largest skew.

    A selector that also counts pods which are free to go anywhere bounds nothing, so such rules give no row.
    """
    found: dict[tuple[str, frozenset[int], frozenset[int]], list[Spread]] = {}
    for rule in problem.rules:
        if isinstance(rule, Spread):
            found.setdefault((rule.key, rule.counted, rule.eligible), []).append(rule)
    for rules in found.values():
        movers = frozenset().union(*(r.movers for r in rules))
        first = rules[0]
        selfish = all(r.self_match for r in rules)
        if movers >= first.counted and selfish and not problem.resident[sorted(first.counted)].any():
            yield Spread(
                first.source, first.key, movers, first.counted, max(r.max_skew for r in rules), None, first.eligible
            )


def _spread_rows(relaxation: Relaxation, rule: Spread, builder: RowBuilder) -> None:
    """At most max(now, cap) pods in a domain, the cap rising linearly as other domains vanish."""
    problem = relaxation.problem
    zones = eligible_domains(problem, rule.key, rule.eligible)
    if len(zones) < 2 or problem.is_host_key(rule.key):
        return
    groups = _lp_groups(relaxation, rule.counted)
    pods = problem.pods_in(rule.counted)
    nodes = problem.pod_node[pods]
    here = np.zeros(max(zones) + 1, dtype=np.int64)
    classes_in = np.zeros(problem.num_classes, dtype=bool)
    classes_in[list(rule.eligible)] = True
    inside = nodes[nodes >= 0]
    inside = inside[classes_in[problem.node_class[inside]]]
    np.add.at(here, problem.domains_of(rule.key)[inside], 1)
    total = len(pods) + int(problem.left_out[sorted(rule.counted)].sum())
    counted = sorted(rule.counted)
    closed = [z for z, classes in zones.items() if not problem.feasible[np.ix_(counted, list(classes))].any()]
    for zone, classes in zones.items():
        columns = _columns(relaxation, groups, list(classes))
        if len(columns) == 0:
            continue
        others = [z for z in zones if z != zone]
        cap = _cap(rule, total, len(zones), [int(here[z]) for z in closed if z != zone])
        base = max(cap, int(here[zone]))
        loose = [relaxation.gone.index(zones[z]) for z in others if zones[z] in relaxation.gone]
        slope = np.ceil((total - base) / (1 if closed else len(others)))
        if loose and slope > 0:
            columns = np.concatenate([columns, relaxation.first_gone + np.array(loose)])
        values = np.where(columns >= relaxation.first_gone, -slope, 1.0)
        builder.add(columns, values, -INF, float(base))


def _cap(rule: Spread, total: int, zones: int, closed_now: list[int]) -> int:
    """⌊(r + (Z−1)·maxSkew) / Z⌋: the fullest a domain can have been when its last pod came, no domain being emptier
    than count − maxSkew; a domain that nobody may enter holds at most what it holds today.
    """
    cap = (total + (zones - 1) * rule.max_skew) // zones
    return min([cap, *(now + rule.max_skew for now in closed_now)])


def _fit_rows(relaxation: Relaxation, builder: RowBuilder) -> None:
    """Σ ⌊(m+1)·request ÷ capacity⌋ · x ≤ m · y for each class, resource and m (a dual feasible function of bin
    packing): of pods larger than 1/(m+1) of a node at most m share one.
    """
    problem = relaxation.problem
    for c in range(problem.num_classes):
        present = np.flatnonzero(relaxation.column_of[:, c] >= 0)
        seen: set[bytes] = set()
        for k in range(len(problem.resources)):
            capacity = int(problem.class_capacity[c, k])
            if capacity <= 0:
                continue
            for m in range(1, LARGEST_FIT + 1):
                _fit_row(relaxation, builder, (c, k, m), present, seen)


def _fit_row(
    relaxation: Relaxation, builder: RowBuilder, at: tuple[int, int, int], present: IntArray, seen: set[bytes]
) -> None:
    c, k, m = at
    problem = relaxation.problem
    capacity = int(problem.class_capacity[c, k])
    weight = _fit_weight(relaxation.request[present, k], capacity, m)
    heavy = weight > 0
    mark = bytes([m]) + weight.tobytes()
    if not heavy.any() or mark in seen:
        return
    seen.add(mark)
    on_class = (problem.pod_node >= 0) & (problem.node_class[np.maximum(problem.pod_node, 0)] == c)
    pods = np.flatnonzero(on_class & ~problem.resident[problem.pod_group])
    floor = _fit_weight(problem.request_floor[problem.pod_group[pods], k], capacity, m)
    per_node = np.bincount(problem.pod_node[pods], weights=floor, minlength=problem.num_nodes)
    over = float(np.maximum(per_node[problem.class_nodes[c]] - m, 0).sum())
    columns = np.concatenate([[c], relaxation.column_of[present[heavy], c]])
    builder.add(columns, np.concatenate([[-float(m)], weight[heavy]]), -INF, over)


def _fit_weight(request: FloatArray | IntArray, capacity: int, m: int) -> IntArray:
    return np.asarray(
        (m + 1) * request // capacity - ((m + 1) * request % capacity == 0) * (request > 0), dtype=np.int64
    )
