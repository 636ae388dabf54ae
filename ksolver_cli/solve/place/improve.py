"""Local search over kept nodes: take one away, or swap it for one that is cheaper or saves moves; bring pods home."""

import numpy as np

from ksolver_cli.solve.place.construct import best_node
from ksolver_cli.solve.place.realise import Incumbent, incumbent_of, restore
from ksolver_cli.solve.place.repair import Effort, repair
from ksolver_cli.solve.place.state import AWAY, State
from ksolver_cli.solve.problem import IntArray, Problem
from ksolver_cli.solve.solution import Run

SHORT = Effort(steps=120, idle=12)
BRIEF = Effort(steps=40, idle=6)
"""For more than `FEW_NODES`: most attempts that succeed do so within a few steps."""
FEW_NODES = 250


def improve(problem: Problem, best: Incumbent, floor: int, run: Run, attempts: int, idle: int) -> Incumbent:
    """Drop or exchange one node at a time, dearest saving first, while that works; stops at the floor, and after `idle`
    attempts in a row without success.
    """
    rng = np.random.default_rng(run.limits.seed)
    state = restore(problem, best)
    tried: set[tuple[int, int]] = set()
    while attempts > 0 and problem.cost(state.kept) > floor and not run.stopped():
        options = [c for c in _changes(problem, state, floor) if c not in tried]
        if not options:
            break
        for leave, come in options[:idle]:
            attempts -= 1
            tried.add((leave, come))
            if _attempt(state, leave, come, rng):
                tried = {t for t in tried if t[0] != leave}
                break
            if attempts <= 0 or run.stopped():
                break
        else:
            break
    return min(best, incumbent_of(state), key=lambda i: i.rank)


def _changes(problem: Problem, state: State, floor: int) -> list[tuple[int, int]]:
    """(node to drop, node to add or −1), largest saving first, that the floor does not rule out."""
    kept = np.flatnonzero(state.kept & ~problem.must_keep & problem.priced)
    spare = _one_per_class(problem, np.flatnonzero(~state.kept))
    slack = problem.cost(state.kept) - floor
    fill = (state.load / np.maximum(problem.capacity, 1)).max(axis=1)
    found = []
    for leave in _lightest_per_class(problem, kept, fill).tolist():
        for come in [-1, *spare.tolist()]:
            saving = int(problem.price[leave]) - (int(problem.price[come]) if come >= 0 else 0)
            if 0 < saving <= slack and _room(problem, state, leave, come):
                found.append((-saving, float(fill[leave]), leave, come))
    return [(leave, come) for _, _, leave, come in sorted(found)]


def _one_per_class(problem: Problem, nodes: IntArray) -> IntArray:
    _, first = np.unique(problem.node_class[nodes], return_index=True)
    return np.asarray(nodes[first])


def _lightest_per_class(
    problem: Problem, nodes: IntArray, fill: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> IntArray:
    order = nodes[np.argsort(fill[nodes], kind="stable")]
    rank: dict[int, int] = {}
    chosen = []
    for n in order.tolist():
        c = int(problem.node_class[n])
        rank[c] = rank.get(c, 0) + 1
        if rank[c] <= 3:
            chosen.append(n)
    return np.array(chosen, dtype=np.int64)


def _room(problem: Problem, state: State, leave: int, come: int) -> bool:
    """Whether what the node holds could fit elsewhere by totals alone."""
    free = (np.maximum(state.limit - state.load, 0) * state.kept[:, None]).sum(axis=0)
    free -= np.maximum(state.limit[leave] - state.load[leave], 0)
    if come >= 0:
        free = free + problem.capacity[come]
    return bool((state.load[leave] <= free).all())


def _attempt(state: State, leave: int, come: int, rng: np.random.Generator) -> bool:
    """Make the change and repair; on failure leave everything as it was."""
    problem = state.problem
    mark = state.mark()
    if any(problem.pod_pinned[p] for p in state.pods_on[leave]):
        return False
    pods = sorted(state.pods_on[leave])
    for pod in pods:
        state.take(pod)
    state.keep(leave, False)
    if come >= 0:
        state.keep_again(come)
    effort = SHORT if problem.num_nodes <= FEW_NODES else BRIEF
    if _place(state, pods) and repair(state, rng, effort):
        state.forget()
        return True
    state.keep(leave, True)
    state.rollback(mark)
    if come >= 0:
        state.keep(come, False)
    return False


def _place(state: State, pods: list[int]) -> bool:
    """Seat the pods, largest first, overload allowed; False as soon as no rule admits one."""
    problem = state.problem
    kept = np.flatnonzero(state.kept)
    share = (problem.request * state.scale).max(axis=1)
    for pod in sorted(pods, key=lambda p: (-float(share[problem.pod_group[p]]), p)):
        if problem.resident[problem.pod_group[pod]]:
            continue
        node = best_node(state, pod, kept)
        if node == AWAY:
            return False
        state.put(pod, node)
    return state.rules_hold(tuple(pods))


def fewer_moves(problem: Problem, best: Incumbent, run: Run, attempts: int) -> Incumbent:
    """Exchange kept nodes for removed ones of the same price that hold more of today's pods, while that saves moves."""
    weight = np.zeros(problem.num_nodes, dtype=np.int64)
    bound = problem.pod_node >= 0
    np.add.at(weight, problem.pod_node[bound], problem.pod_weight[bound])
    rng = np.random.default_rng(run.limits.seed)
    for leave, come in _exchanges(problem, best, weight)[:attempts]:
        if run.stopped():
            break
        if not best.kept[leave] or best.kept[come]:
            continue
        state = restore(problem, best)
        if _attempt(state, leave, come, rng):
            while _home_round(state):
                continue
            found = incumbent_of(state)
            best = found if found.rank < best.rank and state.is_complete() else best
    return best


def _exchanges(problem: Problem, best: Incumbent, weight: IntArray) -> list[tuple[int, int]]:
    """(kept, removed) pairs of one price, most gained first."""
    free = np.flatnonzero(best.kept & ~problem.must_keep & problem.priced)
    pairs = [
        (int(weight[leave] - weight[come]), leave, come)
        for come in np.flatnonzero(~best.kept).tolist()
        for leave in free[problem.price[free] == problem.price[come]].tolist()
        if weight[come] > weight[leave]
    ]
    return [(leave, come) for _, leave, come in sorted(pairs)]


def go_home(problem: Problem, best: Incumbent, rounds: int = 3) -> Incumbent:
    """Move pods back to where they are today wherever room and rules allow, heaviest move first."""
    state = restore(problem, best)
    for _ in range(rounds):
        if not _home_round(state):
            break
    found = incumbent_of(state)
    return found if state.is_complete() and found.rank < best.rank else best


def _home_round(state: State) -> bool:
    problem = state.problem
    away = np.flatnonzero(state.moved())
    away = away[state.kept[problem.pod_node[away]]]
    away = away[np.lexsort((away, -problem.pod_weight[away]))]
    returned = [
        _try_home(state, pod) for pod in away.tolist() if int(problem.pod_group[pod]) not in state.bound_together
    ]
    state.forget()
    return any(returned)


def _try_home(state: State, pod: int) -> bool:
    problem = state.problem
    home = int(problem.pod_node[pod])
    request = problem.request[problem.pod_group[pod]]
    if (state.load[home] + request > state.limit[home]).any():
        return False
    mark = state.mark()
    state.take(pod)
    if state.admits(pod, np.array([home])).all():
        state.put(pod, home)
        if state.rules_hold((pod,)):
            return True
    state.rollback(mark)
    return False
