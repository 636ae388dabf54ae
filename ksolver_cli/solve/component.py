"""The search in one connected component: bound, guide, dives down the ladder, class MIP, local search, homing."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.solve.bound.branch import branch
from ksolver_cli.solve.bound.highs import Ended, MipBudget
from ksolver_cli.solve.bound.lower import Bounded, class_mip, lower_bound, prove
from ksolver_cli.solve.exact.assign import assign
from ksolver_cli.solve.exact.model import is_bound, solve_exactly
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.place.greedy import drain_one_by_one
from ksolver_cli.solve.place.improve import fewer_moves, go_home, improve
from ksolver_cli.solve.place.realise import Incumbent, baseline, incumbent_of, realise
from ksolver_cli.solve.place.repair import Effort
from ksolver_cli.solve.place.rescue import rescue
from ksolver_cli.solve.place.targets import TWO_STAGE, Guide, dive
from ksolver_cli.solve.problem import IntArray, Problem
from ksolver_cli.solve.solution import Progress, Run

SAFE = 0.02
"""Share taken off every capacity for the first plan: the slack is what construction and repair live on."""
FIRST, FINER, COARSER, LAST = 0.003, 0.0, 0.008, 0.0015
"""Reserves tried in larger components: first this, then none if that gave a plan, else more; the last after a failure.
In the largest the first comes before any other (a plan with more room is not found sooner), and near the bound alone.
"""
LADDER = (0.01, 0.005, 0.002, 0.0)
"""Reserves tried in small ones."""
TINY, LARGE = 20, 2500
"""Components between these sizes get a plan by draining one node after the other before anything else; in larger ones
the linear programme is as quick, and this is for when its counts came to nothing.
"""
SMALL = 120
"""Components up to this many nodes get a long class MIP, up to `MIDDLE` a short one."""
MIDDLE = 250
MIP = MipBudget(nodes=3000, steps=2500, work=15_000_000)
MIP_SHORT = MipBudget(nodes=100, steps=100, gap=1e-4)
MIP_MIDDLE = MipBudget(nodes=100, steps=100, gap=1e-4, work=600_000)
"""At 200 nodes more than that takes 2 to 20 s and has lifted bounds by 0.1 % on average."""
WORTHWHILE = 20
"""Steps below which a class MIP is not begun: hardly more than its root."""
STEPS, PERSISTENT, HASTY = 3000, 250, 120
"""Steps of a repair, and those without gain after which it gives up, in small components and in others."""
PATIENCE = 12
"""Linear programmes without gain after which branching gives up."""
EXACT_NODES = 60
EXACT_CELLS = 20_000
"""Groups × nodes up to which CP-SAT is asked."""
ATTEMPTS, FEWER_ATTEMPTS, FEWEST_ATTEMPTS = 300, 60, 10
"""Of local search, in components up to `SMALL` nodes, up to `MIDDLE`, and above."""
IDLE = 12
"""Attempts in a row without success that end the search in components above `SMALL` nodes."""
NEAR = 0.005
"""Gap at which larger components are left as they are, at an effort of 1."""
EXCHANGES = 10


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
        self.counts: tuple[IntArray, float] | None = None
        """Node counts of the best plan that came from a dive, and the reserve it was found with."""

    def run_all(self) -> None:
        """Every step until proven or stopped."""
        if TINY < self.problem.num_nodes <= LARGE and not self.run.stopped():
            self._offer(drain_one_by_one(self.problem, self.run), "one by one")
        bounded = lower_bound(self.problem, self.run)
        if bounded.point.ended is not Ended.OPTIMAL:
            return
        self.certificate = self.bound = bounded.bound
        self._tell("bound")
        self._branch(bounded)
        if not self._done():
            guide = Guide(bounded, self.run)
            if self.problem.num_nodes <= LARGE:
                self._dive(guide, SAFE)
            self._class_plan(bounded, guide)
            self._ladder(guide)
            self._settle(guide)
        if self.method == "today" and self.problem.num_nodes > LARGE and not self.run.stopped():
            self._offer(drain_one_by_one(self.problem, self.run), "one by one")
        self._exact()
        if not self._done() and not self._near():
            size = self.problem.num_nodes
            attempts = ATTEMPTS if size <= SMALL else FEWER_ATTEMPTS if size <= MIDDLE else FEWEST_ATTEMPTS
            idle = attempts if size <= SMALL else IDLE
            most, work = self.run.work(attempts), self.run.work(idle)
            found = improve(self.problem, self.best, self.bound, self.run, most, work)
            self._offer(found, "local search")
        self._offer(go_home(self.problem, self.best), "homing")
        if self.problem.num_nodes <= MIDDLE and not self.run.stopped():
            self._offer(fewer_moves(self.problem, self.best, self.run, self.run.work(EXCHANGES)), "fewer moves")

    def _near(self) -> bool:
        """Whether a larger component's plan is so near its bound that further search would hardly pay for its time."""
        gap = self.best.cost / max(self.bound, 1) - 1
        return self.problem.num_nodes > SMALL and gap <= NEAR / self.run.limits.effort

    def _done(self) -> bool:
        return self.best.cost <= self.bound or self.run.stopped()

    def _ladder(self, guide: Guide) -> None:
        if self.problem.num_nodes <= SMALL:
            for shrink in LADDER:
                self._dive(guide, shrink)
            return
        second = FINER if self._dive(guide, FIRST) else COARSER
        if self.problem.num_nodes > LARGE and self._near():
            return
        if not self._dive(guide, second) and not self._near():
            self._dive(guide, LAST if second == FINER else SAFE / 2)

    def _dive(self, guide: Guide, shrink: float) -> bool:
        """Whether counts with this reserve became the best plan."""
        before = self.best
        if self._done():
            return True
        guide.set_shrink(shrink)
        counts = guide.best_counts(MIP_SHORT) if self.problem.num_nodes <= SMALL else dive(guide)
        if counts is not None:
            self._realise(guide, counts, f"dive at {shrink:g}")
        return self.best is not before

    def _settle(self, guide: Guide) -> None:
        """In large problems: the best counts once more, split so that fewest pods move."""
        if self.counts is None or self.problem.num_nodes <= TWO_STAGE or self.run.stopped():
            return
        counts, shrink = self.counts
        guide.set_shrink(shrink)
        self._realise(guide, counts, "fewer moves", stay=True)

    def _branch(self, bounded: Bounded) -> None:
        """Where the class MIP takes too long: a certified lift of the bound by branching on dear counts."""
        if self.problem.num_nodes <= SMALL or self._done():
            return
        prove(bounded, branch(bounded, self.run, self.best.cost, self.run.work(PATIENCE)))
        self.certificate, self.bound = bounded.certificate, bounded.bound
        self._tell("branches")
        entries = len(bounded.floor_rows.value)
        if self.problem.num_nodes <= MIDDLE and not self._near() and MIP_MIDDLE.steps_for(entries) >= WORTHWHILE:
            class_mip(bounded, self.run, MIP_MIDDLE)
            self.bound = max(self.bound, bounded.bound)
            self._tell("class MIP")

    def _class_plan(self, bounded: Bounded, guide: Guide) -> None:
        """Lift the bound by branch and bound over node counts, and realise the counts it found."""
        if self.problem.num_nodes > SMALL or self._done():
            return
        x = class_mip(bounded, self.run, MIP)
        self.bound = max(self.bound, bounded.bound)
        self._tell("class MIP")
        if x is None:
            return
        counts = np.round(x[: self.problem.num_classes]).astype(np.int64)
        for shrink in (0.01, 0.005, 0.003, 0.001, 0.0):
            # Even once the cost is proven best: another reserve may move fewer pods.
            if not self.run.stopped():
                guide.set_shrink(shrink)
                self._realise(guide, counts, "class MIP")

    def _realise(self, guide: Guide, counts: IntArray, method: str, *, stay: bool = False) -> None:
        cost = int((counts * self.problem.class_price).sum())
        if cost > self.best.cost:
            return
        idle = PERSISTENT if self.problem.num_nodes <= SMALL else HASTY
        state = realise(guide, counts, self.rng, Effort(self.run.work(STEPS), idle), stay=stay)
        if rescue(state, self.rng, self.best.cost):
            before = self.best
            self._offer(incumbent_of(state), method)
            if self.best is not before:
                self.counts = (counts, guide.shrink)

    def _exact(self) -> None:
        problem = self.problem
        cells = problem.num_nodes * problem.num_groups
        if self._done() or problem.num_nodes > EXACT_NODES or cells > EXACT_CELLS:
            return
        result = solve_exactly(problem, self.bound, self.best.cost, self.best.node, self.run)
        if result.count is not None and result.kept is not None:
            self._offer(assign(problem, result.count, result.kept), "exact")
        if is_bound(problem):
            self.bound = max(self.bound, min(result.bound, self.best.cost))
            self._tell("exact")

    def _offer(self, found: Incumbent, method: str) -> None:
        if found.rank >= self.best.rank or faults(self.problem, found.kept, found.node):
            return
        if found.cost < self.best.cost:
            self.method = method
        self.best = found
        self._tell(method)

    def _tell(self, phase: str) -> None:
        self.run.on_progress(Progress(phase, self.best.cost, self.bound))
