"""Which pending pods are demand: those that fit today, one after the other; the rest is left out."""

from dataclasses import replace

import numpy as np

from ksolver_cli.solve.place.construct import seat
from ksolver_cli.solve.place.state import AWAY, State
from ksolver_cli.solve.problem import IntArray, Problem


def split_waiting(problem: Problem, priority: IntArray) -> Problem:
    """Keep the pending pods that fit on today's nodes in order of priority; count the others in `left_out`.

    What fits is decided jointly: a pod that fits alone but not beside those before it is left out, and so is one whose
    arrival would leave an earlier one where no rule would admit it any more: today must be an end state.
    """
    waiting = np.flatnonzero(problem.pod_node < 0)
    if not len(waiting):
        return problem
    everything = np.ones(problem.num_nodes, dtype=bool)
    state = State(problem, everything, problem.pod_node >= 0)
    nodes = np.arange(problem.num_nodes)
    for pod in waiting[np.lexsort((waiting, -priority[waiting]))].tolist():
        seat(state, pod, nodes)
    out = (problem.pod_node < 0) & (state.node == AWAY)
    left = np.bincount(problem.pod_group[out], minlength=problem.num_groups).astype(np.int64)
    stays = np.flatnonzero(~out)
    return replace(
        problem,
        left_out=left,
        pod_keys=tuple(problem.pod_keys[p] for p in stays.tolist()),
        pod_group=problem.pod_group[stays],
        pod_node=problem.pod_node[stays],
        pod_seat=state.node[stays],
        pod_pinned=problem.pod_pinned[stays],
        pod_weight=problem.pod_weight[stays],
    )
