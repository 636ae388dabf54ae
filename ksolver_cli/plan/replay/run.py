"""Replay a drain: cordon, evict pod by pod, let the scheduler choose, remove nodes wave by wave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

from ksolver_cli.plan.replay.exotic import Checker, exotic_pods
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.replay.scheduler import NO_NODE, Scheduler

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
    """How one replay went: the node that each evicted pod came to (`NO_NODE` where none), in the drain's order of pods.

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


CELLS = 2**25
"""Numbers that the trials in step may hold at a time: a quarter of a gigabyte."""

Trial = tuple[int, float]
"""Seed and jitter of a replay; `jitter` moves each eviction by up to that many places, `SHUFFLE` mixes each step."""


class Replayer:
    """Runs drains on a board, each from today's occupancy."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._exotic = exotic_pods(board.cluster) if any(m.needs_check for m in board.movers.values()) else None

    @property
    def most(self) -> int:
        """Trials that may run in step: more would hold too many numbers."""
        return max(1, CELLS // self.board.start.width)

    def run(self, drain: Drain, seed: int, jitter: float = 0.0, give_up_after: int | None = None) -> Run:
        """Replay one trial; it stops, incomplete, once more than `give_up_after` pods have pended."""
        return self.runs(drain, [(seed, jitter)], give_up_after)[0]

    def play(self, drain: Drain, seed: int, jitter: float = 0.0) -> tuple[Run, Scheduler]:
        """One trial, with the scheduler as it stands at the end, for whatever comes next."""
        runs, scheduler = self.plays(drain, [(seed, jitter)])
        return runs[0], scheduler

    def runs(self, drain: Drain, trials: Sequence[Trial], give_up_after: int | None = None) -> list[Run]:
        """Replay many trials in step, each as it would go alone.

        All stop, incomplete, once more than `give_up_after` pods have pended in all of them together.
        """
        runs: list[Run] = []
        for first in range(0, len(trials), self.most):
            left = None if give_up_after is None else give_up_after - sum(len(run.pended) for run in runs)
            runs += self.plays(drain, trials[first : first + self.most], left)[0]
        return runs

    def plays(
        self, drain: Drain, trials: Sequence[Trial], give_up_after: int | None = None
    ) -> tuple[list[Run], Scheduler]:
        """The same for no more than `most` trials, with the scheduler as it stands at the end."""
        scheduler = self.scheduler(drain.nodes, [seed for seed, _ in trials])
        stage = _Stage(self.board, scheduler, np.array([jittered(drain, jitter, seed) for seed, jitter in trials]))
        stage.welcome()
        complete = stage.drain(drain.removals, give_up_after)
        return stage.runs(complete=complete), scheduler

    def scheduler(self, cordoned: Sequence[int], seeds: Sequence[int]) -> Scheduler:
        """A scheduler at today's occupancy for these trials, with these nodes cordoned."""
        board = self.board
        now = board.start.copy(len(seeds))
        now.cordon(cordoned)
        checkers: list[Checker] = []
        if self._exotic is not None:
            names = [board.cluster.nodes[n].name for n in cordoned]
            checkers = [Checker(board.cluster, self._exotic, names) for _ in seeds]
        return Scheduler(board, now, seeds, checkers)


