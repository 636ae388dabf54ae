"""The drain search: which nodes to remove, in which order to evict, proven by replays and judged by the referee."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Judgement, Limits
from ksolver_cli.plan.greedy import Greedy, by_price_per_move, by_utilisation
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.settle import Settled, Settler, Trials
from ksolver_cli.plan.waves import to_plan
from ksolver_cli.verify.referee import judge

Progress = Callable[[str, float], None]
"""Told what is being done, and how far the search is (0 … 1)."""
Interrupted = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """What is asked of a drain plan. `move_budget` is the number of pods that may be moved, None for any number."""

    move_budget: int | None = None
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
        self._progress, self._interrupted = watch
        self._prospects = Prospects(cluster, classes, prices_micros)
        trials = Trials(options.exact, options.jittered, options.jitter, options.waves, limits.seed)
        self._settler = Settler(self._prospects, trials, self._interrupted)

    def run(self) -> SearchResult:
        found = [s for s in self._settled() if s is not None]
        found.sort(key=lambda s: (-self._prospects.saving(s.nodes), len(s.drain.order)))
        for settled in found:
            plan = to_plan(self._prospects, settled.drain, settled.reference, settled.replays)
            judgement = judge(self._cluster, plan, self._prices)
            if judgement.accepted:
                return SearchResult(plan, judgement)
        empty = to_plan(self._prospects, self._settler.nothing().drain, None, 0)
        return SearchResult(empty, judge(self._cluster, empty, self._prices))

    def _settled(self) -> list[Settled | None]:
        results = []
        for rank, order in enumerate((by_utilisation(self._prospects), by_price_per_move(self._prospects))):
            self._progress("one node after the other", rank / 2)
            nodes = Greedy(self._prospects, self._limits.seed).run(order, self._interrupted)
            results.append(self._settler.settle(nodes))
        return results
