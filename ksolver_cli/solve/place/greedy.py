"""A first plan within seconds: empty one node after the other, least used first, and never look back."""

import numpy as np

from ksolver_cli.solve.place.construct import seat
from ksolver_cli.solve.place.realise import Incumbent, baseline, incumbent_of, restore
from ksolver_cli.solve.place.state import State
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Run


def drain_one_by_one(problem: Problem, run: Run) -> Incumbent:
    """Remove every node whose pods all find room on the others; the dot product chooses where."""
    state = restore(problem, baseline(problem))
    fill = (problem.load_now / np.maximum(problem.capacity, 1)).max(axis=1)
    for node in np.argsort(fill, kind="stable").tolist():
        if run.stopped():
            break
        if not problem.must_keep[node]:
            _empty(state, node)
    return incumbent_of(state)


def _empty(state: State, node: int) -> bool:
    """Move every pod off the node, or none."""
    problem, mark = state.problem, state.mark()
    pods = sorted(state.pods_on[node])
    if any(problem.pod_pinned[p] or int(problem.pod_group[p]) in state.bound_together for p in pods):
        return False
    for pod in pods:
        state.take(pod)
    state.keep(node, False)
    rest = np.flatnonzero(state.kept & state.open)
    share = (problem.request * state.scale).max(axis=1)
    movers = [p for p in pods if not problem.resident[problem.pod_group[p]]]
    for pod in sorted(movers, key=lambda p: (-float(share[problem.pod_group[p]]), p)):
        if not seat(state, pod, rest):
            state.keep(node, True)
            state.rollback(mark)
            return False
    state.forget()
    return True
