"""Further nodes behind a drain, one after the other, each cordoned and removed by itself.

With hard spread over hosts a pod that is evicted can only come back once its old node is gone: a cordoned node stays a
domain, and an empty one. Such nodes cannot go while all of them are cordoned together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from ksolver_cli.constraints.budgets import Budgets
from ksolver_cli.plan.greedy import by_price_per_move, scarce_pods_first
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.one_by_one import Hop, OneByOne, Whereabouts
from ksolver_cli.plan.replay.run import SHUFFLE, Drain, Run

LARGEST = 300
"""Clusters above this size get no tail: each node of it is a wave of its own, and moves some pods a second time."""
PASSES = 2
"""Times that nodes which could not go are tried again after others went."""


@dataclass(frozen=True)
class Tail:
    """Nodes in the order in which they go, and where the pods of each went in the reference replay."""

    nodes: tuple[int, ...] = ()
    hops: tuple[tuple[Hop, ...], ...] = ()
    replays: int = 0

    @property
    def moves(self) -> int:
        """Evictions, counting a pod that moves twice twice."""
        return sum(map(len, self.hops))


NO_TAIL = Tail()


class TailSearch:
    """Finds a tail that holds under every seed, whatever order `kubectl drain` evicts the pods of a node in."""

    def __init__(self, prospects: Prospects, seeds: Sequence[int], interrupted: Callable[[], bool]) -> None:
        self._prospects = prospects
        self._seeds = seeds
        self._interrupted = interrupted
        self._budgets = Budgets(prospects.board.cluster)

    @property
    def is_worth_it(self) -> bool:
        """Whether any pod has hard spread, and the cluster is small enough to go node by node."""
        board = self._prospects.board
        return len(board.cluster.nodes) <= LARGEST and any(m.spread for m in board.movers.values())

    def behind(self, drain: Drain, most_moves: int | None, among: Sequence[int] | None = None) -> Tail:
        """Nodes (of `among`, else any removable one) that can go after the drain, within so many evictions."""
        run, drains, _ = self._start(drain, self._seeds[0], 0.0)
        if not run.is_clean:
            return NO_TAIL
        wanted = [n for n in by_price_per_move(self._prospects) if n not in drain.nodes]
        wanted = wanted if among is None else [n for n in wanted if n in set(among)]
        nodes: list[int] = []
        for _ in range(PASSES):
            for node in [n for n in wanted if n not in nodes]:
                room = None if most_moves is None else most_moves - len(drains.whereabouts.at[node])
                if self._interrupted() or (room is not None and room < 0):
                    continue
                hops = self._drained(drains, run, node)
                if hops is not None:
                    nodes.append(node)
                    most_moves = None if most_moves is None else most_moves - len(hops)
        return self._held(drain, nodes)

    def _held(self, drain: Drain, nodes: list[int]) -> Tail:
        """Nodes are left out until the rest goes under every seed."""
        while nodes and not self._interrupted():
            ways = [(seed, together) for seed in self._seeds for together in (False, True)]
            played = (self._play(drain, nodes, seed, together) for seed, together in ways)
            failed = next((node for node, _ in played if node is not None), None)
            if failed is None:
                failed, hops = self._play(drain, nodes, self._seeds[0], None)
                if failed is None:
                    return Tail(tuple(nodes), hops, len(ways))
            nodes = [node for node in nodes if node != failed]
        return NO_TAIL

    def _play(
        self, drain: Drain, nodes: Sequence[int], seed: int, together: bool | None
    ) -> tuple[int | None, tuple[tuple[Hop, ...], ...]]:
        """The node that could not go (the last where the drain itself did not hold), and where pods went.

        In the order planned where `together` is None; else shuffled, one after the other or all at once.
        """
        run, drains, random = self._start(drain, seed, SHUFFLE if drain.steps and together is not None else 0.0)
        found: list[tuple[Hop, ...]] = []
        for node in nodes if run.is_clean else ():
            hops = self._drained(drains, run, node, None if together is None else random, together=bool(together))
            if hops is None:
                return node, ()
            found.append(hops)
        return (None, tuple(found)) if run.is_clean else (nodes[-1], ())

    def _start(self, drain: Drain, seed: int, jitter: float) -> tuple[Run, OneByOne, Random]:
        prospects = self._prospects
        run, scheduler = prospects.replayer.play(drain, seed, jitter)
        where = Whereabouts.today(prospects.pods_on)
        for index, target in zip(run.order.tolist(), run.targets.tolist(), strict=True):
            where.hop(int(prospects.board.pod_node[index]), [(index, target)])
        return run, OneByOne(prospects.board, scheduler, where, self._budgets), Random(seed)  # noqa: S311 - a shuffle

    def _drained(
        self, drains: OneByOne, run: Run, node: int, random: Random | None = None, *, together: bool = False
    ) -> tuple[Hop, ...] | None:
        """Drain one node; one that took a pod which was pending before is left alone."""
        if node in run.newcomers.values():
            return None
        order = scarce_pods_first(drains, node)
        if random is not None:
            random.shuffle(order)
        return drains.drain(node, order, together=together)
