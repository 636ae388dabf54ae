"""Take overload away by the steepest single move or swap between an overloaded node and a random sample of others."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.domain.rules import Require
from ksolver_cli.solve.place.construct import best_node
from ksolver_cli.solve.place.state import AWAY, State
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray

SAMPLE = 48
"""Nodes looked at for moves in a step; swaps look at a third of them."""
TRIES = 64
"""Candidates tried against the rules in a step, best first."""
EACH = 2
"""Candidates a pod has among them: what a rule forbids one pod here it forbids it nearly everywhere."""
EPSILON = 1e-9
PATIENCE = 12
"""Steps without gain after which pods are swapped at random."""
REST = 12
"""Steps for which a pod is left alone once rules forbade what was tried with it: they will most likely do so again."""
GOOD = 0.3
MANY = 250
"""With more nodes than this, moves that take such a share of a node's overload away are tried before swaps are looked
at: swaps leave less room unused, but cost most of a step.
"""
ANCHORS = 20
"""Anchors tried for a pod that finds none."""


@dataclass(frozen=True)
class Effort:
    """Work limits of one repair: steps in all, and steps in a row without gain."""

    steps: int = 3000
    idle: int = 200


@dataclass(eq=False)
class Rest:
    """Pods that are left alone for a while: [pod] the last step of it, and the step it is now."""

    until: IntArray
    now: int = 0


def repair(state: State, rng: np.random.Generator, effort: Effort) -> bool:
    """Whether the state is complete after at most `effort.steps` steps. Work is counted; equal input, equal output."""
    idle, least = 0, np.inf
    _seat(state)
    rest = Rest(np.full(state.problem.num_pods, -1, dtype=np.int64))
    for number in range(effort.steps):
        rest.now = number
        over = state.overload()
        bad = np.flatnonzero(over > 0)
        if not len(bad):
            break
        total = float(over.sum())
        idle, least = (0, total) if total < least - EPSILON else (idle + 1, least)
        if idle > effort.idle:
            return False
        node = int(bad[int(rng.integers(len(bad)))]) if idle % 2 else int(np.argmax(over))
        if not _step(state, (node, float(over[node])), rng, rest) and idle > PATIENCE and total < 2 * least + EPSILON:
            _kick(state, node, rng)
    _seat(state)
    return state.is_complete()


def _kick(state: State, node: int, rng: np.random.Generator) -> None:
    """Swap away some pod of the node whether that helps or not: what no single step mends, two may."""
    pods = state.movable_on(node)
    targets = _sample(state, node, rng)
    if not pods or not len(targets):
        return
    target = int(targets[int(rng.integers(len(targets)))])
    others = [AWAY, *state.movable_on(target)]
    _apply(state, pods[int(rng.integers(len(pods)))], target, others[int(rng.integers(len(others)))])


def _seat(state: State) -> None:
    """Another try for pods that no rule admitted before: as things are now, or by bringing an anchor near."""
    kept = np.flatnonzero(state.kept)
    for pod in state.homeless().tolist():
        node = best_node(state, pod, kept)
        if node != AWAY:
            state.put(pod, node)
        elif not _stay(state, pod):
            _bring_anchor(state, pod, kept)


def _stay(state: State, pod: int) -> bool:
    """Leave the pod where it is today, which no rule asks about again, if its node and all rules allow."""
    home = int(state.home[pod])
    if home < 0 or not state.kept[home]:
        return False
    mark = state.mark()
    state.put(pod, home)
    if state.rules_hold((pod,)):
        return True
    state.rollback(mark)
    return False


def _bring_anchor(state: State, pod: int, kept: IntArray) -> bool:
    """Move one anchor of a dependent pod into a domain where the pod may be, and the pod to it."""
    problem, group = state.problem, int(state.problem.pod_group[pod])
    fitting = kept[problem.feasible[group][problem.node_class[kept]] & state.open[kept]]
    for index in state.trackers_of.get(group, ()):
        rule = problem.rules[index]
        if not isinstance(rule, Require) or group not in rule.dependents:
            continue
        domains = problem.domains_of(rule.key)
        near = np.isin(domains[kept], np.unique(domains[fitting])) & (domains[kept] >= 0)
        for anchor in problem.pods_in(rule.anchors - rule.dependents).tolist()[:ANCHORS]:
            if _try_pair(state, pod, anchor, (kept[near], fitting)):
                return True
    return False


def _try_pair(state: State, pod: int, anchor: int, nodes: tuple[IntArray, IntArray]) -> bool:
    problem = state.problem
    fixed = problem.pod_pinned[anchor] or problem.resident[problem.pod_group[anchor]]
    if fixed or state.node[anchor] == AWAY or int(problem.pod_group[anchor]) in state.bound_together:
        return False
    mark = state.mark()
    state.take(anchor)
    for p, where in zip((anchor, pod), nodes, strict=True):
        node = best_node(state, p, where)
        if node == AWAY:
            state.rollback(mark)
            return False
        state.put(p, node)
    if state.rules_hold((anchor, pod)):
        return True
    state.rollback(mark)
    return False


def _sample(state: State, node: int, rng: np.random.Generator) -> IntArray:
    """Random open kept nodes, half of them drawn from those with most room in what the node lacks."""
    pool: IntArray = np.flatnonzero(state.kept & state.open)
    pool = np.asarray(pool[pool != node])
    if len(pool) <= SAMPLE:
        return pool
    short = state.load[node] > state.limit[node]
    room = ((state.limit[pool] - state.load[pool]) * state.scale)[:, short].sum(axis=1)
    best = pool[np.argsort(-room, kind="stable")[: SAMPLE * 2]]
    half = SAMPLE // 2
    picked = np.concatenate([rng.choice(best, half, replace=False), rng.choice(pool, half, replace=False)])
    return np.asarray(np.unique(picked), dtype=np.int64)


def _step(state: State, worst: tuple[int, float], rng: np.random.Generator, rest: Rest) -> bool:
    """The best single move or swap off a node that is so far over."""
    node, over = worst
    pods = np.array(state.movable_on(node), dtype=np.int64)
    pods = pods[rest.until[pods] < rest.now]
    targets = _sample(state, node, rng)
    if not len(pods) or not len(targets):
        return False
    moves = _moves(state, node, pods, targets)
    if state.problem.num_nodes > MANY:
        good = np.flatnonzero(moves[0] >= max(GOOD * over, EPSILON))
        if _first(state, (moves[0][good], moves[1][good], moves[2][good]), rest, swaps_from=len(good)):
            return True
    swaps = _swaps(state, node, pods, targets[: max(1, len(targets) // 3)] if len(targets) > 16 else targets)
    gain, leaving, where = (np.concatenate(pair) for pair in zip(moves, swaps, strict=True))
    return _first(state, (gain, leaving, where), rest, swaps_from=len(moves[0]))


def _first(state: State, found: "Candidates", rest: Rest, swaps_from: int) -> bool:
    """Carry out the first of the best candidates that rules allow; pods of the others get some rest."""
    gain, leaving, where = found
    for i in np.argsort(-gain, kind="stable")[:TRIES].tolist():
        pod, other = int(leaving[i]), int(where[i])
        if gain[i] <= EPSILON:
            return False
        if rest.until[pod] >= rest.now:
            continue
        swap = i >= swaps_from
        if _apply(state, pod, int(state.node[other]) if swap else other, other if swap else AWAY):
            return True
        rest.until[pod] = rest.now + REST
    return False


def step_to(state: State, node: int, removed: int) -> bool:
    """Whether rules and room would let some single pod of an overloaded node move to a removed one, were it kept."""
    mark, short = state.mark(), state.load[node] > state.limit[node]
    state.keep_again(removed)
    free, able = state.limit[removed] - state.load[removed], False
    for pod in state.movable_on(node):
        request = state.problem.request[state.problem.pod_group[pod]]
        if (request[short] > 0).any() and (request <= free).all() and _apply(state, pod, removed, AWAY):
            able = True
            break
    state.rollback(mark)
    state.keep(removed, False)
    return able


Candidates = tuple[FloatArray, IntArray, IntArray]
"""Gain, the pod that leaves, and its target node (moves) or the pod that comes back (swaps)."""


def _over(state: State, load: FloatArray, limit: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(load - limit, 0.0).sum(axis=-1))


def _moves(state: State, node: int, pods: IntArray, targets: IntArray) -> Candidates:
    problem = state.problem
    request = problem.request[problem.pod_group[pods]] * state.scale
    load_o, limit_o = state.load[node] * state.scale, state.limit[node] * state.scale
    load_t, limit_t = state.load[targets] * state.scale, state.limit[targets] * state.scale
    before = _over(state, load_o, limit_o) + _over(state, load_t, limit_t)
    after_o = _over(state, load_o - request, limit_o)
    after_t = _over(state, load_t[None] + request[:, None], limit_t[None])
    gain = before[None] - after_o[:, None] - after_t
    gain -= EPSILON * ((state.node[pods] == state.home[pods]) + 2 * state.ruled[problem.pod_group[pods]])[:, None]
    allowed = problem.feasible[np.ix_(problem.pod_group[pods], problem.node_class[targets])]
    allowed = allowed | (state.home[pods][:, None] == targets[None])
    gain = np.where(allowed, gain, -1.0)
    p, t = _largest(gain)
    return gain[p, t], pods[p], targets[t]


def _largest(gain: FloatArray) -> tuple[IntArray, IntArray]:
    """Row and column of the `EACH` largest gains of every row."""
    count = min(gain.shape[1], EACH)
    columns = np.argpartition(-gain, count - 1, axis=1)[:, :count]
    return np.repeat(np.arange(len(gain)), count), columns.ravel()


def _swaps(state: State, node: int, pods: IntArray, targets: IntArray) -> Candidates:
    problem = state.problem
    others = np.array([q for t in targets.tolist() for q in state.movable_on(t)], dtype=np.int64)
    if not len(others) or not state.open[node]:
        return np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    there = state.node[others]
    come = problem.request[problem.pod_group[others]] * state.scale
    leave = problem.request[problem.pod_group[pods]] * state.scale
    room_o = (state.limit[node] - state.load[node]) * state.scale
    room_t = (state.limit[there] - state.load[there]) * state.scale
    before = np.maximum(-room_o, 0.0).sum() + np.maximum(-room_t, 0.0).sum(axis=1)
    after = np.zeros((len(pods), len(others)))
    for k in range(leave.shape[1]):
        change = leave[:, k][:, None] - come[:, k][None]
        after += np.maximum(-room_o[k] - change, 0.0) + np.maximum(change - room_t[:, k][None], 0.0)
    gain = before[None] - after
    gain = np.where(_swappable(state, node, pods, others), gain, -1.0)
    gain -= 2 * EPSILON * (state.ruled[problem.pod_group[pods]][:, None] + state.ruled[problem.pod_group[others]])
    p, q = _largest(gain)
    return gain[p, q], pods[p], others[q]


def _swappable(state: State, node: int, pods: IntArray, others: IntArray) -> BoolArray:
    problem = state.problem
    there = state.node[others]
    out = problem.feasible[np.ix_(problem.pod_group[pods], problem.node_class[there])]
    back = problem.feasible[problem.pod_group[others], problem.node_class[node]]
    return np.asarray(out & back[None])


def _apply(state: State, pod: int, target: int, other: int) -> bool:
    """Move the pod (and `other` back, unless `AWAY`) if every rule holds afterwards; else leave all as it was."""
    mark = state.mark()
    source = state.take(pod)
    if other != AWAY:
        state.take(other)
    for p, n in ((pod, target), (other, source)):
        if p == AWAY:
            continue
        if not state.admits(p, np.array([n])).all():
            state.rollback(mark)
            return False
        state.put(p, n)
    if not state.rules_hold((pod,) if other == AWAY else (pod, other)):
        state.rollback(mark)
        return False
    return True
