"""What other tools do, on the same problem and held to the same rules."""

from collections.abc import Callable
from time import process_time

import numpy as np

from ksolver_cli.domain.plan import Limits
from ksolver_cli.solve.exact.assign import assign
from ksolver_cli.solve.exact.model import solve_exactly
from ksolver_cli.solve.place.construct import best_node
from ksolver_cli.solve.place.realise import Incumbent, baseline, incumbent_of, restore
from ksolver_cli.solve.place.state import AWAY, State
from ksolver_cli.solve.problem import IntArray, Problem
from ksolver_cli.solve.solution import Run

Chooser = Callable[[State, int, IntArray], int]
PREFIX = 100
"""Most candidates that a multi-node pass looks at."""


def best_fit(state: State, pod: int, nodes: IntArray) -> int:
    """The admitting node with the least room left in its scarcest resource."""
    request = state.problem.request[state.problem.pod_group[pod]]
    left = state.limit[nodes] - state.load[nodes] - request
    good = state.admits(pod, nodes) & (left >= 0).all(axis=1)
    if not good.any():
        return AWAY
    share = (left[good] / np.maximum(state.limit[nodes[good]], 1)).min(axis=1)
    return int(nodes[good][int(np.argmin(share))])


def dot_product(state: State, pod: int, nodes: IntArray) -> int:
    """The product's own choice, without overload."""
    node = best_node(state, pod, nodes)
    request = state.problem.request[state.problem.pod_group[pod]]
    return node if node != AWAY and (state.load[node] + request <= state.limit[node]).all() else AWAY


def one_way_drain(problem: Problem, choose: Chooser) -> Incumbent:
    """Empty one node after the other, least used first, wherever all its pods find a place; never look back."""
    state = restore(problem, baseline(problem))
    fill = (problem.load_now / np.maximum(problem.capacity, 1)).max(axis=1)
    for node in np.argsort(fill, kind="stable").tolist():
        if not problem.must_keep[node]:
            _empty(state, [node], choose)
    return incumbent_of(state)


def _empty(state: State, nodes: list[int], choose: Chooser, spare: int = AWAY) -> bool:
    """Move every pod off the nodes (onto `spare` too, if given); all or nothing."""
    mark, problem = state.mark(), state.problem
    pods = [p for n in nodes for p in sorted(state.pods_on[n])]
    if any(problem.pod_pinned[p] or int(problem.pod_group[p]) in state.bound_together for p in pods):
        return False
    for pod in pods:
        state.take(pod)
    for node in nodes:
        state.keep(node, node == spare)
    rest = np.flatnonzero(state.kept)
    share = (problem.request * state.scale).max(axis=1)
    for pod in sorted(pods, key=lambda p: (-float(share[problem.pod_group[p]]), p)):
        if problem.resident[problem.pod_group[pod]]:
            continue
        target = choose(state, pod, rest)
        if target == AWAY or not _put(state, pod, target):
            for node in nodes:
                state.keep(node, True)
            state.rollback(mark)
            return False
    state.forget()
    return True


def _put(state: State, pod: int, node: int) -> bool:
    state.put(pod, node)
    return state.rules_hold((pod,))


def karpenter_like(problem: Problem, seconds: float) -> Incumbent:
    """Passes of multi-node consolidation, then of single nodes, until neither finds anything.

    Candidates by price ÷ disruption; the longest prefix (≤ 100, by binary search) whose pods fit on the rest, with at
    most one of its nodes kept as the replacement. No pass begins after so many CPU seconds.
    """
    state = restore(problem, baseline(problem))
    until = process_time() + seconds
    while process_time() < until and (_multi_pass(state) or _single_pass(state)):
        pass
    return incumbent_of(state)


def _candidates(state: State) -> list[int]:
    problem = state.problem
    free = np.flatnonzero(state.kept & ~problem.must_keep).tolist()
    cost = {n: 1 + sum(int(problem.pod_weight[p]) for p in state.pods_on[n]) for n in free}
    return sorted(free, key=lambda n: (-int(problem.price[n]) / cost[n], n))


def _multi_pass(state: State) -> bool:
    candidates = _candidates(state)[:PREFIX]
    low, high, found = 2, len(candidates), False
    while low <= high:
        middle = (low + high) // 2
        if _consolidate(state, candidates[:middle]):
            return True
        high = middle - 1
    return found


def _consolidate(state: State, nodes: list[int]) -> bool:
    if _empty(state, nodes, best_fit):
        return True
    cheapest = min(nodes, key=lambda n: (int(state.problem.price[n]), n))
    return len(nodes) > 1 and _empty(state, nodes, best_fit, spare=cheapest)


def _single_pass(state: State) -> bool:
    return any(_empty(state, [node], best_fit) for node in _candidates(state))


def plain_cpsat(problem: Problem, seconds: float) -> Incumbent:
    """The whole problem given to CP-SAT, with neither bound nor hint; today's placement where it finds nothing."""
    run = Run(Limits(seconds=seconds / 0.3))
    result = solve_exactly(problem, 0, problem.cost_now + 1, np.full(problem.num_pods, -1), run)
    if result.count is None or result.kept is None:
        return baseline(problem)
    return assign(problem, result.count, result.kept)
