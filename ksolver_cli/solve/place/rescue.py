"""Nodes given back: removed nodes are kept after all where repair is left with overload that counts did not foresee."""

import numpy as np

from ksolver_cli.solve.place.repair import Effort, repair, step_to
from ksolver_cli.solve.place.state import State
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray

ROUNDS = 12
"""Times that nodes are given back, each for what overloads one class; what needs more was a bad guess."""
EFFORT = Effort(steps=400, idle=40)
TRIES = 3
"""Removed nodes of a class looked at for one that may take something: they differ in what rules count on them."""


def rescue(state: State, rng: np.random.Generator, ceiling: int) -> bool:
    """Keep further nodes, the cheapest that can take of what is too much, while the plan stays below the ceiling."""
    for _ in range(ROUNDS):
        if state.is_complete():
            return True
        budget = ceiling - state.problem.cost(state.kept)
        more = _homes(state, budget) if len(state.homeless()) else _relief(state, budget)
        if not len(more):
            return False
        for node in more.tolist():
            state.keep_again(node)
        repair(state, rng, Effort(EFFORT.steps * (1 + len(more)), EFFORT.idle))
    return state.is_complete()


def _affordable(state: State, nodes: IntArray, budget: int) -> IntArray:
    """As many of the nodes, in order, as cost less than the budget together."""
    spent = np.cumsum(state.problem.price[nodes])
    return np.asarray(nodes[spent < budget])


def _homes(state: State, budget: int) -> IntArray:
    """Pods that find no place (their anchors are elsewhere now) get their own nodes back; else one cheap node."""
    pods = state.homeless()
    homes = state.home[pods]
    homes = np.unique(homes[homes >= 0])
    homes = _affordable(state, homes[~state.kept[homes]], budget)
    if len(homes):
        return homes
    feasible = state.problem.feasible[state.problem.pod_group[pods[0]]]
    return _affordable(state, _removed(state, feasible[state.problem.node_class])[:1], budget)


def _removed(state: State, wanted: BoolArray) -> IntArray:
    """The wanted removed nodes: cheapest first, and of those the ones most pods are on today."""
    problem = state.problem
    today = np.bincount(problem.pod_node[problem.pod_node >= 0], minlength=problem.num_nodes)
    nodes = np.flatnonzero(~state.kept & state.open & wanted)
    return np.asarray(nodes[np.lexsort((nodes, -today[nodes], problem.price[nodes]))])


def _relief(state: State, budget: int) -> IntArray:
    """Enough nodes of the cheapest class that can take something off the most overloaded node, for what is too much on
    all nodes of its class.
    """
    problem = state.problem
    worst = int(np.argmax(state.overload()))
    excess = np.maximum(state.load - state.limit, 0) * state.kept[:, None]
    excess = excess[problem.node_class == problem.node_class[worst]].sum(axis=0)
    groups = problem.pod_group[np.array(state.movable_on(worst), dtype=np.int64)]
    taking = groups[(problem.request[groups][:, state.load[worst] > state.limit[worst]] > 0).any(axis=1)]
    classes = np.asarray(problem.feasible[taking].any(axis=0))
    nodes = _removed(state, classes[problem.node_class] & (problem.price < budget))
    for c in dict.fromkeys(problem.node_class[nodes].tolist()):
        mine = nodes[problem.node_class[nodes] == c]
        if any(step_to(state, worst, node) for node in mine[:TRIES].tolist()):
            more = mine[: _number(excess, problem.class_capacity[c])]
            return np.asarray(more if problem.price[more].sum() < budget else more[:0])
    return nodes[:0]


def _number(excess: IntArray, capacity: IntArray) -> int:
    share: FloatArray = excess / np.maximum(capacity, 1)
    return max(1, int(np.ceil(share.max())))
