"""The search in one connected component: bound, guide, dives down the ladder, class MIP, local search, homing."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.solve.bound.highs import Ended, MipBudget
from ksolver_cli.solve.bound.lower import Bounded, class_mip, lower_bound
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.place.improve import go_home, improve
from ksolver_cli.solve.place.realise import Incumbent, baseline, incumbent_of, realise
from ksolver_cli.solve.place.repair import Effort
from ksolver_cli.solve.place.targets import Guide, dive
from ksolver_cli.solve.problem import IntArray, Problem
from ksolver_cli.solve.solution import Progress, Run

LADDER = (0.02, 0.01, 0.005, 0.002, 0.0)
"""Shares taken off every capacity, safest first: the slack is what construction and repair live on."""
MIP_NODES = 250
"""Components up to this many nodes, or few classes, get a class MIP."""
MIP_CLASSES = 40
MIP_SECONDS = 5.0
MIP_WORK = 2000


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one component came to."""

    best: Incumbent
    bound: int
    certificate: int
    method: str


def solve_component(problem: Problem, run: Run, start: Incumbent | None) -> Outcome:
    """Search one component; never worse than today, nor than `start`."""
    best = baseline(problem)
    if start is not None and start.rank < best.rank:
        best = start
    if best.cost == 0 or not problem.num_groups:
        return _empty(problem, best)
    search = _Search(problem, run, best)
    search.run_all()
    return Outcome(search.best, search.bound, search.certificate, search.method)


def _empty(problem: Problem, best: Incumbent) -> Outcome:
    """Nothing to place: only nodes that must stay are kept."""
    if not problem.num_groups:
        kept = problem.must_keep.copy()
        best = Incumbent(kept, best.node, problem.cost(kept), 0)
    return Outcome(best, best.cost, best.cost, "nothing to decide")


class _Search:
    def __init__(self, problem: Problem, run: Run, best: Incumbent) -> None:
        self.problem, self.run, self.best = problem, run, best
        self.bound = self.certificate = 0
        self.method = "today"
        self.rng = np.random.default_rng(run.limits.seed)

    def run_all(self) -> None:
        """Every step until proven or stopped."""
        bounded = lower_bound(self.problem, self.run)
        if bounded.point.ended is not Ended.OPTIMAL:
            return
        self.certificate = self.bound = bounded.bound
        self._tell("bound")
        if self._done():
            return
        counts = self._mip(bounded)
        guide = Guide(bounded, self.run)
        self._descend(guide, counts)
        if not self._done():
            self._offer(improve(self.problem, self.best, self.bound, self.run, self.run.work(400)), "local search")
        self._offer(go_home(self.problem, self.best), self.method)

    def _done(self) -> bool:
        return self.best.cost <= self.bound or self.run.stopped()

    def _mip(self, bounded: Bounded) -> IntArray | None:
        """Lift the bound by branch and bound over node counts; the counts it found, if any."""
        problem = self.problem
        if problem.num_nodes > MIP_NODES and problem.num_classes > MIP_CLASSES:
            return None
        seconds = min(MIP_SECONDS * max(1.0, self.run.limits.effort), self.run.left())
        x = class_mip(bounded, self.run, MipBudget(self.run.work(MIP_WORK), seconds))
        self.bound = bounded.bound
        self._tell("class plan")
        return None if x is None else np.round(x[: problem.num_classes]).astype(np.int64)

    def _descend(self, guide: Guide, counts: IntArray | None) -> None:
        """Realise the class plan if there is one; dives from safe to tight as far as they promise to be cheaper."""
        for shrink in LADDER:
            if self._done():
                return
            guide.set_shrink(shrink)
            dived = dive(guide)
            if dived is not None:
                self._realise(guide, dived, f"dive at {shrink:g}")
        for shrink in (0.01, 0.003, 0.0):
            if counts is None or self._done():
                return
            guide.set_shrink(shrink)
            self._realise(guide, counts, "class plan")

    def _realise(self, guide: Guide, counts: IntArray, method: str) -> None:
        cost = int((counts * self.problem.class_price).sum())
        if cost > self.best.cost:
            return
        state = realise(guide, counts, self.rng, Effort(self.run.work(3000), 120))
        if state.is_complete():
            self._offer(incumbent_of(state), method)

    def _offer(self, found: Incumbent, method: str) -> None:
        if found.rank >= self.best.rank or faults(self.problem, found.kept, found.node):
            return
        if found.cost < self.best.cost:
            self.method = method
        self.best = found
        self._tell(method)

    def _tell(self, phase: str) -> None:
        self.run.on_progress(Progress(phase, self.best.cost, self.bound))
