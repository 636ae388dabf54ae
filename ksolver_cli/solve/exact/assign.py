"""Names for counts: which pod of a group stays, and which goes where."""

import numpy as np

from ksolver_cli.solve.place.realise import Incumbent
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem


def assign(problem: Problem, count: IntArray, kept: BoolArray) -> Incumbent:
    """A placement with these counts per group and node: pods stay as far as counts let them, pinned ones first."""
    node = np.full(problem.num_pods, -1, dtype=np.int64)
    for g in range(problem.num_groups):
        pods = problem.group_pods[g]
        if problem.resident[g]:
            home = problem.pod_node[pods]
            node[pods] = np.where(kept[home], home, -1)
            continue
        _assign_group(problem, pods, count[g].copy(), node)
    need = ~problem.resident[problem.pod_group]
    moved = need & (problem.pod_node >= 0) & (node != problem.pod_node)
    return Incumbent(kept, node, problem.cost(kept), int(problem.pod_weight[moved].sum()))


def _assign_group(problem: Problem, pods: IntArray, left: IntArray, node: IntArray) -> None:
    order = pods[np.lexsort((pods, -problem.pod_weight[pods], ~problem.pod_pinned[pods]))]
    for p in order.tolist():
        home = int(problem.pod_node[p])
        if home >= 0 and left[home] > 0:
            node[p] = home
            left[home] -= 1
    free = np.repeat(np.arange(len(left)), left)
    node[pods[node[pods] < 0]] = free
