"""Devices of dynamic resource allocation: slices, claims and classes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.labels import NodeSelector
from ksolver_cli.domain.quantity import Quantity

CLASS_RESOURCE_PREFIX = "deviceclass.resource.kubernetes.io/"
"""Every device class also answers to this prefix and its name as an extended resource."""


@dataclass(frozen=True, slots=True)
class VersionValue:
    """A semantic version, as a device attribute."""

    text: str


AttributeValue = bool | int | str | VersionValue
"""Value of a device attribute; a bool and an int are different things here."""


@dataclass(frozen=True, slots=True)
class CapacityPolicy:
    """How much of a shared capacity one request takes: the default, and the amounts that are valid."""

    default: Quantity | None = None
    values: tuple[Quantity, ...] = ()
    has_range: bool = False
    least: Quantity | None = None
    most: Quantity | None = None
    step: Quantity | None = None


@dataclass(frozen=True, slots=True)
class Capacity:
    """A capacity of a device."""

    value: Quantity
    policy: CapacityPolicy | None = None


@dataclass(frozen=True, slots=True)
class DeviceTaint:
    """A taint on a device; effects other than NoSchedule and NoExecute do nothing."""

    key: str
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True)
class DeviceToleration:
    """A toleration of device taints; an empty key or effect matches any."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: DeviceTaint) -> bool:
        """Whether the taint does not keep the request from the device."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == taint.value)


@dataclass(frozen=True, slots=True)
class Reach:
    """From which nodes something can be used: one by name, all, or those selected; nothing set means nowhere."""

    node_name: str = ""
    all_nodes: bool = False
    selector: NodeSelector | None = None


NOWHERE = Reach()


@dataclass(frozen=True, eq=False)
class Device:
    """One device of a slice. Names of attributes and capacities are as published, mostly without a domain.

    `counters` are what it takes of the pool's shared counter sets, as (set, counter) to amount.
    """

    name: str
    attributes: Mapping[str, AttributeValue] = field(default_factory=dict)
    capacity: Mapping[str, Capacity] = field(default_factory=dict)
    taints: tuple[DeviceTaint, ...] = ()
    counters: Mapping[tuple[str, str], Quantity] = field(default_factory=dict)
    reach: Reach = NOWHERE
    """Only where the slice selects nodes device by device."""
    has_binding_conditions: bool = False
    shareable: bool = False
    """`allowMultipleAllocations`: requests share its capacity."""
    unreadable: str = ""
    """An attribute of a kind that is not modelled (lists), if it has one."""


@dataclass(frozen=True, eq=False)
class ResourceSlice:
    """A part of a pool of devices. `size` is how many slices the pool has in this generation."""

    name: str
    driver: str
    pool: str
    generation: int = 0
    size: int = 1
    reach: Reach = NOWHERE
    per_device: bool = False
    devices: tuple[Device, ...] = ()
    counter_sets: tuple[tuple[str, Mapping[str, Quantity]], ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceRequest:
    """A request for devices of a class; with `alternatives` it is the first of them that can be had.

    `selectors` are CEL expressions, `count` is for mode ExactCount.
    """

    name: str
    device_class: str = ""
    mode: str = "ExactCount"
    count: int = 1
    admin_access: bool = False
    selectors: tuple[str, ...] = ()
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: tuple[tuple[str, Quantity], ...] = ()
    alternatives: tuple["DeviceRequest", ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceConstraint:
    """Devices of these requests (none: all) have one value of an attribute in common, or all have different ones."""

    attribute: str
    requests: tuple[str, ...] = ()
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class AllocatedDevice:
    """A device in an allocation; `share` is set where others may hold the same device."""

    driver: str
    pool: str
    device: str
    admin_access: bool = False
    share: str = ""
    consumed: tuple[tuple[str, Quantity], ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """Driver, pool and device."""
        return self.driver, self.pool, self.device


@dataclass(frozen=True, slots=True)
class Allocation:
    """What a claim was given, and the nodes it can be used from (None: any)."""

    devices: tuple[AllocatedDevice, ...] = ()
    nodes: NodeSelector | None = None
    binding: bool = False
    """Whether devices still have conditions to meet before a pod may be bound; not modelled."""


@dataclass(frozen=True, eq=False)
class ResourceClaim:
    """A ResourceClaim; `reserved_for` has the UIDs of its consumers."""

    namespace: str
    name: str
    uid: str = ""
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    allocation: Allocation | None = None
    reserved_for: tuple[str, ...] = ()
    controller_uid: str = ""
    deleting: bool = False
    for_extended_resources: bool = False
    """Made by the scheduler itself for a pod's extended resources."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, eq=False)
class ClaimTemplate:
    """A ResourceClaimTemplate: what the claims made from it ask for."""

    namespace: str
    name: str
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """A DeviceClass; `extended_resource` is the name under which plain resource requests reach it."""

    name: str
    selectors: tuple[str, ...] = ()
    extended_resource: str = ""
    created: str = ""


@dataclass(frozen=True, slots=True)
class TaintRule:
    """A DeviceTaintRule: taints every device of a driver, pool and device name; empty ones match any."""

    taint: DeviceTaint
    driver: str = ""
    pool: str = ""
    device: str = ""


@dataclass(frozen=True)
class Devices:
    """Resource slices, claims, templates and device classes of a cluster. Claims and templates by `namespace/name`."""

    slices: tuple[ResourceSlice, ...] = ()
    claims: Mapping[str, ResourceClaim] = field(default_factory=dict)
    templates: Mapping[str, ClaimTemplate] = field(default_factory=dict)
    classes: Mapping[str, DeviceClass] = field(default_factory=dict)
    taint_rules: tuple[TaintRule, ...] = ()

    def class_for_resource(self, resource: str) -> DeviceClass | None:
        """The class that serves an extended resource: by its own name, or by its class's prefixed name.

        Where several classes claim a resource, the newest has it, then the first by name.
        """
        if resource.startswith(CLASS_RESOURCE_PREFIX):
            return self.classes.get(resource.removeprefix(CLASS_RESOURCE_PREFIX))
        named = [found for found in self.classes.values() if found.extended_resource == resource]
        newest = max((found.created for found in named), default="")
        return min((found for found in named if found.created == newest), key=lambda found: found.name, default=None)
