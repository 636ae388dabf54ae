"""A pod class made ready for the replay: what it needs, what it counts, and what it likes, as arrays and tallies."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ksolver_cli.plan.replay.lanes import BoolArray
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
