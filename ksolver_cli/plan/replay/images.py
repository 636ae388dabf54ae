"""Container images on nodes, as ImageLocality weighs them."""

from collections.abc import Sequence

import numpy as np

from ksolver_cli.domain.node import Node
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.mover import Ints


class Images:
    """Which node has which image; answers are kept until a node goes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._where: dict[str, list[tuple[int, int]]] = {}
        for index, node in enumerate(nodes):
            for names, size in node.images:
                for name in names:
                    self._where.setdefault(name, []).append((index, size))
        self._known: dict[tuple[tuple[str, ...], int], Ints | None] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no node is known to have any."""
        return not self._where

    def sizes(self, images: tuple[str, ...], alive: BoolArray) -> Ints | None:
        """[node] bytes of these images present, each times the share of nodes that have it; None where none is
        anywhere.
        """
        if not self._where or not images:
            return None
        key = (images, hash(alive.tobytes()))
        if key not in self._known:
            self._known[key] = self._sum(images, alive)
        return self._known[key]

    def _sum(self, images: tuple[str, ...], alive: BoolArray) -> Ints | None:
        total = np.zeros(len(alive), dtype=np.int64)
        for image in images:
            found = self._where.get(tagged(image), [])
            nodes: IntArray = np.array([n for n, _ in found if alive[n]], dtype=np.intp)
            if len(nodes):
                # The scheduler keeps one size for an image: the one it saw first.
                share = len(nodes) / int(np.count_nonzero(alive))
                total[nodes] += int(float(found[0][1]) * share)
        return total if total.any() else None


def tagged(image: str) -> str:
    """The image's name with the tag `latest` where it has none."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"
