"""One set of nodes that may be removed in every snapshot of a cluster, and what each snapshot leaves of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.plan.robust.rounds import Nodes, Rounds
from ksolver_cli.plan.robust.worlds import Weights, World
from ksolver_cli.plan.search import CurvePoint, Interrupted, Progress, SearchOptions, SearchResult, never, silent
from ksolver_cli.verify.referee import judge, total_cost

NEAR = 0.99
"""A share of what the tightest snapshot leaves by itself that is good enough to end the search."""


@dataclass(frozen=True, slots=True)
class Held:
    """How the plan stands in one snapshot. Savings in micro-units an hour, at the newest snapshot's prices.

    `alone`: what the best plan found for this snapshot alone saves. `together`: the same for this and the newest one.
    None: the search was ended before. `blocked` and `given_back` count nodes of the newest snapshot's own plan: those
    that may not be removed here, and of the others those whose pods would not all find a place.
    """

    alone: int | None
    together: int | None
    blocked: int
    given_back: int | None
    moves: int
    """Pods that the plan would have moved here, in its reference replay."""
    replays: int
    """Replays here in which no pod pended; 0 where none of the plan's nodes was there."""
    binds: bool = False


@dataclass(frozen=True)
class _Start:
    """A first set of nodes, from the plan of one snapshot; `saving` is what that one leaves by itself."""

    saving: int
    index: int
    nodes: Nodes


@dataclass(frozen=True)
class Robust:
    """The plan as it is carried out on the newest snapshot, how it stands in each, and the nodes that may be removed in
    all of them: no plan that holds in all can take others. `worked_out`: whether what binds could be told.
    """

    found: SearchResult
    held: tuple[Held, ...]
    removable: Nodes
    worked_out: bool


def robust(
    worlds: Sequence[World],
    weights: Weights,
    limits: Limits,
    options: SearchOptions | None = None,
    watch: tuple[Progress, Interrupted] = (silent, never),
) -> Robust:
    """The best drain plan found that holds in every world; the first is the newest, and its nodes are the plan's.

    In each, no pod pends in any replay of draining those of the plan's nodes that were there, in an order of its own,
    and the referee accepts it. Equal input, seed and options give equal output unless interrupted.
    """
    return _Robust(worlds, weights, limits, options or SearchOptions(), watch).run()


