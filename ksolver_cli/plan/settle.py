"""Make a set of nodes drainable: reorder evictions while that helps, then give nodes back until nothing pends."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ksolver_cli.plan.order import Ordering
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.run import Drain, Run
from ksolver_cli.plan.waves import in_waves

ROUNDS = 10
"""Times the order is changed for one set of nodes before a node is given back."""
PROBES = 2
"""Replays a round."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Nodes, and an order of evictions under which nothing pended in the replays that were made."""

    nodes: tuple[int, ...]
    drain: Drain
    replays: int
    reference: Run | None = None
    """The first exact replay."""


@dataclass(frozen=True, slots=True)
class Trials:
    """How sure a set must be: so many exact and so many jittered replays without a pod pending."""

    exact: int = 12
    jittered: int = 12
    jitter: float = 5.0
    waves: int = 8
    seed: int = 0

    def all(self) -> list[tuple[int, float]]:
        """(seed, jitter) of every replay, exact and jittered in turn."""
        exact = [(self.seed * 1000 + i, 0.0) for i in range(self.exact)]
        jittered = [(self.seed * 1000 + 500 + i, self.jitter) for i in range(self.jittered)]
        longest = max(len(exact), len(jittered))
        return [pair for i in range(longest) for pair in (*exact[i : i + 1], *jittered[i : i + 1])]


class Settler:
    """Settles node sets on one board."""

    def __init__(self, prospects: Prospects, trials: Trials, interrupted: Callable[[], bool]) -> None:
        self._prospects = prospects
        self._trials = trials
        self._interrupted = interrupted

    def settle(self, nodes: Sequence[int], *, free_last: bool = False) -> Settled | None:
        """A set within `nodes` that holds under every trial; None when interrupted before that."""
        left = sorted(nodes)
        while left:
            if self._interrupted():
                return None
            ordering = Ordering(self._prospects, left, free_last=free_last)
            settled, pended = self._reorder(left, ordering)
            if settled is not None:
                return settled
            back = self._give_back(left, pended)
            left = [n for n in left if n not in back]
        return self.nothing()

    def nothing(self) -> Settled:
        """The plan that removes nothing and moves nothing."""
        return Settled((), in_waves(self._prospects, (), np.zeros(0, dtype=np.intp), 1), 0)

    def _reorder(self, nodes: list[int], ordering: Ordering) -> tuple[Settled | None, Counter[int]]:
        """Squeaky wheel: classes that pended come first. The pods that pended in the best round otherwise."""
        best: Counter[int] | None = None
        for round_ in range(ROUNDS):
            order = ordering.order()
            drain = in_waves(self._prospects, nodes, order, self._trials.waves)
            reference, pended, done = self._try(drain)
            if reference is not None:
                return Settled(tuple(nodes), drain, done, reference), Counter()
            if best is None or pended.total() < best.total():
                best = pended
            if self._interrupted() or round_ == ROUNDS - 1 or not ordering.promote(pended.elements()):
                break
        return None, best or Counter()

    def _try(self, drain: Drain) -> tuple[Run | None, Counter[int], int]:
        """Replay until a pod pends: the first run when none did, what pended, and the replays without any."""
        reference: Run | None = None
        for done, (seed, jitter) in enumerate(self._trials.all()):
            run = self._prospects.replayer.run(drain, seed, jitter)
            if not run.is_clean:
                return None, self._pended(run), done
            reference = reference or run
        return reference, Counter(), len(self._trials.all())

    def _pended(self, run: Run) -> Counter[int]:
        return Counter(run.pended)

    def _give_back(self, nodes: list[int], pended: Counter[int]) -> set[int]:
        """The node that would take the most of what pended per dollar, its own pods staying where they are."""
        board, prospects = self._prospects.board, self._prospects
        best, best_rate = nodes[-1], -1.0
        for node in nodes:
            own = sum(times for pod, times in pended.items() if board.pod_node[pod] == node)
            room = board.start.cells[: len(board.shape.resources), node].copy()
            taken = 0
            for pod, times in pended.items():
                mover = board.movers[int(board.pod_class[pod])]
                if board.pod_node[pod] == node or not mover.allowed[node]:
                    continue
                asked = -mover.delta[: len(room)]
                if (asked <= room).all():
                    room -= asked
                    taken += times
            rate = (own + taken) / max(int(prospects.price[node]), 1)
            if rate > best_rate:
                best, best_rate = node, rate
        return {best}
