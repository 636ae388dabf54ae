"""A whole cluster as normalised: what was seen, and what could not be seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ksolver_cli.domain.devices import Devices
from ksolver_cli.domain.labels import Labels, LabelSelector
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodSpec, WorkloadRef
from ksolver_cli.domain.storage import Storage


@dataclass(frozen=True, slots=True)
class Gap:
    """Something the input could not show: a kind that is absent or forbidden, or an object that was left out, and
    why.
    """

    kind: str
    reason: str
    object: str = ""


class CaveatKind(StrEnum):
    """Things that are seen but not modelled, or judged only in part."""

    FOREIGN_SCHEDULER = "foreign-scheduler"
    UNMODELLED = "unmodelled"
    BAD_OBJECT = "bad-object"
    NODE_MISSING = "node-missing"
    OVERCOMMITTED_NODE = "overcommitted-node"
    VIRTUAL_NODE = "virtual-node"
    IMAGE_ARCH_UNKNOWN = "image-arch-unknown"
    SHARED_GPU = "shared-gpu"
    NOT_READY = "not-ready"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Caveat:
    """A caveat and the objects (`namespace/name` or node names) it touches."""

    kind: CaveatKind
    detail: str
    objects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """A PodDisruptionBudget. Counts come from its status; None where the status is missing."""

    namespace: str
    name: str
    selector: LabelSelector | None
    min_available: str | None = None
    max_unavailable: str | None = None
    disruptions_allowed: int | None = None
    current_healthy: int | None = None
    desired_healthy: int | None = None
    expected_pods: int | None = None
    always_allow_unhealthy: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """A controller object: replicas wanted, and the selector of its pods."""

    ref: WorkloadRef
    replicas: int | None = None
    selector: LabelSelector | None = None
    owner: WorkloadRef | None = None
    template: PodSpec | None = None
    """For DaemonSets: the spec of a pod it would start, to compute daemon overhead; None where not read."""
    template_labels: Labels = field(default_factory=dict)


@dataclass(frozen=True)
class Cluster:
    """Everything later stages know. `pods` has every pod as served, finished ones too; ask `Pod.is_bound` and friends.

    `complete`: what the input lacks does not exist. Otherwise a referenced kind that is missing altogether is a gap.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    namespaces: Mapping[str, Labels] = field(default_factory=dict)
    budgets: tuple[DisruptionBudget, ...] = ()
    workloads: tuple[Workload, ...] = ()
    services: tuple[tuple[str, LabelSelector], ...] = ()
    """(namespace, selector) of Services with a selector, for the default spreading score."""
    priority_classes: Mapping[str, int] = field(default_factory=dict)
    storage: Storage = field(default_factory=Storage)
    devices: Devices = field(default_factory=Devices)
    gaps: tuple[Gap, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    unreadable_nodes: frozenset[str] = frozenset()
    """Nodes that hold a pod which could not be read (each has a BAD_OBJECT caveat): what is free there is not known."""
    kinds_present: frozenset[str] = frozenset()
    """Plural lower-case kinds that the input held (also when empty), e.g. `persistentvolumeclaims`."""
    kubernetes_version: tuple[int, int] = (1, 36)
    """Major and minor of the server the verdicts are for."""
    name: str = ""
    collected_at: str = ""
    complete: bool = False

    def knows(self, kind: str) -> bool:
        """Whether absence of an object of this plural kind means that it does not exist."""
        return self.complete or kind in self.kinds_present
