"""Drain nodes one after the other on a running replay, each removed before the next; undone where a pod pends on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ksolver_cli.constraints.budgets import Budgets
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.mover import Mover
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.replay.scheduler import NO_NODE, Scheduler

Hop = tuple[int, int]
"""A pod (index of the board) and the node that it came to."""


@dataclass(eq=False)
class Whereabouts:
    """Which pods that could be evicted are on each node now, and which of all pods have moved."""

    at: list[list[int]]
    moved: set[int]

    @classmethod
    def today(cls, pods_on: Iterable[IntArray]) -> "Whereabouts":
        """Nothing has moved yet."""
        return cls([row.tolist() for row in pods_on], set())

    def hop(self, source: int, hops: Iterable[Hop]) -> None:
        """Pods left this node and came to others."""
        for index, target in hops:
            self.at[source].remove(index)
            self.at[target].append(index)
            self.moved.add(index)


class OneByOne:
    """Drains single nodes. With budgets, pods may wait until their node is gone; without, each must find one then."""

    def __init__(
        self, board: Board, scheduler: Scheduler, whereabouts: Whereabouts, budgets: Budgets | None = None
    ) -> None:
        """The scheduler is one of a single trial."""
        self._board = board
        self._scheduler = scheduler
        self._trials = scheduler.now.ids
        self._budgets = budgets
        self.whereabouts = whereabouts

    def drain(self, node: int, order: Sequence[int], *, together: bool = False) -> tuple[Hop, ...] | None:
        """Cordon the node, evict its pods in this order and remove it; where each went, or None and nothing changed.

        With `together` all have left before the first comes back, as may be when they end faster than others start.
        """
        now = self._scheduler.now
        before = bool(now.cordoned[node]), bool(now.tainted[node])
        now.cordon((node,))
        hops: list[Hop] = []
        waiting = self._leave_all(node, order) if together else self._evict(node, order, hops)
        if not waiting or together or self._may_wait(waiting, order):
            self._board.remove_node(now, node)
            self._scheduler.reorder()
            waiting = self._place_late(waiting, hops)
            if not waiting and len(hops) == len(order):
                self.whereabouts.hop(node, hops)
                return tuple(hops)
            self._board.restore_node(now, node)
            self._scheduler.reorder()
        self._undo(node, hops, waiting)
        now.cordoned[node], now.tainted[node] = before
        return None

    def mover(self, index: int) -> Mover:
        """What the pod asks of nodes."""
        return self._board.movers[int(self._board.pod_class[index])]

    def _evict(self, node: int, order: Sequence[int], hops: list[Hop]) -> list[int]:
        """Evict pod by pod; those that find no node, of which the first ends it where none may wait."""
        waiting: list[int] = []
        for index in order:
            self._leave(index, node)
            if not self._place(index, hops, node):
                waiting.append(index)
                if self._budgets is None:
                    break
        return waiting

    def _leave_all(self, node: int, order: Sequence[int]) -> list[int]:
        for index in order:
            self._leave(index, node)
        return list(order)

    def _place(self, index: int, hops: list[Hop], source: int | None = None) -> bool:
        pod_class = int(self._board.pod_class[index])
        crew = self._board.crew([pod_class])
        target = int(self._scheduler.choose(crew, [self._board.reborn(index)], self._trials)[0])
        if target in (NO_NODE, source):
            return False
        self._come(index, target)
        hops.append((index, target))
        return True

    def _place_late(self, waiting: list[int], hops: list[Hop]) -> list[int]:
        """Place what waited, as long as any of it can be; what is left over."""
        progress = True
        while waiting and progress:
            left = [index for index in waiting if not self._place(index, hops)]
            progress = len(left) < len(waiting)
            waiting = left
        return waiting

    def _may_wait(self, waiting: Sequence[int], order: Sequence[int]) -> bool:
        """Whether every budget lets all its pods on the node go while none of their replacements is ready.

        A pod that goes to cordoned nodes would come back to this one until it is gone: no drain of it ends.
        """
        if self._budgets is None or any(self.mover(index).tolerates_cordon for index in waiting):
            return False
        pods = [self._board.pods[index] for index in order]
        for state in {b.key: b for index in waiting for b in self._budgets.of(self._board.pods[index])}.values():
            charged = sum(state in self._budgets.of(pod) and not state.is_free(pod) for pod in pods)
            if charged > state.allowed:
                return False
        return True

    def _undo(self, node: int, hops: Sequence[Hop], waiting: Sequence[int]) -> None:
        for index, target in reversed(hops):
            self._leave(index, target)
            self._come(index, node)
        for index in waiting:
            self._come(index, node)

    def _is_home(self, index: int, node: int) -> bool:
        return node == self._board.pod_node[index] and index not in self.whereabouts.moved

    def _leave(self, index: int, node: int) -> None:
        now, where = self._scheduler.now, np.array([node])
        if self._is_home(index, node):
            self._board.leave(now, self._trials, np.array([index]), where)
        else:
            self._board.depart(now, self._board.pod_class[[index]], self._trials, where)
        for checker in self._scheduler.checkers:
            checker.remove(self._board.pods[index])

    def _come(self, index: int, node: int) -> None:
        board, now, where = self._board, self._scheduler.now, np.array([node])
        home = self._is_home(index, node)
        if home:
            board.back(now, self._trials, np.array([index]), where)
        else:
            board.arrive(now, board.pod_class[[index]], self._trials, where)
        for checker in self._scheduler.checkers:
            checker.add(board.pods[index] if home else board.reborn(index), board.cluster.nodes[node].name)
