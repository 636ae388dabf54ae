"""Topology keys as small integers: which domain each node lies in."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ksolver_cli.domain.node import Node

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

NODE = ""
"""Stands for the node itself, whatever its labels say (host ports, per-node checks)."""


@dataclass(frozen=True, eq=False)
class Lane:
    """Domains of one topology key: `domain[n]` is 0 … size − 1, or `size` where the node lacks the label."""

    key: str
    domain: IntArray
    size: int
    is_identity: bool
    """Whether every node is its own domain with its own index, so that no gather is needed."""
    is_whole: bool
    """Whether every node has the label."""

    def spread(self, values: BoolArray) -> BoolArray:
        """Answers per domain (and one for nodes without the label), on the last axis, as answers per node."""
        return values[..., :-1] if self.is_identity else values[..., self.domain]


class Lanes:
    """Lanes of a fixed list of nodes, made on first use."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._lanes: dict[str, Lane] = {}

    def lane(self, key: str) -> Lane:
        """The lane of this key."""
        if key not in self._lanes:
            self._lanes[key] = self._make(key)
        return self._lanes[key]

    def _make(self, key: str) -> Lane:
        count = len(self._nodes)
        if key == NODE:
            return Lane(key, np.arange(count, dtype=np.intp), count, is_identity=True, is_whole=True)
        values: dict[str, int] = {}
        found = [self._nodes[i].labels.get(key) for i in range(count)]
        index = [values.setdefault(v, len(values)) if v is not None else -1 for v in found]
        domain = np.array(index, dtype=np.intp)
        domain[domain < 0] = len(values)
        identity = len(values) == count and bool(np.array_equal(domain, np.arange(count)))
        return Lane(key, domain, len(values), is_identity=identity, is_whole=-1 not in index)
