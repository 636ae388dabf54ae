"""An order of evictions, kept as an order of pod classes so that it can be bent class by class."""

from collections.abc import Iterable, Sequence
from random import Random

import numpy as np

from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.run import Drain
from ksolver_cli.plan.waves import in_waves

DEPTHS = (0.0, 0.0, 0.3, 0.6)
"""How far a class that pended moves ahead: to this share of its place, twice as often to the very front."""


class EvictionSequence:
    """Nodes to drain, and the pod classes on them in the order in which they are evicted."""

    def __init__(self, prospects: Prospects, nodes: Sequence[int], classes: Sequence[int] | None = None) -> None:
        """Without `classes` those with the fewest nodes to choose from come first, large before small."""
        self._prospects = prospects
        self.nodes = tuple(sorted(nodes))
        self._pods: dict[int, list[int]] = {}
        board = prospects.board
        for pod in prospects.pods_of(self.nodes).tolist():
            self._pods.setdefault(int(board.pod_class[pod]), []).append(pod)
        order = scarce_first(prospects, self.nodes, self._pods) if classes is None else classes
        self.classes = [c for c in order if c in self._pods]
        known = set(self.classes)
        self.classes += [c for c in sorted(self._pods) if c not in known]

    def free_last(self) -> "EvictionSequence":
        """The same with pods that may go anywhere after all others, large before small on either side."""
        order = scarce_first(self._prospects, self.nodes, self._pods, free_last=True)
        return EvictionSequence(self._prospects, self.nodes, order)

    def with_nodes(self, nodes: Sequence[int]) -> "EvictionSequence":
        """Other nodes in the same order of classes; new classes go last."""
        return EvictionSequence(self._prospects, nodes, self.classes)

    def bent(self, pended: dict[int, int], random: Random) -> "EvictionSequence":
        """Some of the classes that pended move ahead; now and then two others change places."""
        classes = list(self.classes)
        depth = random.choice(DEPTHS)
        for chosen in reversed(_chosen(pended, random)):
            place = classes.index(chosen)
            classes.insert(int(place * depth), classes.pop(place))
        if random.random() < 0.2:
            a, b = random.randrange(len(classes)), random.randrange(len(classes))
            classes[a], classes[b] = classes[b], classes[a]
        return EvictionSequence(self._prospects, self.nodes, classes)

    @property
    def order(self) -> IntArray:
        """Pods in the order in which they are evicted."""
        return np.array([pod for c in self.classes for pod in self._pods[c]], dtype=np.intp)

    def drain(self, waves: int) -> Drain:
        """The drain in so many waves."""
        return in_waves(self._prospects, self.nodes, self.order, waves)


def _chosen(pended: dict[int, int], random: Random) -> list[int]:
    ranked = sorted(pended, key=lambda c: (-pended[c], c))
    draw = random.random()
    if draw < 0.4:
        return random.choices(ranked, [pended[c] for c in ranked])
    if draw < 0.7:
        return [c for c in ranked if random.random() < 0.5] or ranked[:1]
    return ranked


def scarce_first(
    prospects: Prospects, nodes: Sequence[int], classes: Iterable[int], *, free_last: bool = False
) -> list[int]:
    """Classes by how few of the kept nodes they may go to, then by dominant share, largest first."""
    listed = list(classes)
    if not listed:
        # Also where the cluster has no node: there is nothing to take a mean of.
        return []
    board = prospects.board
    kept: BoolArray = board.start.alive & ~board.start.cordoned
    kept[list(nodes)] = False
    widest = int(np.count_nonzero(kept))
    offered = board.allocatable[:, kept].mean(axis=1) if widest else board.allocatable.mean(axis=1)

    def rank(pod_class: int) -> tuple[int, float, int]:
        mover = board.movers[pod_class]
        choices = int(np.count_nonzero(mover.allowed & kept))
        asked = -mover.delta[: len(offered)]
        share = float(np.divide(asked, offered, out=np.zeros_like(asked), where=offered > 0).max())
        return (int(choices >= widest) if free_last else choices), -share, pod_class

    return sorted(listed, key=rank)
