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
    """Takes feasible nodes from where the last search of the same trial ended."""

    def __init__(self, order: IntArray, starts: Sequence[int]) -> None:
        self.order = order
        self._starts: IntArray = np.array(starts, dtype=np.intp)
        self._wanted = nodes_to_find(len(order))
        self._rows: IntArray = np.arange(len(starts) + 1) * len(order)

    def take(self, feasible: BoolArray, trials: IntArray) -> tuple[IntArray, IntArray]:
        """Nodes to score in the order in which they are found, those of one trial after those of the other, and how
        many each trial has.

        The next search starts behind the last node looked at.
        """
        found = feasible.take(self.order, axis=1).reshape(-1).nonzero()[0]
        rows = self._rows[: len(trials) + 1]
        bounds = found.searchsorted(rows)
        sizes = bounds[1:] - bounds[:-1]
        places = found if len(trials) == 1 else found - rows[:-1].repeat(sizes)
        if self._wanted < len(self.order) and len(found) > self._wanted and sizes.max() > self._wanted:
            start = found.searchsorted(rows[:-1] + self._starts[trials]) - bounds[:-1]
            places, sizes = self._cut(places, (bounds[:-1], sizes), start, trials)
        return self.order.take(places), sizes

    def _cut(
        self, places: IntArray, bounds: tuple[IntArray, IntArray], start: IntArray, trials: IntArray
    ) -> tuple[IntArray, IntArray]:
        """The first of each trial from its start on, no more than wanted; those with fewer stay as they are."""
        begins, sizes = bounds
        many = sizes > self._wanted
        skip = start * many
        kept = np.minimum(sizes, self._wanted)
        ends = kept.cumsum()
        turn = np.arange(ends[-1]) + (skip - ends + kept).repeat(kept)
        whole = sizes.repeat(kept)
        turn -= whole * (turn >= whole)
        next_start = places[(begins + (skip + self._wanted) % np.maximum(sizes, 1))[many]]
        self._starts[trials[many]] = next_start
        return places.take(turn + begins.repeat(kept)), kept
