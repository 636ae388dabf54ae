"""A pod class made ready for the replay: what it needs, what it counts, and what it likes, as arrays and tallies."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.tallies import Tally

Numbers = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HardSpread:
    """A DoNotSchedule constraint: pods counted and nodes present per domain, over eligible nodes only.

    `by_node` is there where the constraint honours taints that the pod does not tolerate: cordoned nodes then drop out
    with their pods (the node controller taints them), which only counts per node can follow.
    """

    pods: Tally
    present: Tally
    max_skew: int
    min_domains: int
    self_match: int
    by_node: Tally | None = None
    eligible: BoolArray | None = None


@dataclass(frozen=True, slots=True)
class SoftTopology:
    """One ScheduleAnyway constraint. `per_node` marks the hostname key, whose count is read off the node itself."""

    pods: Tally
    max_skew: int
    per_node: bool


@dataclass(frozen=True, slots=True)
class SoftSpread:
    """All soft constraints of a pod. `ignored` are nodes that lack a key where all are required, None where none is."""

    topologies: tuple[SoftTopology, ...]
    ignored: BoolArray | None


@dataclass(frozen=True, eq=False)
class Mover:
    """What one pod class asks of nodes and adds to them.

    `rows` are rows of the occupancy's `free` and `amounts` what must be free in them; `delta` is what a pod adds to all
    rows. CPU in millicores, memory in bytes; `cpu` and `memory` are the effective requests, `score_cpu` and
    `score_memory` those with the defaults for containers that ask for nothing.
    """

    index: int
    rows: tuple[int, ...]
    amounts: tuple[float, ...]
    delta: Numbers
    cpu: float
    memory: float
    score_cpu: float
    score_memory: float
    allowed: BoolArray
    tolerates_cordon: bool
    spread: tuple[HardSpread, ...] = ()
    refused: tuple[Tally, ...] = ()
    """A domain where one of these counts anything is closed (anti-affinity of either side, host ports)."""
    required: tuple[Tally, ...] = ()
    starts_alone: bool = False
    """Matches its own required terms, so that it may start a group where none exists anywhere."""
    soft: SoftSpread | None = None
    liked: tuple[Tally, ...] = ()
    """Weighted counts of preferred inter-pod terms, one a key."""
    taints: Ints | None = None
    """Untolerated PreferNoSchedule taints per node; None when there are none anywhere."""
    node_terms: Ints | None = None
    """Weights of the preferred node affinity terms that match, per node; None when none does."""
    images: tuple[str, ...] = ()
    needs_check: bool = False
    """Has volumes or device claims, which are checked node by node with the constraint families themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class Crew:
    """Pods that are placed together, one in each trial: of one class, or of several that differ in numbers alone.

    Arrays have a row for each trial, or a single one where all pods are alike. `lead` is one of the classes.
    """

    lead: Mover
    classes: IntArray
    rows: tuple[int, ...]
    """Rows of the occupancy's `free` that any of them asks for."""
    amounts: Numbers
    """[trial, row] what must be free there, −∞ where the pod does not ask."""
    allowed: BoolArray
    asked: Numbers
    """[load row, trial] what the pod adds to the load."""
    counted: IntArray
    """[soft topology, trial] offset of the tally."""

    def only(self, trials: IntArray) -> "Crew":
        """Those of these trials."""
        if len(self.classes) == 1:
            return self
        parts = (self.amounts[trials], self.allowed[trials], self.asked[:, trials], self.counted[:, trials])
        return Crew(self.lead, self.classes[trials], self.rows, *parts)


class Kind:
    """Pod classes that one crew may mix."""

    def __init__(self, movers: Sequence[Mover]) -> None:
        asked = [dict(zip(m.rows, m.amounts, strict=True)) for m in movers]
        rows = tuple(sorted(set().union(*asked)))
        amounts = np.array([[own.get(row, -np.inf) for row in rows] for own in asked])
        load = np.array([[m.cpu, m.memory, m.score_cpu, m.score_memory] for m in movers]).T
        soft = [[t.pods.offset for t in m.soft.topologies] if m.soft is not None else [] for m in movers]
        classes = np.array([m.index for m in movers], dtype=np.intp)
        allowed = np.array([m.allowed for m in movers])
        self._all = Crew(movers[0], classes, rows, amounts, allowed, load, np.array(soft, dtype=np.intp).T)
        self._rank = {m.index: rank for rank, m in enumerate(movers)}
        self._known: dict[int, Crew] = {}

    def crew(self, classes: Sequence[int]) -> Crew:
        """Pods of these classes, one a trial."""
        first = classes[0]
        if classes.count(first) < len(classes):
            return self._only([self._rank[c] for c in classes])
        if first not in self._known:
            self._known[first] = self._only([self._rank[first]])
        return self._known[first]

    def _only(self, ranks: Sequence[int]) -> Crew:
        found, of = np.array(ranks, dtype=np.intp), self._all
        parts = (
            of.amounts.take(found, 0),
            of.allowed.take(found, 0),
            of.asked.take(found, 1),
            of.counted.take(found, 1),
        )
        return Crew(of.lead, of.classes.take(found), of.rows, *parts)


def kind_of(mover: Mover) -> Hashable:
    """Equal for movers that one crew may mix: those that ask for resources and soft spread alone."""
    own = (mover.needs_check, mover.spread, mover.refused, mover.required, mover.liked)
    if any(own) or mover.taints is not None or mover.node_terms is not None:
        return mover.index
    soft = mover.soft
    if soft is None:
        return mover.tolerates_cordon, not (mover.cpu or mover.memory), None
    if soft.ignored is not None:
        return mover.index
    topologies = tuple((t.pods.lane.key, t.max_skew, t.per_node) for t in soft.topologies)
    return mover.tolerates_cordon, not (mover.cpu or mover.memory), topologies