class _Stage:
    """The moving parts of some trials of one drain: at each position each evicts the pod that its order has there."""

    def __init__(self, board: Board, scheduler: Scheduler, orders: IntArray) -> None:
        self._board = board
        self._scheduler = scheduler
        self._trials = scheduler.now.ids
        self._orders = orders
        self._by_position: IntArray = orders.T.copy()
        self._kinds: IntArray = board.kinds[board.pod_class[orders]]
        self._alike: list[bool] = (self._kinds == self._kinds[:1]).all(axis=0).tolist()
        self._targets = np.full(orders.shape, NO_NODE, dtype=np.intp)
        self._newcomers: list[dict[str, int]] = [{} for _ in orders]
        self._homeless: list[list[str]] = [[] for _ in orders]
        self._pended: list[list[int]] = [[] for _ in orders]
        self._waiting: list[list[int]] = [[] for _ in orders]

    def runs(self, *, complete: bool) -> list[Run]:
        """What came of each trial."""
        left = self._waiting if complete else [[] for _ in self._waiting]
        stuck = [self._orders[t, w].tolist() for t, w in enumerate(left)]
        found = zip(self._orders, self._targets, self._newcomers, self._homeless, self._pended, stuck, strict=True)
        return [Run(o, t, new, homeless, pended, s, complete) for o, t, new, homeless, pended, s in found]

    def welcome(self) -> None:
        """Place the pending pods that fit today."""
        board, scheduler = self._board, self._scheduler
        for pod in board.waiting:
            pod_class = board.classes.pod_class_of[pod.key]
            crew, pods = board.crew([pod_class]), [pod] * len(self._trials)
            nodes = scheduler.choose(crew, pods, self._trials)
            scheduler.arrive(crew, pods, self._trials, nodes)
            for trial, node in enumerate(nodes.tolist()):
                if node < 0:
                    self._homeless[trial].append(pod.key)
                else:
                    self._newcomers[trial][pod.key] = node

    def drain(self, removals: Sequence[tuple[int, tuple[int, ...]]], give_up_after: int | None) -> bool:
        """Evict and remove in turn; whether it came to the end."""
        done = pended = 0
        for end, gone in removals:
            for position in range(done, end):
                pended += self._evict(position)
                if give_up_after is not None and pended > give_up_after:
                    return False
            done = end
            self._remove(gone)
        return True

    def _evict(self, position: int) -> int:
        """Evict the pod at this position of each order and place its replacement; how many found no node."""
        if self._alike[position]:
            return self._evict_alike(position, self._trials)
        kinds = self._kinds[:, position]
        return sum(self._evict_alike(position, group) for group in _groups(kinds, self._trials))

    def _evict_alike(self, position: int, trials: IntArray) -> int:
        every = len(trials) == len(self._trials)
        pods = self._by_position[position] if every else self._by_position[position].take(trials)
        self._scheduler.leave(trials, pods)
        nodes = self._place(pods, trials)
        self._targets[trials, position] = nodes
        lost = (nodes < 0).nonzero()[0].tolist()
        for row in lost:
            self._pended[trials[row]].append(int(pods[row]))
            self._waiting[trials[row]].append(position)
        return len(lost)

    def _place(self, pods: IntArray, trials: IntArray) -> IntArray:
        """Place a pod in each of these trials, all of one kind; `NO_NODE` where there is no node for it."""
        board, scheduler = self._board, self._scheduler
        classes = board.pod_class[pods].tolist()
        crew = board.crew(classes)
        reborn = [board.reborn(index) for index in pods.tolist()] if crew.lead.needs_check else ()
        nodes = scheduler.choose(crew, reborn, trials)
        scheduler.arrive(crew, reborn, trials, nodes)
        return nodes

    def _remove(self, nodes: Sequence[int]) -> None:
        """Remove nodes; pods that wait are tried again."""
        self._scheduler.remove(nodes)
        for turn in range(max(map(len, self._waiting))):
            trials = np.array([t for t, w in enumerate(self._waiting) if turn < len(w)], dtype=np.intp)
            places = np.array([self._waiting[t][turn] for t in trials], dtype=np.intp)
            for rows in _groups(self._kinds[trials, places], np.arange(len(trials))):
                group, there = trials[rows], places[rows]
                self._targets[group, there] = self._place(self._orders[group, there], group)
        self._waiting = [[p for p in w if self._targets[t, p] < 0] for t, w in enumerate(self._waiting)]


def _groups(kinds: IntArray, rows: IntArray) -> list[IntArray]:
    """Rows by their kind."""
    found: dict[int, list[int]] = {}
    for row, kind in zip(rows.tolist(), kinds.tolist(), strict=True):
        found.setdefault(kind, []).append(row)
    return [np.array(group, dtype=np.intp) for group in found.values()]


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
