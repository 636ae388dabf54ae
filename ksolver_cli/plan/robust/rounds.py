"""Searches in several worlds: each alone, and round after round until one set of nodes holds in all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import cycle

from ksolver_cli.domain.plan import Limits
from ksolver_cli.plan.clock import Clock
from ksolver_cli.plan.robust.worlds import Weights, World
from ksolver_cli.plan.search import Interrupted, Progress, SearchOptions, SearchResult, search

ALONE = 0.7
"""Share of the time guard for the searches of each world alone; what is left is for making sets hold in all."""
STRONGEST = ("interrupt", "time", "work")

Nodes = frozenset[str]


class Rounds:
    """Searches, each made once. The world of index 0 is the newest: the move budget counts pods there."""

    def __init__(
        self,
        worlds: Sequence[World],
        weights: Weights,
        limits: Limits,
        options: SearchOptions,
        watch: tuple[Progress, Interrupted],
    ) -> None:
        self._worlds, self._weights, self._limits = worlds, weights, limits
        self._options = replace(options, curve=False, planned=())
        self._progress, interrupted = watch
        self._clock = Clock(limits.seconds, interrupted)
        self._known: dict[tuple[int, Nodes], SearchResult] = {}
        self._ends: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether the time is up or an end is wanted: what is under way is brought home, nothing new is begun."""
        return self._clock.is_over()

    @property
    def limited_by(self) -> str | None:
        """What ended any of the searches early."""
        return next((end for end in STRONGEST if end in self._ends), None)

    def saving(self, nodes: Iterable[str]) -> int:
        """What these nodes of the newest snapshot cost."""
        return sum(self._weights[name] or 0 for name in nodes)

    def alone(self, index: int, within: Nodes | None = None) -> SearchResult:
        """The best plan of one world, as if there were no other; with `within` it takes of these nodes only."""
        guard = self._limits.seconds * ALONE / len(self._worlds)
        found = self._search(index, self._worlds[index].weights(self._weights, within), (), guard)
        self._known[index, frozenset(found.plan.nodes)] = found
        return found

    def grown(self, index: int, nodes: Nodes, within: Nodes) -> Nodes:
        """The set with what one world could let go besides, of `within`."""
        world = self._worlds[index]
        here = nodes & world.names
        result = self._search(index, world.weights(self._weights, within), tuple(sorted(here)), self._limits.seconds)
        return nodes - here | frozenset(result.plan.nodes)

    def left(self, index: int, nodes: Nodes) -> Nodes:
        """What one world leaves of a set: no pod pends in any replay, and the referee agrees.

        Nodes that are not there stay in the set: that world did without them.
        """
        here = nodes & self._worlds[index].names
        return nodes - here | frozenset(self.result(index, here).plan.nodes) if here else nodes

    def has(self, index: int, here: Nodes) -> bool:
        """Whether `result` is known already."""
        return not here or (index, here) in self._known

    def result(self, index: int, here: Nodes) -> SearchResult:
        """The plan of one world that removes these of its nodes, or what is left of them."""
        known = self._known.get((index, here))
        if known is None:
            weights = self._worlds[index].weights(self._weights, here)
            known = self._search(index, weights, tuple(sorted(here)), self._limits.seconds)
            self._known[index, here] = known
            # What is left holds by this very plan; looked at afresh, it might be settled otherwise.
            self._known[index, frozenset(known.plan.nodes)] = known
        return known

    def hold(self, nodes: Nodes, among: Sequence[int], floor: int = -1) -> Nodes:
        """What is left of a set once every world among these leaves it as it is; nothing once that saves no more than
        `floor`. It ends, since the set only shrinks.
        """
        calm = 0
        for index in cycle(among):
            left = self.left(index, nodes)
            calm = calm + 1 if left == nodes else 1
            nodes = left
            if self.saving(nodes) <= floor:
                return frozenset()
            if calm >= len(among):
                break
        return nodes

    def _search(
        self, index: int, weights: Mapping[str, int | None], planned: tuple[str, ...], seconds: float
    ) -> SearchResult:
        world = self._worlds[index]
        options = replace(self._options, planned=planned)
        if index and planned:
            # The plan is carried out on the newest; only there are its moves made.
            options = replace(options, move_budget=None)
        limits = replace(self._limits, seconds=min(seconds, self._clock.left()))
        where = f"snapshot {index + 1} of {len(self._worlds)}"

        def tell(what: str, share: float) -> None:
            self._progress(f"{where}: {what}", share * 0.6)

        found = search(world.cluster, world.classes, weights, limits, options, (tell, self._clock.is_over))
        if found.limited_by:
            self._ends.add(found.limited_by)
        return found
