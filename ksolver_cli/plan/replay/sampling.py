"""Which feasible nodes the scheduler scores: node order by zones, and percentageOfNodesToScore."""

from collections.abc import Sequence

import numpy as np

from ksolver_cli.domain.node import Node
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray

MIN_FEASIBLE = 100
"""Feasible nodes that are always looked for (`minFeasibleNodesToFind`)."""
MIN_PERCENT = 5
_ZONE_KEYS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
_REGION_KEYS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")


def nodes_to_find(count: int) -> int:
    """How many feasible nodes end the search among `count` nodes, with percentageOfNodesToScore left at its default."""
    if count < MIN_FEASIBLE:
        return count
    percent = max(50 - count // 125, MIN_PERCENT)
    return max(count * percent // 100, MIN_FEASIBLE)


class NodeOrder:
    """Nodes as the scheduler lists them: one of each zone in turn, in their order of arrival."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        zones: dict[tuple[str, str], list[int]] = {}
        for index, node in enumerate(nodes):
            zones.setdefault((_first(node, _REGION_KEYS), _first(node, _ZONE_KEYS)), []).append(index)
        self._zones = list(zones.values())

    def of(self, alive: BoolArray) -> IntArray:
        """Indices of the nodes that are still there, in the scheduler's order."""
        left = [[i for i in zone if alive[i]] for zone in self._zones]
        longest = max(map(len, left), default=0)
        order = [zone[turn] for turn in range(longest) for zone in left if turn < len(zone)]
        return np.array(order, dtype=np.intp)


def _first(node: Node, keys: tuple[str, ...]) -> str:
    return next((node.labels[k] for k in keys if k in node.labels), "")


class Sampler:
    """Takes feasible nodes from where the last search ended."""

    def __init__(self, order: IntArray, start: int) -> None:
        self.order = order
        self._start = start % max(len(order), 1)
        self._wanted = nodes_to_find(len(order))

    def take(self, feasible: BoolArray) -> IntArray:
        """Feasible nodes to score; the next search starts behind the last node looked at."""
        found = np.flatnonzero(feasible[self.order])
        if self._wanted >= len(self.order) or len(found) <= self._wanted:
            return self.order[found]
        first = int(np.searchsorted(found, self._start))
        turned = np.concatenate((found[first:], found[:first]))
        self._start = int(turned[self._wanted])
        return self.order[turned[: self._wanted]]
