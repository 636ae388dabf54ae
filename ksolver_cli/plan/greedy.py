"""A first set of nodes to remove: one node after the other, taken back when a pod would pend."""

from collections.abc import Callable, Sequence

import numpy as np

from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.one_by_one import OneByOne, Whereabouts


class Greedy:
    """Drains nodes on a running replay; what it finds is a set, its order and placement are worked out elsewhere."""

    def __init__(self, prospects: Prospects, seed: int) -> None:
        board = prospects.board
        scheduler = prospects.replayer.scheduler((), [seed])
        self._drains = OneByOne(board, scheduler, Whereabouts.today(prospects.pods_on))

    def run(self, order: Sequence[int], interrupted: Callable[[], bool]) -> list[int]:
        """Nodes of this order that could be emptied, one after the other."""
        removed = []
        for node in order:
            if interrupted():
                break
            if self._drains.drain(int(node), scarce_pods_first(self._drains, int(node))) is not None:
                removed.append(int(node))
        return removed


def scarce_pods_first(drains: OneByOne, node: int) -> list[int]:
    """Pods that are on the node now, those with the fewest nodes to choose from first, large before small."""

    def rank(index: int) -> tuple[int, float, int]:
        mover = drains.mover(index)
        return int(np.count_nonzero(mover.allowed)), -mover.cpu, index

    return sorted(drains.whereabouts.at[node], key=rank)


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
    used = 1.0 - board.start.cells[0, :2][:, nodes] / offered
    return [int(n) for n in nodes[np.lexsort((nodes, used.max(axis=0)))]]
