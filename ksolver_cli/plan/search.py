"""The drain search: which nodes to remove, in which order to evict, proven by replays and judged by the referee."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ksolver_cli.constraints.rules.post import rules
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Judgement, Limits
from ksolver_cli.plan.clock import Clock
from ksolver_cli.plan.greedy import by_price_per_move
from ksolver_cli.plan.learned import LearnedSets
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.sets import Candidate, greedy_sets, problem_of, within_budget
from ksolver_cli.plan.settle import Opened, Settled, Settler, Trials
from ksolver_cli.plan.tail import NO_TAIL, Tail, TailSearch
from ksolver_cli.plan.waves import to_plan
from ksolver_cli.solve.build import Model
from ksolver_cli.verify.referee import judge

CURVE = (10, 20, 30, 50)
"""Percent of the movable pods for which the curve of saving against moves is worked out."""
NEAR = 0.9
"""A share of moves this near to those of the plan itself tells nothing new."""
MIP_SHARE = 0.4
"""Share of the time guard that looking for sets may take."""
GREEDY_NODES = 300
"""Clusters up to this size are also drained one node after the other; larger ones where the MIP finds nothing."""
OPENED = 5
"""Sets, the most promising ones, that are looked at closely."""
EXTENSIONS = 12
"""Nodes that are tried as additions to the best set."""

Progress = Callable[[str, float], None]
"""Told what is being done, and how far the search is (0 … 1)."""
Interrupted = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is asked of a drain plan. `move_budget` is the number of pods that may be moved, or their share of those
    that could be (a Fraction); None for any number.

    `planned`: nodes of an earlier plan to go on with; no other sets are looked for then.
    """

    move_budget: int | Fraction | None = None
    planned: tuple[str, ...] = ()
    curve: bool = True
    waves: int = 8
    exact: int = 12
    jittered: int = 12
    jitter: float = 5.0


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What can be saved (micro-dollars an hour, judged) by moving so many pods."""

    moves: int
    saving_micros: int
    nodes: int


@dataclass(frozen=True)
class SearchResult:
    """The plan, the referee's word on it, and what less moving would save. The plan is empty when nothing holds."""

    plan: DrainPlan
    judgement: Judgement
    curve: tuple[CurvePoint, ...] = ()
    notes: tuple[str, ...] = field(default=())
    limited_by: str | None = None
    prospects: Prospects | None = field(default=None, compare=False, repr=False)
    """The board that was searched, for whoever asks further questions of the same cluster."""


def silent(what: str, share: float) -> None:
    """A progress callback that tells nobody."""


def never() -> bool:
    """An interrupt that never comes."""
    return False


def search(
    cluster: Cluster,
    classes: Classes,
    prices_micros: Mapping[str, int | None],
    limits: Limits,
    options: SearchOptions | None = None,
    watch: tuple[Progress, Interrupted] = (silent, never),
) -> SearchResult:
    """The cheapest drain plan found that no replay makes a pod pend, judged by the referee.

    Equal input, seed and options give equal output unless interrupted.
    """
    return _Search(cluster, classes, prices_micros, limits, options or SearchOptions(), watch).run()


