"""Turn node counts into a judged-ready placement: nodes, targets, construction, repair."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.solve.place.construct import construct
from ksolver_cli.solve.place.repair import Effort, repair
from ksolver_cli.solve.place.state import State
from ksolver_cli.solve.place.targets import Guide, choose_nodes, round_targets, targets
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem


@dataclass(frozen=True, eq=False)
class Incumbent:
    """A complete placement: kept nodes, where each pod is, what it costs and what moving to it weighs."""

    kept: BoolArray
    node: IntArray
    cost: int
    move_weight: int

    @property
    def rank(self) -> tuple[int, int]:
        """Cost first, then moves."""
        return self.cost, self.move_weight


def incumbent_of(state: State) -> Incumbent:
    """Snapshot of a complete state."""
    problem = state.problem
    weight = int(problem.pod_weight[state.moved()].sum())
    return Incumbent(state.kept.copy(), state.node.copy(), problem.cost(state.kept), weight)


def baseline(problem: Problem) -> Incumbent:
    """Today: every node kept, no bound pod moved, pending demand where it fits."""
    return Incumbent(np.ones(problem.num_nodes, dtype=bool), problem.pod_seat.copy(), problem.cost_now, 0)


def restore(problem: Problem, incumbent: Incumbent) -> State:
    """A state to go on from."""
    staying = (incumbent.node == problem.pod_node) & (problem.pod_node >= 0)
    staying |= problem.resident[problem.pod_group]
    state = State(problem, incumbent.kept, staying)
    for pod in state.homeless().tolist():
        state.put(pod, int(incumbent.node[pod]))
    state.forget()
    return state


def realise(guide: Guide, counts: IntArray, rng: np.random.Generator, effort: Effort, *, stay: bool = False) -> State:
    """The best that construction and repair make of these node counts; ask `is_complete` whether it is a plan.

    With `stay` a programme of its own looks for the split that moves fewest pods, in large problems too.
    """
    relaxation = guide.relaxation
    problem = relaxation.problem
    kept = choose_nodes(problem, counts)
    wanted = targets(guide, kept, stay=stay)
    if wanted is None:
        wanted = np.zeros(relaxation.column_of.shape)
    quota = round_targets(wanted, np.minimum(relaxation.demand, np.round(wanted.sum(axis=1)).astype(np.int64)))
    state = construct(problem, kept, quota, relaxation.group_of)
    repair(state, rng, effort)
    return state
