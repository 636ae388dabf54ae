"""What a perfect repacking could reach: with today's constraints in force, and with every droppable one dropped."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ksolver_cli.constraints.eviction import eviction_blockers, node_blockers
from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.constraints.rules.post import rules
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Limits, Proof
from ksolver_cli.explain.whatif.relaxed import EVERYTHING, without
from ksolver_cli.normalise.classes import classify
from ksolver_cli.solve.build import Model, Pins, build
from ksolver_cli.solve.solution import Interrupted, OnProgress, Solution
from ksolver_cli.solve.solve import solve
from ksolver_cli.verify.referee import judge

Weights = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Potential:
    """Proofs of two solves: today's constraints in force, and every droppable one dropped. A cost counts only where the
    referee accepted the placement; otherwise it is the cost of the step before.
    """

    repack: Proof
    relaxed: Proof
    repack_moves: int

    @property
    def limited_by(self) -> str | None:
        """What stopped either solve early, the first one's word first."""
        return self.repack.limited_by or self.relaxed.limited_by


@dataclass(frozen=True, slots=True)
class Solver:
    """How to solve: limits and callbacks."""

    limits: Limits
    interrupted: Interrupted
    on_progress: OnProgress

    def run(self, cluster: Cluster, classes: Classes, weights: Weights, start: Mapping[str, str]) -> Solution:
        """The cheapest placement of the cluster's pods; never dearer than `start` where that is sound."""
        model = Model(cluster, classes, static_feasibility(cluster, classes), rules(cluster, classes))
        pins = Pins(frozenset(eviction_blockers(cluster)), frozenset(node_blockers(cluster, weights)))
        return solve(build(model, weights, pins), self.limits, self.interrupted, self.on_progress, start)


def potential(cluster: Cluster, classes: Classes, weights: Weights, plan: DrainPlan, solver: Solver) -> Potential:
    """Solve with today's constraints from the drain plan's end, then without them from what that found: so that each
    step can only go down.
    """
    ended = {pod.key: pod.node_name for pod in cluster.pods if pod.is_bound}
    ended |= {move.pod: move.target for move in plan.moves}
    strict = solver.run(cluster, classes, weights, ended)
    repack = _accepted(cluster, strict, weights, plan.cost_after_micros)
    loose = without(cluster, EVERYTHING)
    free = solver.run(loose, classify(loose), weights, strict.node_of)
    return Potential(repack, _accepted(loose, free, weights, repack.cost_micros), strict.moved)


def _accepted(cluster: Cluster, solution: Solution, weights: Weights, otherwise: int) -> Proof:
    """The solve's proof; the cost is `otherwise` where the referee refuses the placement."""
    judgement = judge(cluster, solution.placement, weights)
    if judgement.accepted and judgement.cost_after_micros is not None:
        return replace(solution.proof, cost_micros=min(otherwise, judgement.cost_after_micros))
    return replace(solution.proof, cost_micros=otherwise)
