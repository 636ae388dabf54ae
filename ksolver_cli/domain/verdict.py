"""What a Filter plugin says of one pod on one node, as facts; words are made elsewhere."""

from dataclasses import dataclass
from enum import StrEnum


class Family(StrEnum):
    """Constraint families, named as kube-scheduler names its Filter plugins."""

    NODE_UNSCHEDULABLE = "NodeUnschedulable"
    NODE_NAME = "NodeName"
    NODE_DECLARED_FEATURES = "NodeDeclaredFeatures"
    TAINT_TOLERATION = "TaintToleration"
    NODE_AFFINITY = "NodeAffinity"
    NODE_PORTS = "NodePorts"
    NODE_RESOURCES_FIT = "NodeResourcesFit"
    VOLUME_RESTRICTIONS = "VolumeRestrictions"
    NODE_VOLUME_LIMITS = "NodeVolumeLimits"
    VOLUME_BINDING = "VolumeBinding"
    VOLUME_ZONE = "VolumeZone"
    POD_TOPOLOGY_SPREAD = "PodTopologySpread"
    INTER_POD_AFFINITY = "InterPodAffinity"
    DYNAMIC_RESOURCES = "DynamicResources"
    SCHEDULING_GATES = "SchedulingGates"


class Code(StrEnum):
    """kube-scheduler's status codes: Unresolvable means that evicting pods from the node cannot help."""

    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    ERROR = "Error"


class Reason(StrEnum):
    """Why a pair is rejected; one member for each message kube-scheduler can give. `Rejection.params` fills it in."""

    CORDONED = "cordoned"
    NODE_NAME = "node-name"
    FEATURE_MISSING = "feature-missing"
    UNTOLERATED_TAINT = "untolerated-taint"
    NODE_AFFINITY = "node-affinity"
    NODE_AFFINITY_PRE = "node-affinity-pre"
    PORT_CONFLICT = "port-conflict"
    TOO_MANY_PODS = "too-many-pods"
    INSUFFICIENT = "insufficient"
    DISK_CONFLICT = "disk-conflict"
    CLAIM_IN_USE = "claim-in-use"
    VOLUME_LIMIT = "volume-limit"
    CLAIM_MISSING = "claim-missing"
    CLAIM_LOOKUP = "claim-lookup"
    CLAIM_NOT_CREATED = "claim-not-created"
    CLAIM_LOST = "claim-lost"
    CLAIM_DELETING = "claim-deleting"
    CLAIM_NOT_OWNED = "claim-not-owned"
    CLAIM_UNBOUND_IMMEDIATE = "claim-unbound-immediate"
    CLAIM_UNBOUND = "claim-unbound"
    CLAIM_WITHOUT_CLASS = "claim-without-class"
    BINDING_MODE_MISSING = "binding-mode-missing"
    DRIVER_MISSING = "driver-missing"
    VOLUME_NODE_AFFINITY = "volume-node-affinity"
    VOLUME_BIND_CONFLICT = "volume-bind-conflict"
    VOLUME_CAPACITY = "volume-capacity"
    VOLUME_MISSING = "volume-missing"
    VOLUME_GONE = "volume-gone"
    VOLUME_UNTRANSLATABLE = "volume-untranslatable"
    STORAGE_CLASS_MISSING = "storage-class-missing"
    VOLUME_ZONE = "volume-zone"
    SPREAD_SKEW = "spread-skew"
    SPREAD_LABEL_MISSING = "spread-label-missing"
    AFFINITY = "affinity"
    ANTI_AFFINITY = "anti-affinity"
    EXISTING_ANTI_AFFINITY = "existing-anti-affinity"
    DEVICES_UNAVAILABLE = "devices-unavailable"
    CLAIM_ALLOCATED_ELSEWHERE = "claim-allocated-elsewhere"
    DEVICE_CLASS_MISSING = "device-class-missing"
    RESOURCE_CLAIM_MISSING = "resource-claim-missing"
    RESOURCE_CLAIM_NOT_CREATED = "resource-claim-not-created"
    RESOURCE_CLAIM_DELETING = "resource-claim-deleting"
    RESOURCE_CLAIM_NOT_OWNED = "resource-claim-not-owned"
    RESOURCE_CLAIM_OTHER = "resource-claim-other"
    RESOURCE_POOLS_INVALID = "resource-pools-invalid"
    EXTENDED_CLAIM_STALE = "extended-claim-stale"
    EXTENDED_RESOURCE_MISSING = "extended-resource-missing"
    GATED = "gated"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """The object a rule comes from: kind, `namespace/name` (or a name), and what of it (a topology key, a taint, a
    resource).
    """

    kind: str
    name: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One family's objection to one pod on one node."""

    family: Family
    reason: Reason
    params: tuple[str, ...] = ()
    code: Code = Code.UNSCHEDULABLE
    source: ObjectRef | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """A family could not decide: the snapshot lacks `missing` (a kind), or the construct is not modelled."""

    family: Family
    missing: str
    source: ObjectRef | None = None


Verdict = Rejection | Unknown
