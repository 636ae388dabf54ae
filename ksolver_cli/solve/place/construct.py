"""Build a placement for given kept nodes and targets: who stays, then everyone else by a dot product over all
resources.
"""

import numpy as np

from ksolver_cli.domain.rules import Require
from ksolver_cli.solve.place.state import AWAY, State
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray, Problem

SEATS = 8
"""Nodes tried for a pod whose arrival breaks a rule for those that came before it."""


def staying(problem: Problem, kept: BoolArray, quota: IntArray, group_of: IntArray) -> BoolArray:
    """[p] pods that stay: pinned and resident ones, and others while their class's quota lasts, lightest nodes last
    to give.
    """
    stay = problem.pod_pinned | problem.resident[problem.pod_group]
    bound = problem.pod_node >= 0
    left = quota.copy()
    pinned = np.flatnonzero(problem.pod_pinned & bound & (group_of[problem.pod_group] >= 0))
    np.subtract.at(left, (group_of[problem.pod_group[pinned]], problem.node_class[problem.pod_node[pinned]]), 1)
    free = np.flatnonzero(bound & ~stay)
    free = free[kept[problem.pod_node[free]]]
    fill = (problem.load_now / np.maximum(problem.capacity, 1)).max(axis=1)
    order = free[np.lexsort((free, fill[problem.pod_node[free]], -problem.pod_weight[free]))]
    cell = group_of[problem.pod_group[order]] * left.shape[1] + problem.node_class[problem.pod_node[order]]
    stay[order[_rank(cell) < left.ravel()[cell]]] = True
    return np.asarray(stay)


def _rank(cell: IntArray) -> IntArray:
    """[i] how many earlier entries have the same value."""
    order = np.argsort(cell, kind="stable")
    ordered = cell[order]
    first = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if len(cell) else np.zeros(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(cell)), 0))
    rank = np.empty(len(cell), dtype=np.int64)
    rank[order] = np.arange(len(cell)) - start
    return rank


def construct(problem: Problem, kept: BoolArray, quota: IntArray, group_of: IntArray) -> State:
    """A state with every pod placed if rules allow, overload permitted; quotas are wishes, rules are not."""
    state = State(problem, kept, staying(problem, kept, quota, group_of))
    pods = state.homeless()
    left = quota - _placed(state, quota.shape, group_of)
    wishes = assign_classes(problem, pods, left, group_of)
    place_all(state, pods, wishes)
    return state


def _placed(state: State, shape: tuple[int, ...], group_of: IntArray) -> IntArray:
    table = np.zeros(shape, dtype=np.int64)
    problem = state.problem
    placed = (state.node != AWAY) & (group_of[problem.pod_group] >= 0)
    np.add.at(table, (group_of[problem.pod_group[placed]], problem.node_class[state.node[placed]]), 1)
    return table


def assign_classes(problem: Problem, pods: IntArray, left: IntArray, group_of: IntArray) -> IntArray:
    """[i] the class that pod `pods[i]` should go to by quota, −1 where none is left."""
    wishes = np.full(len(pods), -1, dtype=np.int64)
    group = group_of[problem.pod_group[pods]]
    rank = _rank(group)
    ends = np.cumsum(np.maximum(left, 0), axis=1)
    for i, (g, r) in enumerate(zip(group.tolist(), rank.tolist(), strict=True)):
        if r < ends[g, -1]:
            wishes[i] = int(np.searchsorted(ends[g], r, side="right"))
    return wishes


def placing_order(state: State, pods: IntArray) -> IntArray:
    """Positions in `pods`: gangs, anchors before dependents, ruled pods, then by dominant share, largest first."""
    problem = state.problem
    share = (problem.request / np.maximum(problem.capacity.max(axis=0), 1)).max(axis=1)
    rank = np.full(problem.num_groups, 3, dtype=np.int64)
    for rule in problem.rules:
        if isinstance(rule, Require):
            rank[sorted(rule.dependents)] = 2
            anchors = np.array(sorted(rule.anchors - rule.dependents), dtype=np.int64)
            rank[anchors] = np.minimum(rank[anchors], 1)
    for g in state.trackers_of:
        rank[g] = min(rank[g], 2)
    rank[sorted(state.bound_together)] = 0
    groups = problem.pod_group[pods]
    return np.lexsort((pods, groups, -share[groups], rank[groups]))


def place_all(state: State, pods: IntArray, wishes: IntArray) -> None:
    """Place pods one by one on their wished class, as long as rules admit some; then the rest on any kept node.

    A spread admits the second pod of a domain only after the first of another, hence the repeats.
    """
    by_class = [nodes[state.kept[nodes]] for nodes in state.problem.class_nodes]
    kept_nodes = np.flatnonzero(state.kept)
    waiting = placing_order(state, pods).tolist()
    before = -1
    while waiting and len(waiting) != before:
        before = len(waiting)
        waiting = [i for i in waiting if not _try(state, int(pods[i]), by_class[wishes[i]] if wishes[i] >= 0 else None)]
    while waiting and _place_any(state, pods, waiting, kept_nodes):
        waiting = [i for i in waiting if state.node[pods[i]] == AWAY]


def _try(state: State, pod: int, nodes: IntArray | None) -> bool:
    node = AWAY if nodes is None else best_node(state, pod, nodes)
    if node != AWAY:
        state.put(pod, node)
    return node != AWAY


def _place_any(state: State, pods: IntArray, waiting: list[int], nodes: IntArray) -> bool:
    placed = [_try(state, int(pods[i]), nodes) for i in waiting]
    return any(placed)


def best_node(state: State, pod: int, nodes: IntArray) -> int:
    """The admitting node whose free vector points most the way the request does; else the one least overloaded."""
    problem = state.problem
    group = int(problem.pod_group[pod])
    if not len(nodes):
        return AWAY
    request = problem.request[group]
    free = state.limit[nodes] - state.load[nodes] - request
    good = state.admits(pod, nodes)
    fits = good & (free >= 0).all(axis=1)
    if fits.any():
        return _most_alike(state, nodes[fits], free[fits] + request, request)
    if not good.any():
        return AWAY
    over = (np.maximum(-free[good], 0) * state.scale).sum(axis=1)
    return int(nodes[good][int(np.argmin(over))])


def _most_alike(state: State, nodes: IntArray, free: IntArray, request: IntArray) -> int:
    scale = 1.0 / np.maximum(state.limit[nodes], 1)
    score: FloatArray = ((free * scale) * (request * scale)).sum(axis=1)
    return int(nodes[int(np.argmax(score))])


def seat(state: State, pod: int, nodes: IntArray) -> bool:
    """Place the pod where it has room and every rule goes on holding; else leave the state as it was."""
    request = state.problem.request[state.problem.pod_group[pod]]
    for _ in range(SEATS):
        node, mark = best_node(state, pod, nodes), state.mark()
        if node == AWAY or (state.load[node] + request > state.limit[node]).any():
            return False
        state.put(pod, node)
        if state.rules_hold((pod,)):
            return True
        state.rollback(mark)
        nodes = nodes[nodes != node]
    return False
