"""Pods as the scheduler sees them: an interned spec shared by equal pods, and the pod that carries it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ksolver_cli.domain.labels import Labels, LabelSelector, NodeSelector, NodeSelectorTerm

Resources = Mapping[str, int]
"""Resource name to amount: `cpu` in millicores, everything else in its own whole unit (bytes, devices, pod slots),
rounded up.
"""


class Effect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


@dataclass(frozen=True, slots=True)
class Toleration:
    """A `v1.Toleration`; an empty key with operator Exists tolerates everything, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port claimed on the node itself."""

    port: int
    protocol: str = "TCP"
    host_ip: str = "0.0.0.0"  # noqa: S104 - the API's own word for every address; nothing is bound


@dataclass(frozen=True, slots=True)
class PodAffinityTerm:
    """A required pod (anti-)affinity term.

    `namespaces` already holds the pod's own namespace where the API defaults to it (no namespaces, null selector).
    `namespace_selector` is None when null (selects no further namespace) and empty when `{}` (selects all).
    matchLabelKeys/mismatchLabelKeys count only once merged into `selector` by the API server.
    """

    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...]
    namespace_selector: LabelSelector | None = None


@dataclass(frozen=True, slots=True)
class PreferredNodeTerm:
    """A preferred node affinity term and its weight (1–100)."""

    weight: int
    term: NodeSelectorTerm


@dataclass(frozen=True, slots=True)
class PreferredPodTerm:
    """A preferred pod (anti-)affinity term and its weight (1–100)."""

    weight: int
    term: PodAffinityTerm


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A topologySpreadConstraint; `hard` is DoNotSchedule. The policies default as the API does (affinity honoured,
    taints ignored).
    """

    max_skew: int
    topology_key: str
    hard: bool
    selector: LabelSelector | None
    min_domains: int | None = None
    honor_node_affinity: bool = True
    honor_node_taints: bool = False
    match_label_keys: tuple[str, ...] = ()


class VolumeKind(StrEnum):
    """Volume sources that any Filter plugin looks at."""

    CLAIM = "persistentVolumeClaim"
    EPHEMERAL = "ephemeral"
    CSI = "csi"
    GCE_PD = "gcePersistentDisk"
    AWS_EBS = "awsElasticBlockStore"
    AZURE_DISK = "azureDisk"
    CINDER = "cinder"
    RBD = "rbd"
    ISCSI = "iscsi"
    EMPTY_DIR = "emptyDir"
    EMPTY_DIR_MEMORY = "emptyDir.Memory"
    HOST_PATH = "hostPath"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Volume:
    """A pod volume. `source` is the claim name (for ephemeral: as generated, `pod-volume`), the disk or volume id, or
    the CSI driver.

    `details` carries what a plugin compares besides (rbd pool/image/monitors, iscsi iqn/lun…), sorted by key.
    """

    name: str
    kind: VolumeKind
    source: str = ""
    read_only: bool = False
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PodClaim:
    """An entry of `spec.resourceClaims`: its name in the pod, and the claim or the template it names."""

    name: str
    claim_name: str | None = None
    template_name: str | None = None


@dataclass(frozen=True, eq=False)
class PodSpec:
    """Everything placement looks at, shared by all pods whose spec says the same (compare with `is`).

    `requests` are the effective requests a *new* pod asks a node for (init steps, sidecars, overhead, pod-level),
    `limits` likewise.
    """

    requests: Resources
    limits: Resources = field(default_factory=dict)
    node_selector: tuple[tuple[str, str], ...] = ()
    node_affinity: NodeSelector | None = None
    preferred_node_affinity: tuple[PreferredNodeTerm, ...] = ()
    affinity: tuple[PodAffinityTerm, ...] = ()
    anti_affinity: tuple[PodAffinityTerm, ...] = ()
    preferred_affinity: tuple[PreferredPodTerm, ...] = ()
    preferred_anti_affinity: tuple[PreferredPodTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    host_ports: tuple[HostPort, ...] = ()
    volumes: tuple[Volume, ...] = ()
    claims: tuple[PodClaim, ...] = ()
    container_claims: tuple[tuple[str, str, str], ...] = ()
    """(container, claim name in the pod, request) as containers reference them; request is empty for all."""
    priority: int = 0
    priority_class: str = ""
    preemption_policy: str = "PreemptLowerPriority"
    scheduler_name: str = "default-scheduler"
    scheduling_gates: tuple[str, ...] = ()
    runtime_class: str = ""
    os_name: str = ""
    host_network: bool = False
    images: tuple[str, ...] = ()
    restart_policy: str = "Always"
    termination_grace_seconds: int = 30
    container_requests: tuple[tuple[str, Resources], ...] = ()
    """(container name, own requests) of the main containers and sidecars, for rightsizing."""
    required_features: tuple[str, ...] = ()
    """Node features (`status.declaredFeatures`) that the spec needs, as NodeDeclaredFeatures infers them."""
    extended_requests_by_container: tuple[tuple[str, Resources, bool], ...] = ()
    """(container, extended resources, whether it is an init step that ends before the next) of all containers in order,
    for extended resources that device classes serve; empty where no container asks for any.
    """
    has_pod_level_resources: bool = False


class Phase(StrEnum):
    """`status.phase`."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class WorkloadRef:
    """The top controller of a pod (Deployment, StatefulSet, DaemonSet, Job, CronJob, Rollout …), the object a person
    would edit.
    """

    kind: str
    namespace: str
    name: str
    api_version: str = ""
    uid: str = ""

    def __str__(self) -> str:
        """`Kind/namespace/name`, unique within a cluster."""
        return f"{self.kind}/{self.namespace}/{self.name}"


@dataclass(frozen=True, eq=False)
class Pod:
    """A pod object; equal only to itself."""

    namespace: str
    name: str
    spec: PodSpec
    uid: str = ""
    labels: Labels = field(default_factory=dict)
    annotations: Labels = field(default_factory=dict)
    node_name: str = ""
    """Node it is bound to (or asks for, while pending); empty when none."""
    nominated_node: str = ""
    phase: Phase = Phase.RUNNING
    deleting: bool = False
    controller: WorkloadRef | None = None
    """The direct controller (ReplicaSet, StatefulSet, Job, Node for mirror pods), None for a bare pod."""
    workload: WorkloadRef | None = None
    """The top of the owner chain; None for a bare pod."""
    is_static: bool = False
    requests_bound: Resources | None = None
    """What it takes on its node where that differs from `spec.requests` (in-place resize); None when equal."""
    ready: bool = True
    created: str = ""
    """RFC 3339 creation time as served; empty when absent."""
    claim_names: tuple[tuple[str, str | None], ...] = ()
    """`status.resourceClaimStatuses`: claim name in the pod, and the ResourceClaim made for it (None: none needed)."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_finished(self) -> bool:
        """Succeeded or Failed: holds nothing on its node."""
        return self.phase in (Phase.SUCCEEDED, Phase.FAILED)

    @property
    def is_bound(self) -> bool:
        """Has a node and still runs there (terminating pods hold their room until they are gone)."""
        return bool(self.node_name) and not self.is_finished

    @property
    def is_daemon(self) -> bool:
        """Owned by a DaemonSet: vanishes with its node and needs no new home."""
        return self.controller is not None and self.controller.kind == "DaemonSet"

    @property
    def held(self) -> Resources:
        """Effective requests it takes on the node it is bound to."""
        return self.spec.requests if self.requests_bound is None else self.requests_bound