class _Robust:
    def __init__(
        self,
        worlds: Sequence[World],
        weights: Weights,
        limits: Limits,
        options: SearchOptions,
        watch: tuple[Progress, Interrupted],
    ) -> None:
        self._worlds, self._weights = worlds, weights
        self._rounds = Rounds(worlds, weights, limits, options, watch)
        self._all = range(len(worlds))
        self._others = self._all[1:]
        self._base = worlds[0].removable(weights)
        self._joint = self._base
        for world in worlds[1:]:
            self._joint = world.lets_go(weights, self._joint)

    def run(self) -> Robust:
        rounds = self._rounds
        own = rounds.alone(0)
        wanted = frozenset(own.plan.nodes)
        alone = [own, *(None if rounds.is_over else rounds.alone(index) for index in self._others)]
        starts = [self._start(index, found) for index, found in enumerate(alone) if found is not None]
        best = self._best(starts)
        together = [None, *(self._together(index, wanted, best, alone[index]) for index in self._others)]
        held = [self._held(index, wanted, best, alone[index], together[index]) for index in self._all]
        found = replace(self._found(own, best), limited_by=rounds.limited_by)
        worked_out = all(saved is not None for saved in together[1:])
        told = _told(held, rounds.saving(best)) if worked_out else tuple(held)
        return Robust(found, told, self._joint, worked_out)

    def _start(self, index: int, found: SearchResult) -> _Start:
        """The plan of one snapshot, with all that it did without, as far as that may go in all."""
        nodes = frozenset(found.plan.nodes) | self._joint - self._worlds[index].names
        return _Start(self._rounds.saving(nodes), index, nodes & self._joint)

    def _best(self, starts: Sequence[_Start]) -> Nodes:
        """What holds in all: the plan of the tightest snapshot with what else it lets go; if that is not near what it
        would leave by itself, other first sets too, and with what the newest lets go besides.
        """
        first, *others = sorted(starts, key=lambda start: (start.saving, start.index))
        best = self._rounds.hold(first.nodes, self._all)
        if not self._is_enough(best, min(start.saving for start in starts)):
            best = self._better(best, self._rounds.grown(first.index, best, self._joint))
        # What may not go in all has had its chance to be made up for.
        wanted = min(self._rounds.saving(start.nodes) for start in starts)
        for nodes in self._sets(others):
            if self._is_enough(best, wanted):
                break
            best = self._better(best, nodes)
        if first.index and not self._is_enough(best, wanted):
            best = self._better(best, self._rounds.grown(0, best, self._joint))
        return best

    def _better(self, best: Nodes, nodes: Nodes) -> Nodes:
        """What all hold of a set where that saves more than the best, else the best."""
        saved = self._rounds.saving(best)
        return self._rounds.hold(nodes, self._all, saved) or best if self._rounds.saving(nodes) > saved else best

    def _is_enough(self, best: Nodes, wanted: int) -> bool:
        """Whether the search is to end: the set saves about what is wanted."""
        return self._rounds.is_over or self._rounds.saving(best) >= NEAR * wanted

    def _sets(self, starts: Sequence[_Start]) -> Iterator[Nodes]:
        """Further first sets, the last one found for the newest among nodes that may go in all."""
        yield from (start.nodes for start in starts)
        if self._joint != self._base:
            yield frozenset(self._rounds.alone(0, self._joint).plan.nodes)

    def _first(self, index: int, wanted: Nodes) -> Nodes:
        """Nodes of the newest snapshot's own plan that nothing keeps in another."""
        return self._worlds[index].lets_go(self._weights, wanted)

    def _together(self, index: int, wanted: Nodes, best: Nodes, alone: SearchResult | None) -> int | None:
        """What can be saved with this snapshot and the newest alone; never less than with all."""
        rounds, saved = self._rounds, self._rounds.saving(best)
        if saved >= rounds.saving(wanted):
            return saved
        if rounds.is_over or alone is None:
            return None
        if len(self._others) == 1:
            return saved
        both = self._first(index, self._base)
        own = (frozenset(alone.plan.nodes) | both - self._worlds[index].names) & both
        most = min(rounds.saving(own), rounds.saving(wanted))
        for nodes in (own, self._first(index, wanted)):
            if not rounds.is_over and saved < NEAR * most:
                saved = max(saved, rounds.saving(rounds.hold(nodes, (index, 0), saved)))
        return None if rounds.is_over else saved

    def _held(self, index: int, wanted: Nodes, best: Nodes, alone: SearchResult | None, together: int | None) -> Held:
        first = self._first(index, wanted)
        given_back = 0 if not index else self._given_back(index, first)
        here = best & self._worlds[index].names
        plan = self._rounds.result(index, here).plan if here else None
        return Held(
            alone=None if alone is None else max(map(self._rounds.saving, (alone.plan.nodes, here))),
            together=together,
            blocked=len(wanted - first),
            given_back=given_back,
            moves=sum(1 for move in plan.moves if move.source) if plan else 0,
            replays=plan.replays if plan else 0,
        )

    def _given_back(self, index: int, first: Nodes) -> int | None:
        """Nodes that a snapshot leaves of the newest one's own plan; None if nobody could look in time."""
        here = first & self._worlds[index].names
        if self._rounds.is_over and not self._rounds.has(index, here):
            return None
        given_back = len(first - self._rounds.left(index, first))
        return given_back if not given_back or not self._rounds.is_over else None

    def _found(self, own: SearchResult, best: Nodes) -> SearchResult:
        """The plan on the newest snapshot with all its costs, judged once more; the curve has its ends alone, since
        plans between them were not held to the other snapshots.
        """
        world = self._worlds[0]
        before = total_cost(self._weights, world.names) or 0
        saved = self._rounds.saving(best)
        if best == frozenset(own.plan.nodes):
            found = own
        elif not best:
            found = _judged(world, DrainPlan((), before, before), self._weights)
        else:
            plan = self._rounds.result(0, best).plan
            costs = replace(plan, cost_before_micros=before, cost_after_micros=before - saved)
            found = _judged(world, costs, self._weights)
        ends = (CurvePoint(0, 0, 0), CurvePoint(len(found.plan.moves), saved, len(best)))
        return replace(found, curve=ends if saved else ends[:1])


def _judged(world: World, plan: DrainPlan, weights: Weights) -> SearchResult:
    return SearchResult(plan, judge(world.cluster, plan, weights))


def _told(held: list[Held], best: int) -> tuple[Held, ...]:
    """The same with what binds: the snapshot that leaves least beside the newest; the newest where all leave it what it
    saves by itself. None does where only several together cost something.
    """
    newest, *others = held
    alone, least = newest.alone or 0, min(one.together or 0 for one in others)
    if least >= alone:
        return (replace(newest, binds=best >= alone), *others)
    return (newest, *(replace(one, binds=one.together == least) for one in others))
