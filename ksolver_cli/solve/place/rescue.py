"""One node more: where repair is left with overload that counts did not foresee, a removed node is kept after all."""

import numpy as np

from ksolver_cli.solve.place.repair import Effort, repair
from ksolver_cli.solve.place.state import State
from ksolver_cli.solve.problem import IntArray

MOST = 6
"""Nodes that are kept in addition; what needs more was a bad guess."""
EFFORT = Effort(steps=400, idle=40)


def rescue(state: State, rng: np.random.Generator, ceiling: int) -> bool:
    """Keep further nodes, the cheapest that can take of what is too much, while the plan stays below the ceiling."""
    problem = state.problem
    for _ in range(MOST):
        if state.is_complete():
            return True
        node = _helper(state, ceiling - problem.cost(state.kept))
        if node is None:
            return False
        state.keep_again(node)
        repair(state, rng, EFFORT)
    return state.is_complete()


def _helper(state: State, budget: int) -> int | None:
    """The cheapest removed node below the budget, and of those the one most pods are on today.

    A pod that finds no place (its anchor is elsewhere now) gets its own node back.
    """
    problem = state.problem
    for home in state.home[state.homeless()].tolist():
        if home >= 0 and not state.kept[home] and problem.price[home] < budget:
            return int(home)
    classes = _helpful(state)
    nodes = np.flatnonzero(~state.kept & state.open & (problem.price < budget))
    nodes = nodes[np.isin(problem.node_class[nodes], classes)]
    if not len(nodes):
        return None
    today = np.bincount(problem.pod_node[problem.pod_node >= 0], minlength=problem.num_nodes)
    return int(nodes[np.lexsort((nodes, -today[nodes], problem.price[nodes]))[0]])


def _helpful(state: State) -> IntArray:
    """Classes that may take a pod without a place, or one that is part of the worst overload."""
    problem = state.problem
    homeless = state.homeless()
    if len(homeless):
        return np.flatnonzero(problem.feasible[problem.pod_group[homeless[0]]])
    node = int(np.argmax(state.overload()))
    short = state.load[node] > state.limit[node]
    groups = problem.pod_group[np.array(state.movable_on(node), dtype=np.int64)]
    taking = groups[(problem.request[groups][:, short] > 0).any(axis=1)]
    return np.flatnonzero(problem.feasible[taking].any(axis=0))