class _Search:
    def __init__(
        self,
        cluster: Cluster,
        classes: Classes,
        prices_micros: Mapping[str, int | None],
        limits: Limits,
        options: SearchOptions,
        watch: tuple[Progress, Interrupted],
    ) -> None:
        self._cluster, self._prices, self._limits, self._options = cluster, prices_micros, limits, options
        self._progress, interrupted = watch
        self._clock = Clock(limits.seconds, interrupted)
        self._progress("readying replays", 0.0)
        self._prospects = Prospects(cluster, classes, prices_micros)
        budget = options.move_budget
        self._budget = int(budget * self._movable) if isinstance(budget, Fraction) else budget
        self._trials = Trials(options.exact, options.jittered, options.jitter, options.waves, limits.seed)
        self._settler = Settler(self._prospects, self._trials, limits.effort, self._clock.is_over)

    @property
    def _movable(self) -> int:
        return sum(map(len, self._prospects.pods_on))

    def run(self) -> SearchResult:
        """Settle candidate sets, those that promise most first; extend the best; judge."""
        candidates = self._candidates()
        best = self._best(self._affordable(candidates, self._budget))
        if best.nodes:
            best = self._extended(best)
        result = self._judged(best)
        result = replace(result, prospects=self._prospects)
        return replace(result, curve=self._curve(result.plan, best)) if self._options.curve else result

    def _candidates(self) -> list[Candidate]:
        prospects, stop = self._prospects, self._clock.is_over
        if self._options.planned:
            index = prospects.board.node_index
            nodes = [index[name] for name in self._options.planned if name in index]
            return [Candidate("earlier plan", tuple(n for n in nodes if prospects.removable[n]))]
        self._progress("looking for nodes to remove", 0.1)
        found: list[Candidate] = []
        if prospects.removable.any():
            board = prospects.board
            model = Model(self._cluster, board.classes, prospects.feasible, rules(self._cluster, board.classes))
            problem = problem_of(prospects, model, self._prices)
            learned = LearnedSets(prospects, problem, self._trials)
            limits = replace(self._limits, seconds=self._limits.seconds * MIP_SHARE)
            found += learned.run(limits, stop, self._clock.note_cut_short)
        if not found or len(prospects.removable) <= GREEDY_NODES:
            found += greedy_sets(prospects, self._limits.seed, stop)
        return self._ranked(found)

    def _ranked(self, found: Sequence[Candidate]) -> list[Candidate]:
        """Each set once, those that promise most first, with few moves before many."""
        prospects = self._prospects
        unique = {candidate.nodes: candidate for candidate in found if candidate.nodes}

        def rank(candidate: Candidate) -> tuple[float, int, tuple[int, ...]]:
            promise = self._promise(candidate.nodes, candidate.pended)
            return -promise, len(prospects.pods_of(candidate.nodes)), candidate.nodes

        return sorted(unique.values(), key=rank)

    def _promise(self, nodes: tuple[int, ...], pended: float) -> float:
        """What a set saves once so much is given back that no pod pends: each costs what the others save, a pod."""
        return self._prospects.saving(nodes) * (1 - pended / max(len(self._prospects.pods_of(nodes)), 1))

    def _affordable(self, candidates: list[Candidate], budget: int | None) -> list[Candidate]:
        """The sets cut down to a number of moves, and the cheapest moves of all."""
        if budget is None:
            return candidates
        sets = [*candidates, Candidate("cheapest moves", tuple(by_price_per_move(self._prospects)))]
        return self._ranked([Candidate(c.origin, within_budget(self._prospects, c.nodes, budget)) for c in sets])

    def _curve(self, plan: DrainPlan, best: Settled) -> tuple[CurvePoint, ...]:
        """What fewer moves would save: plans for shares of all movable pods, each judged, none worse than the last.

        They are parts of the plan itself: what held with more nodes gone mostly holds with fewer.
        """
        whole = plan.cost_before_micros - plan.cost_after_micros
        points = [CurvePoint(0, 0, 0)]
        movable = self._movable
        for share in CURVE if plan.evictions else ():
            budget = movable * share // 100
            if budget > NEAR * plan.evictions or self._clock.is_over():
                break
            self._progress(f"what {share} % of moves would save", 0.95)
            part = within_budget(self._prospects, best.nodes, budget)
            settled = self._best([Candidate("part of the plan", part)], best)
            small = self._plan_of(settled)
            saved = small.cost_before_micros - small.cost_after_micros
            if points[-1].saving_micros < saved < whole and judge(self._cluster, small, self._prices).accepted:
                points.append(CurvePoint(small.evictions, saved, len(small.nodes)))
        if whole:
            points.append(CurvePoint(plan.evictions, whole, len(plan.nodes)))
        return tuple(points)

    def _plan_of(self, settled: Settled, tail: Tail = NO_TAIL) -> DrainPlan:
        return to_plan(self._prospects, settled.drain, settled.reference, settled.replays, tail)

    def _best(self, candidates: list[Candidate], like: Settled | None = None) -> Settled:
        """The best settled set; one that promises less than what is held already is not looked at.

        Evictions start in the order of `like`, else from one worked out afresh.
        """
        best, saved = self._settler.nothing(), 0
        opened: list[Opened] = []
        for candidate in candidates:
            nodes = candidate.nodes
            enough = len(opened) >= OPENED or self._clock.is_over()
            if self._prospects.saving(nodes) <= saved or (opened and enough):
                continue
            self._progress(f"replaying drains: {candidate.origin}", 0.2 + 0.3 * len(opened) / OPENED)
            first = self._settler.open(nodes, like)
            opened.append(first)
            if first.settled is not None:
                best, saved = first.settled, self._prospects.saving(nodes)
        ranked = sorted(opened, key=lambda o: -self._promise(o.tried.sequence.nodes, o.pended))
        for rank, first in enumerate(ranked):
            if saved and self._clock.is_over():
                break
            self._progress("giving nodes back", 0.5 + 0.4 * rank / len(opened))
            settled = self._settler.settle(first, saved)
            if settled is not None and self._prospects.saving(settled.nodes) > saved:
                best, saved = settled, self._prospects.saving(settled.nodes)
        return best

    def _extended(self, best: Settled) -> Settled:
        """Try to take further nodes, the dearest for their pods first."""
        taken = set(best.nodes)
        for node in by_price_per_move(self._prospects)[: EXTENSIONS + len(taken)]:
            if self._settler.is_exhausted or self._clock.is_over():
                break
            if node not in taken and self._may_move(len(best.drain.order) + len(self._prospects.pods_on[node])):
                best = self._settler.extend(best, node) or best
        return best

    def _may_move(self, pods: int) -> bool:
        return self._budget is None or pods <= self._budget

    def _judged(self, settled: Settled) -> SearchResult:
        self._progress("judging", 0.95)
        settled = self._settler.in_free_steps(settled)
        for tail in dict.fromkeys((self._tail(settled), NO_TAIL)):
            plan = self._plan_of(settled, tail)
            judgement = judge(self._cluster, plan, self._prices)
            if judgement.accepted:
                return SearchResult(plan, judgement, limited_by=self._limited_by())
        empty = to_plan(self._prospects, self._settler.nothing().drain, None, 0)
        return SearchResult(empty, judge(self._cluster, empty, self._prices), limited_by=self._limited_by())

    def _tail(self, settled: Settled) -> Tail:
        """Nodes that can only go by themselves, behind the others."""
        search = TailSearch(self._prospects, self._settler.seeds, self._clock.is_over)
        if not search.is_worth_it:
            return NO_TAIL
        index, budget = self._prospects.board.node_index, self._budget
        planned = [index[name] for name in self._options.planned if name in index]
        left = None if budget is None else budget - len(settled.drain.order)
        return search.behind(settled.drain, left, planned or None)

    def _limited_by(self) -> str | None:
        return self._clock.struck or ("work" if self._settler.is_exhausted else None)
