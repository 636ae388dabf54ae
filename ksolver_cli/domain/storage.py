"""Volumes, claims and their limits, as the volume families look at them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.labels import Labels, LabelSelector, NodeSelector, Requirement
from ksolver_cli.domain.quantity import Quantity

AWS_EBS = "kubernetes.io/aws-ebs"
GCE_PD = "kubernetes.io/gce-pd"
AZURE_DISK = "kubernetes.io/azure-disk"
CINDER = "kubernetes.io/cinder"
PORTWORX = "kubernetes.io/portworx-volume"
AZURE_FILE = "kubernetes.io/azure-file"
VSPHERE = "kubernetes.io/vsphere-volume"

CSI_DRIVERS: Mapping[str, str] = {
    AWS_EBS: "ebs.csi.aws.com",
    GCE_PD: "pd.csi.storage.gke.io",
    AZURE_DISK: "disk.csi.azure.com",
    CINDER: "cinder.csi.openstack.org",
    PORTWORX: "pxd.portworx.com",
    AZURE_FILE: "file.csi.azure.com",
    VSPHERE: "csi.vsphere.vmware.com",
}
"""In-tree plugin to the CSI driver that took over from it (csi-translation-lib)."""

MIGRATED_PLUGINS = frozenset({AWS_EBS, GCE_PD, AZURE_DISK, CINDER, PORTWORX})
"""In-tree plugins whose volumes the scheduler counts and translates as CSI volumes."""

ZERO = Quantity(0)
NO_PROVISIONER = "kubernetes.io/no-provisioner"

_EBS_IN_URL = re.compile(r"aws://[^/]*/+(vol-[^/]*?)/*")


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A PersistentVolumeClaim. `storage_class` is empty when none is asked for (the beta annotation wins)."""

    namespace: str
    name: str
    uid: str = ""
    volume_name: str = ""
    storage_class: str = ""
    access_modes: tuple[str, ...] = ()
    volume_mode: str = "Filesystem"
    request: Quantity | None = None
    """Storage asked for; None when the claim does not say."""
    selector: LabelSelector | None = None
    attributes_class: str = ""
    bind_completed: bool = False
    """The binder has finished with it; a `volume_name` alone is only a wish."""
    selected_node: str | None = None
    lost: bool = False
    deleting: bool = False
    controller_uid: str = ""
    """UID of the controlling owner: the pod, for a generic ephemeral volume."""

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_bound(self) -> bool:
        """Fully bound, as the scheduler has it."""
        return bool(self.volume_name) and self.bind_completed


@dataclass(frozen=True, slots=True)
class PersistentVolume:
    """A PersistentVolume; in-tree sources are also given as the CSI volume they are attached as."""

    name: str
    labels: Labels = field(default_factory=dict)
    storage_class: str = ""
    capacity: Quantity = ZERO
    access_modes: tuple[str, ...] = ()
    volume_mode: str = "Filesystem"
    claim_ref: tuple[str, str, str] | None = None
    """(namespace, name, uid) of the claim it is reserved for or bound to; an empty uid fits any."""
    phase: str = ""
    deleting: bool = False
    attributes_class: str = ""
    node_affinity: NodeSelector | None = None
    plugin: str = ""
    """In-tree plugin name; empty for CSI volumes and for sources that no attach limit knows."""
    driver: str = ""
    handle: str = ""
    translated_affinity: NodeSelector | None = None
    """`node_affinity` as csi-translation-lib rewrites it, used on nodes where the in-tree plugin is migrated."""
    fault: str = ""
    """Why csi-translation-lib refuses the in-tree source, in its words; such a volume has no driver and no handle."""
    is_local: bool = False
    """On one node's own disk: `local` or `hostPath`."""

    def is_reserved_for(self, claim: VolumeClaim) -> bool:
        """Pre-bound or bound to exactly this claim."""
        if self.claim_ref is None:
            return False
        namespace, name, uid = self.claim_ref
        return (namespace, name) == (claim.namespace, claim.name) and uid in ("", claim.uid)


@dataclass(frozen=True, slots=True)
class StorageClass:
    """A StorageClass; `binding_mode` is empty when the object does not say."""

    name: str
    provisioner: str = ""
    binding_mode: str = ""
    allowed_topologies: tuple[tuple[Requirement, ...], ...] = ()
    """Terms of which one must match; a term without requirements matches nothing."""

    @property
    def waits(self) -> bool:
        """WaitForFirstConsumer: the scheduler chooses the node first."""
        return self.binding_mode == "WaitForFirstConsumer"


@dataclass(frozen=True, slots=True)
class CsiNode:
    """What a node says of its CSI drivers: attach limits (drivers without a limit are absent), and migrated plugins."""

    name: str
    drivers: frozenset[str] = frozenset()
    limits: Mapping[str, int] = field(default_factory=dict)
    migrated: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class CsiDriver:
    """A CSIDriver object."""

    name: str
    storage_capacity: bool = False
    prevents_scheduling_if_missing: bool = False


@dataclass(frozen=True, slots=True)
class StorageCapacity:
    """A CSIStorageCapacity: the largest volume that fits (None: unknown) on nodes that `topology` selects."""

    storage_class: str
    limit: Quantity | None = None
    topology: LabelSelector | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A VolumeAttachment of a persistent volume."""

    node: str
    driver: str
    volume: str


@dataclass(frozen=True)
class Storage:
    """Claims, volumes, storage classes, CSI nodes, drivers, capacities and attachments of a cluster.

    Claims by `namespace/name`, attachments by node name, everything else by name.
    """

    claims: Mapping[str, VolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    csi_nodes: Mapping[str, CsiNode] = field(default_factory=dict)
    csi_drivers: Mapping[str, CsiDriver] = field(default_factory=dict)
    capacities: tuple[StorageCapacity, ...] = ()
    attachments: Mapping[str, tuple[Attachment, ...]] = field(default_factory=dict)


def ebs_volume_id(spelled: str) -> str | None:
    """The EBS volume behind `vol-…` or `aws://zone/vol-…`; None for a URL that names none."""
    if not spelled.startswith("aws://"):
        return spelled
    match = _EBS_IN_URL.fullmatch(spelled)
    return match.group(1) if match else None


def gce_volume_handle(disk: str, place: str = "zones/UNSPECIFIED") -> str:
    """The CSI handle of a GCE persistent disk; `place` is `zones/z` or `regions/r`."""
    return f"projects/UNSPECIFIED/{place}/disks/{disk}"
