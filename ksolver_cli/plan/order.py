"""In which order to evict: pods that have few nodes to choose from first, then large before small."""

from collections.abc import Iterable, Sequence

import numpy as np

from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.lanes import IntArray


class Ordering:
    """Orders evictions for one set of nodes; classes that pended before come first (squeaky wheel)."""

    def __init__(self, prospects: Prospects, nodes: Sequence[int], *, free_last: bool = False) -> None:
        board = prospects.board
        self._board = board
        self._pods = prospects.pods_of(nodes)
        kept = board.start.alive & ~board.start.cordoned
        kept[list(nodes)] = False
        classes = board.pod_class[self._pods]
        present = np.unique(classes)
        choices = {c: int(np.count_nonzero(board.movers[int(c)].allowed & kept)) for c in present}
        share = {c: self._share(int(c), kept) for c in present}
        widest = int(np.count_nonzero(kept))
        scarcity = [int(choices[c] >= widest) if free_last else choices[c] for c in classes]
        self._keys = (np.array(scarcity, dtype=np.float64), -np.array([share[c] for c in classes], dtype=np.float64))
        self._classes = classes
        self._front: dict[int, int] = {}

    def _share(self, pod_class: int, kept: np.ndarray) -> float:
        """The largest share of a mean node that a pod of the class takes, of any resource."""
        mean = self._board.allocatable[:, kept].mean(axis=1) if kept.any() else self._board.allocatable.mean(axis=1)
        asked = -self._board.movers[pod_class].delta[: len(mean)]
        return float(np.divide(asked, mean, out=np.zeros_like(asked), where=mean > 0).max())

    def promote(self, pods: Iterable[int]) -> bool:
        """Move the classes of these pods to the front, those that pended most first; whether that changes anything."""
        counts: dict[int, int] = {}
        for pod in pods:
            index = int(self._board.pod_class[pod])
            counts[index] = counts.get(index, 0) + 1
        ranked = sorted(counts, key=lambda c: (-counts[c], c))
        if not ranked or [c for c, _ in sorted(self._front.items(), key=lambda i: i[1])][: len(ranked)] == ranked:
            return False
        rest = [c for c in sorted(self._front, key=self._front.__getitem__) if c not in counts]
        self._front = {c: rank for rank, c in enumerate(ranked + rest)}
        return True

    def order(self) -> IntArray:
        """Pods in the order in which they are evicted."""
        last = len(self._front)
        rank = np.array([self._front.get(int(c), last) for c in self._classes], dtype=np.intp)
        scarcity, size = self._keys
        return self._pods[np.lexsort((self._pods, self._classes, size, scarcity, rank))]
