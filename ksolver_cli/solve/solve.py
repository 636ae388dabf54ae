"""The solve: components, bound, search for each, and the answer with its proof."""

from collections.abc import Mapping

import numpy as np

from ksolver_cli.domain.plan import Limits, Proof, Status
from ksolver_cli.solve.component import Outcome, solve_component
from ksolver_cli.solve.components import Component, components
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.place.realise import Incumbent
from ksolver_cli.solve.problem import IntArray, Problem
from ksolver_cli.solve.solution import (
    ComponentResult,
    Interrupted,
    OnProgress,
    Run,
    Solution,
    never,
    silent,
)


def solve(
    problem: Problem,
    limits: Limits | None = None,
    interrupted: Interrupted = never,
    on_progress: OnProgress = silent,
    start: Mapping[str, str] | None = None,
) -> Solution:
    """The cheapest placement found and the bound proven, within the limits.

    `start` is a placement known to be good for a stricter problem (pod key → node): the answer never costs more, which
    is what makes dropping a constraint monotone. A stop returns the best so far; with none, today's placement.
    """
    run = Run(limits or Limits(), interrupted, on_progress)
    given = None if start is None else _nodes_of(problem, start)
    parts = components(problem)
    outcomes = []
    for part in parts:
        begin = None if given is None else _local(part, given)
        outcomes.append(solve_component(part.problem, run, begin))
    return _assemble(problem, parts, outcomes, run)


def _nodes_of(problem: Problem, start: Mapping[str, str]) -> IntArray:
    index = {name: n for n, name in enumerate(problem.node_names)}
    nodes = [index.get(start.get(key, ""), -1) for key in problem.pod_keys]
    return np.where(np.array(nodes, dtype=np.int64) >= 0, np.array(nodes, dtype=np.int64), problem.pod_seat)


def _local(part: Component, nodes: IntArray) -> Incumbent | None:
    """The given placement within a component, or None where it is no sound plan for it."""
    problem = part.problem
    position = {int(n): i for i, n in enumerate(part.nodes.tolist())}
    node = np.array([position.get(int(n), -1) for n in nodes[part.pods].tolist()], dtype=np.int64)
    kept = problem.must_keep.copy()
    need = ~problem.resident[problem.pod_group]
    if (node[need] < 0).any():
        return None
    kept[node[need]] = True
    if faults(problem, kept, node):
        return None
    moved = need & (problem.pod_node >= 0) & (node != problem.pod_node)
    return Incumbent(kept, node, problem.cost(kept), int(problem.pod_weight[moved].sum()))


def _assemble(problem: Problem, parts: tuple[Component, ...], outcomes: list[Outcome], run: Run) -> Solution:
    node = np.full(problem.num_pods, -1, dtype=np.int64)
    kept = np.zeros(problem.num_nodes, dtype=bool)
    details = []
    for part, outcome in zip(parts, outcomes, strict=True):
        local = outcome.best.node
        node[part.pods] = np.where(local >= 0, part.nodes[np.maximum(local, 0)], -1)
        kept[part.nodes] = outcome.best.kept
        details.append(_detail(part, outcome))
    cost = sum(d.cost_micros for d in details)
    bound = min(cost, sum(d.bound_micros for d in details))
    shown = ~problem.resident[problem.pod_group]
    moved = shown & (problem.pod_node >= 0) & (node != problem.pod_node)
    status = Status.OPTIMAL if cost <= bound else Status.FEASIBLE
    limited = None if status is Status.OPTIMAL else (run.limited_by() or "work")
    names = problem.node_names
    return Solution(
        node_of={problem.pod_keys[p]: names[int(node[p])] for p in np.flatnonzero(shown).tolist()},
        removed=tuple(names[n] for n in np.flatnonzero(~kept).tolist()),
        proof=Proof(status, cost, bound, run.limits, limited),
        moved=int(moved.sum()),
        move_weight=int(problem.pod_weight[moved].sum()),
        components=tuple(details),
    )


def _detail(part: Component, outcome: Outcome) -> ComponentResult:
    return ComponentResult(
        nodes=part.problem.num_nodes,
        pods=part.problem.num_pods,
        cost_micros=outcome.best.cost,
        bound_micros=outcome.bound,
        certificate_micros=outcome.certificate,
        method=outcome.method,
    )
