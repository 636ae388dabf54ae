"""Replay a drain: cordon, evict pod by pod, let the scheduler choose, remove nodes wave by wave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from ksolver_cli.domain.pod import Pod
from ksolver_cli.plan.replay.exotic import Checker, exotic_pods
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.replay.scheduler import Scheduler

SHUFFLE = float("inf")
"""A jitter that mixes all evictions of a step."""


@dataclass(frozen=True, eq=False)
class Drain:
    """What is to be replayed: nodes cordoned up front, pods (indices of the board) in order of eviction, and after how
    many evictions which nodes are removed.
    """

    nodes: tuple[int, ...]
    order: IntArray
    removals: tuple[tuple[int, tuple[int, ...]], ...]
    node_of: tuple[int, ...] = ()
    """Node that each pod of the order leaves."""
    steps: tuple[int, ...] = ()
    """Ends of the groups of evictions inside which the order is free; empty where none is."""


@dataclass(eq=False)
class Run:
    """How one replay went: the node that each evicted pod came to (−1 where none), in the drain's order of pods.

    `pended` are pods that found no node at once; `stuck` those that still have none at the end.
    """

    order: IntArray
    targets: IntArray
    newcomers: dict[str, int] = field(default_factory=dict)
    """Pending pods that were placed first, and where."""
    homeless: list[str] = field(default_factory=list)
    """Pending pods that fit before the drain and found no node in it."""
    pended: list[int] = field(default_factory=list)
    stuck: list[int] = field(default_factory=list)
    complete: bool = True

    @property
    def is_clean(self) -> bool:
        """Whether the run went through and every pod found a node at once."""
        return self.complete and not self.pended and not self.homeless


class Replayer:
    """Runs drains on a board, each from today's occupancy."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._exotic = exotic_pods(board.cluster) if any(m.needs_check for m in board.movers.values()) else None

    def run(self, drain: Drain, seed: int, jitter: float = 0.0, give_up_after: int | None = None) -> Run:
        """Replay under one seed; `jitter` moves each eviction by up to that many places, `SHUFFLE` mixes each step.

        The run stops, incomplete, once more than `give_up_after` pods have pended.
        """
        return self.play(drain, seed, jitter, give_up_after)[0]

    def play(
        self, drain: Drain, seed: int, jitter: float = 0.0, give_up_after: int | None = None
    ) -> tuple[Run, Scheduler]:
        """The same, with the scheduler as it stands at the end, for whatever comes next."""
        scheduler = self.scheduler(drain.nodes, seed)
        order = jittered(drain, jitter, seed)
        run = Run(order, np.full(len(order), -1, dtype=np.intp))
        stage = _Stage(self, scheduler, run)
        stage.welcome()
        done = 0
        for end, gone in drain.removals:
            for position in range(done, end):
                stage.evict(position)
                if give_up_after is not None and len(run.pended) > give_up_after:
                    run.complete = False
                    return run, scheduler
            done = end
            stage.remove(gone)
        run.stuck = [int(order[p]) for p in stage.waiting]
        return run, scheduler

    def scheduler(self, cordoned: Sequence[int], seed: int) -> Scheduler:
        """A scheduler at today's occupancy, with these nodes cordoned."""
        board = self.board
        now = board.start.copy()
        now.cordon(cordoned)
        checker = None
        if self._exotic is not None:
            names = (board.cluster.nodes[n].name for n in cordoned)
            checker = Checker(board.cluster, self._exotic, names)
        return Scheduler(board, now, seed, checker)


class _Stage:
    """The moving parts of one run."""

    def __init__(self, replayer: Replayer, scheduler: Scheduler, run: Run) -> None:
        self._board = replayer.board
        self._scheduler = scheduler
        self._run = run
        self.waiting: list[int] = []

    def welcome(self) -> None:
        """Place the pending pods that fit today."""
        board, scheduler = self._board, self._scheduler
        for pod in board.waiting:
            mover = board.movers[board.classes.pod_class_of[pod.key]]
            node = scheduler.choose(mover, pod)
            if node is None:
                self._run.homeless.append(pod.key)
                continue
            board.arrive(scheduler.now, mover, node)
            self._run.newcomers[pod.key] = node
            if scheduler.checker is not None:
                scheduler.checker.add(pod, board.cluster.nodes[node].name)

    def evict(self, position: int) -> None:
        """Evict the pod at this position of the order and place its replacement, or let it wait."""
        board, index = self._board, int(self._run.order[position])
        board.leave(self._scheduler.now, index, int(board.pod_node[index]))
        checker = self._scheduler.checker
        if checker is not None:
            checker.remove(board.pods[index])
        if not self._place(position):
            self._run.pended.append(index)
            self.waiting.append(position)

    def _place(self, position: int) -> bool:
        board, index = self._board, int(self._run.order[position])
        mover = board.movers[int(board.pod_class[index])]
        pod = board.reborn(index)
        node = self._scheduler.choose(mover, pod)
        if node is None:
            return False
        board.arrive(self._scheduler.now, mover, node)
        self._run.targets[position] = node
        if self._scheduler.checker is not None:
            self._scheduler.checker.add(pod, board.cluster.nodes[node].name)
        return True

    def remove(self, nodes: Sequence[int]) -> None:
        """Remove nodes; pods that wait are tried again."""
        board, now = self._board, self._scheduler.now
        for node in nodes:
            board.remove_node(now, node, self._left(node))
            if self._scheduler.checker is not None:
                self._scheduler.checker.remove_node(board.cluster.nodes[node].name)
        if nodes:
            self._scheduler.reorder()
        self.waiting = [p for p in self.waiting if not self._place(p)]

    def _left(self, node: int) -> list[Pod]:
        return [self._board.pods[i] for i in self._board.residents[node]]


def jittered(drain: Drain, jitter: float, seed: int) -> IntArray:
    """The order with each pod moved back by up to `jitter` places, within its wave."""
    if not jitter:
        return drain.order
    if jitter == SHUFFLE:
        return drain.order[shuffled(drain, seed)]
    random = Random(seed * 7919 + 1)  # noqa: S311 - a shuffle, no secret
    count = len(drain.order)
    keys = np.arange(count) + np.array([random.uniform(0.0, jitter) for _ in range(count)])
    wave = np.searchsorted([end for end, _ in drain.removals], np.arange(count), side="right")
    return drain.order[np.lexsort((keys, wave))]


def shuffled(drain: Drain, seed: int) -> IntArray:
    """Places of the order, each step mixed as `kubectl drain` would: node by node, the pods of one in any order."""
    random = Random(seed * 7919 + 2)  # noqa: S311 - a shuffle, no secret
    count = len(drain.order)
    node_rank = list(range(len(drain.nodes)))
    random.shuffle(node_rank)
    rank_of = dict(zip(drain.nodes, node_rank, strict=True))
    step = np.searchsorted(np.array(drain.steps, dtype=np.intp), np.arange(count), side="right")
    rank = [rank_of[drain.node_of[p]] for p in range(count)]
    return np.lexsort((np.array([random.random() for _ in range(count)]), np.array(rank), step))
