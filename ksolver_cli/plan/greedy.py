"""A first set of nodes to remove: one node after the other, taken back when a pod would pend."""

from collections.abc import Callable, Sequence

import numpy as np

from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.exotic import Checker, exotic_pods
from ksolver_cli.plan.replay.mover import Mover
from ksolver_cli.plan.replay.scheduler import Scheduler


class Greedy:
    """Drains nodes on a running replay; what it finds is a set, its order and placement are worked out elsewhere."""

    def __init__(self, prospects: Prospects, seed: int) -> None:
        self._prospects = prospects
        board = prospects.board
        needs_check = any(m.needs_check for m in board.movers.values())
        checker = Checker(board.cluster, exotic_pods(board.cluster)) if needs_check else None
        self._scheduler = Scheduler(board, board.start.copy(), seed, checker)
        self._at = [list(map(int, row)) for row in prospects.pods_on]
        self._moved: set[int] = set()
        self.removed: list[int] = []

    def run(self, order: Sequence[int], interrupted: Callable[[], bool]) -> list[int]:
        """Nodes of this order that could be emptied, one after the other."""
        for node in order:
            if interrupted():
                break
            self._drain(int(node))
        return self.removed

    def _drain(self, node: int) -> None:
        scheduler, board = self._scheduler, self._prospects.board
        was_cordoned = bool(scheduler.now.cordoned[node])
        scheduler.now.cordoned[node] = True
        pods = sorted(self._at[node], key=lambda i: (self._choices(i), -self._mover(i).cpu, i))
        done: list[tuple[int, int]] = []
        for index in pods:
            self._leave(index, node)
            target = scheduler.choose(self._mover(index), board.reborn(index))
            if target is None or target == node:
                self._come(index, node)
                self._undo(done, node)
                scheduler.now.cordoned[node] = was_cordoned
                return
            self._come(index, target)
            done.append((index, target))
        for index, target in done:
            self._at[target].append(index)
            self._moved.add(index)
        self._at[node] = []
        self.removed.append(node)
        board.remove_node(scheduler.now, node, [board.pods[i] for i in board.residents[node]])
        scheduler.reorder()

    def _mover(self, index: int) -> Mover:
        board = self._prospects.board
        return board.movers[int(board.pod_class[index])]

    def _choices(self, index: int) -> int:
        return int(np.count_nonzero(self._mover(index).allowed))

    def _undo(self, done: list[tuple[int, int]], node: int) -> None:
        for index, target in reversed(done):
            self._leave(index, target)
            self._come(index, node)

    def _leave(self, index: int, node: int) -> None:
        board, now = self._prospects.board, self._scheduler.now
        if node == board.pod_node[index] and index not in self._moved:
            board.leave(now, index, node)
        else:
            board.depart(now, self._mover(index), node)
        if self._scheduler.checker is not None:
            self._scheduler.checker.remove(board.pods[index])

    def _come(self, index: int, node: int) -> None:
        board, now = self._prospects.board, self._scheduler.now
        home = node == board.pod_node[index] and index not in self._moved
        if home:
            board.back(now, index, node)
        else:
            board.arrive(now, self._mover(index), node)
        if self._scheduler.checker is not None:
            pod = board.pods[index] if home else board.reborn(index)
            self._scheduler.checker.add(pod, board.cluster.nodes[node].name)


def by_price_per_move(prospects: Prospects) -> list[int]:
    """Removable nodes, those first that save most for each pod moved (weighted), empty ones before all."""
    nodes = np.flatnonzero(prospects.removable)
    weight = np.array([int(prospects.weight[prospects.pods_on[n]].sum()) for n in nodes], dtype=np.float64)
    rate = prospects.price[nodes] / (weight + 0.01)
    return [int(n) for n in nodes[np.lexsort((nodes, -rate))]]


def by_utilisation(prospects: Prospects) -> list[int]:
    """Removable nodes, the least requested (by their dominant resource) first."""
    board = prospects.board
    nodes = np.flatnonzero(prospects.removable)
    offered = np.maximum(board.allocatable[:2, nodes], 1.0)
    used = 1.0 - board.start.cells[:2, nodes] / offered
    return [int(n) for n in nodes[np.lexsort((nodes, used.max(axis=0)))]]
