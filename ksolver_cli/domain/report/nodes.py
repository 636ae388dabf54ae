"""Per node: can it be drained, what stands in the way, where its pods would go, what that frees."""

from dataclasses import dataclass

from ksolver_cli.domain.verdict import ObjectRef, Rejection, Unknown


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """The first objection that the scheduler would report, and on how many nodes it is that one."""

    verdict: Rejection | Unknown
    nodes: int


@dataclass(frozen=True, slots=True)
class NodeBlocker:
    """One thing that keeps a node from being drained. `pod` is empty for a blocker of the node itself."""

    kind: str
    pod: str
    source: ObjectRef | None
    detail: str
    reasons: tuple[ReasonCount, ...] = ()
    """For a pod that fits nowhere else: why not, most frequent first."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One node. Utilisation is requested ÷ allocatable, in parts per thousand, of cpu and memory. None is not known:
    the input holds no pods, or the node says nothing of what it offers.

    `drainable`: alone and today, every pod that must move finds a place. `in_plan`: the drain plan removes it.
    """

    name: str
    instance_type: str
    pool: str
    zone: str
    price_micros: int | None
    pods: int | None
    movable: int | None
    cpu_permille: int | None
    memory_permille: int | None
    drainable: bool
    in_plan: bool
    blockers: tuple[NodeBlocker, ...]
    destinations: tuple[tuple[str, str], ...]
    """(pod, node) as the reference replay placed them."""
