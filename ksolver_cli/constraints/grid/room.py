"""Allocatable and requested amounts of all nodes as arrays."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ksolver_cli.constraints.core.node_resources_fit import counted_requests
from ksolver_cli.constraints.grid.columns import Mask
from ksolver_cli.constraints.state import POD_SLOTS, NodeState
from ksolver_cli.domain.pod import Resources

Amounts = NDArray[np.int64]

_MOST = 1 << 61
"""Amounts are cut here, so that their sums and differences stay within 64 bits."""


class Room:
    """Free room by resource, kept in step with one State by whoever changes it."""

    def __init__(self, nodes: Sequence[NodeState]) -> None:
        self._nodes = nodes
        self._free: dict[str, Amounts] = {}

    def free(self, resource: str) -> Amounts:
        """Allocatable minus requested of every node; negative where a node is overcommitted."""
        column = self._free.get(resource)
        if column is None:
            column = self._free[resource] = np.array(
                [_cut(node.free(resource)) for node in self._nodes], dtype=np.int64
            )
        return column

    def refresh(self, position: int) -> None:
        """Read one node again after its pods changed."""
        node = self._nodes[position]
        for resource, column in self._free.items():
            column[position] = _cut(node.free(resource))

    def fits(self, requests: Resources, delegated: frozenset[str] = frozenset()) -> Mask:
        """Nodes with a free pod slot and enough of everything requested; delegated resources only where offered."""
        mask = self.free(POD_SLOTS) >= 1
        for resource, amount in counted_requests(requests):
            enough = self.free(resource) >= _cut(amount)
            mask &= enough | ~self._offered(resource) if resource in delegated else enough
        return mask

    def _offered(self, resource: str) -> Mask:
        return np.array([node.node.allocatable.get(resource, 0) > 0 for node in self._nodes], dtype=np.bool_)


def _cut(amount: int) -> int:
    return max(-_MOST, min(_MOST, amount))
