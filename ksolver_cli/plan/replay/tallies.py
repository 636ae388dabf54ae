"""Counts of pods per topology domain, kept up to date pod by pod; all in one array, so that a copy is cheap."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ksolver_cli.plan.replay.lanes import BoolArray, IntArray, Lane, Lanes

Counts = npt.NDArray[np.float64]
"""Whole numbers, held as floats beside what is free on nodes."""

Trials = IntArray | slice
"""Some trials of an occupancy, in ascending order."""

NOWHERE = 2**40
"""Stands for no domain: larger than any index."""


@dataclass(frozen=True, slots=True)
class Tally:
    """One row of counts: where it lies in the array, and the lane of its key."""

    offset: int
    lane: Lane

    def view(self, counts: Counts, trials: Trials | int) -> Counts:
        """[trial, domain] counts, and a last one, always 0, for nodes without the label."""
        return counts[trials, self.offset : self.offset + self.lane.size + 1]


@dataclass(frozen=True, slots=True)
class Members:
    """Who is counted: pod classes with weights, and whether terminating pods count (not in spread, else yes)."""

    weights: tuple[tuple[int, int], ...]
    terminating: bool


@dataclass(eq=False)
class Book:
    """Every tally of a replay: built once, then read by all runs."""

    lanes: Lanes
    num_nodes: int
    masks: list[BoolArray] = field(default_factory=list)
    size: int = 0
    _tallies: dict[tuple[Members | None, str, int], Tally] = field(default_factory=dict)
    _mask_of: dict[bytes, int] = field(default_factory=dict)
    _slots: dict[tuple[str, int], IntArray] = field(default_factory=dict)

    def mask(self, eligible: BoolArray) -> int:
        """Index of a set of nodes; −1 when it holds all of them."""
        if eligible.all():
            return -1
        key = np.packbits(eligible).tobytes()
        if key not in self._mask_of:
            self._mask_of[key] = len(self.masks)
            self.masks.append(eligible)
        return self._mask_of[key]

    def pods(self, members: Members, key: str, mask: int = -1) -> Tally:
        """Counts of these pods per domain of the key, on nodes of the mask only."""
        return self._tally(members, key, mask)

    def nodes(self, key: str, mask: int = -1) -> Tally:
        """Counts of nodes (of the mask) per domain of the key."""
        return self._tally(None, key, mask)

    def _tally(self, members: Members | None, key: str, mask: int) -> Tally:
        known = self._tallies.get((members, key, mask))
        if known is None:
            lane = self.lanes.lane(key)
            known = self._tallies[members, key, mask] = Tally(self.size, lane)
            self.size += lane.size + 1
        return known

    def slots(self, key: str, mask: int) -> IntArray:
        """Per node: its domain, or `NOWHERE` where it has none or lies outside the mask."""
        if (key, mask) not in self._slots:
            lane = self.lanes.lane(key)
            index = np.where(lane.domain == lane.size, NOWHERE, lane.domain)
            self._slots[key, mask] = np.where(self.masks[mask], index, NOWHERE) if mask >= 0 else index
        return self._slots[key, mask]

    def rows(self, num_classes: int) -> list[list[tuple[IntArray, int, int]]]:
        """Per pod class, and behind all for nodes themselves: (slots, offset, weight) of every tally that counts it."""
        rows: list[list[tuple[IntArray, int, int]]] = [[] for _ in range(num_classes + 1)]
        for (members, key, mask), tally in self._tallies.items():
            for pod_class, weight in members.weights if members is not None else ((num_classes, 1),):
                rows[pod_class].append((self.slots(key, mask), tally.offset, weight))
        return rows

    def initial(self, pod_class: IntArray, pod_node: IntArray, terminating: BoolArray, num_classes: int) -> Counts:
        """All counts for the pods as they are today, and one more that nobody reads."""
        counts = np.zeros(self.size + 1, dtype=np.float64)
        by_class = _pods_by_class(pod_class, num_classes)
        for (members, key, mask), tally in self._tallies.items():
            slots = self.slots(key, mask)
            view = tally.view(counts[None], 0)
            if members is None:
                np.add.at(view, slots[slots < NOWHERE], 1)
                continue
            for index, weight in members.weights:
                pods = by_class[index]
                pods = pods if members.terminating else pods[~terminating[pods]]
                where = slots[pod_node[pods]]
                np.add.at(view, where[where < NOWHERE], weight)
        return counts


def _pods_by_class(pod_class: IntArray, num_classes: int) -> Sequence[IntArray]:
    order = np.argsort(pod_class, kind="stable")
    sizes = np.bincount(pod_class, minlength=num_classes)
    return np.split(order, np.cumsum(sizes)[:-1]) if num_classes else []
