"""NodeVolumeLimits: CSI drivers attach only so many volumes to a node."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.constraints.volumes.claims import CLASSES, VOLUMES, ClaimUse, claim_missing, claim_uses, is_owner
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod, Volume, VolumeKind
from ksolver_cli.domain.storage import (
    AWS_EBS,
    AZURE_DISK,
    CINDER,
    CSI_DRIVERS,
    GCE_PD,
    MIGRATED_PLUGINS,
    PORTWORX,
    CsiNode,
    VolumeClaim,
    ebs_volume_id,
    gce_volume_handle,
)
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Unknown, Verdict

_FAMILY = Family.NODE_VOLUME_LIMITS
_INLINE_PLUGINS = {
    VolumeKind.AWS_EBS: AWS_EBS,
    VolumeKind.GCE_PD: GCE_PD,
    VolumeKind.AZURE_DISK: AZURE_DISK,
    VolumeKind.CINDER: CINDER,
}
_CSI_NODES = "csinodes"
_DRIVERS = "csidrivers"
_ATTACHMENTS = "volumeattachments"

Attached = dict[str, str]
"""Volume, as `driver/handle`, to its driver. Two pods with the same volume attach it once."""


class NodeVolumeLimits:
    """Volumes of one CSI driver on a node stay within the count in its CSINode; in-tree disks count as their driver's.

    Source: the scheduler's NodeVolumeLimits plugin (csi.go), csi-translation-lib.
    """

    family = _FAMILY

    def __init__(self) -> None:
        self._present: _Present | None = None

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to say of a pod without claims and without in-tree disks; the rest depends on the node."""
        if not any(_is_countable(volume) for volume in pod.spec.volumes):
            return None
        if self._present is None or self._present.cluster is not state.cluster:
            self._present = _Present(state.cluster)
        return _LimitCheck(pod, self._present)


@dataclass(frozen=True, slots=True)
class _Counted:
    """Volumes of pods, how many each driver attaches on their node, and what spoils the count."""

    attached: Attached
    counts: Counter[str]
    fault: Rejection | None
    blind: Unknown | None


class _Present:
    """What is attached to nodes, counted again only where the pods on a node have changed."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._seen: dict[str, tuple[tuple[str, ...], _Counted]] = {}

    def on(self, node: NodeState, csi_node: CsiNode) -> _Counted:
        """The count of a node."""
        pods, name = tuple(node.pods), node.node.name
        if name not in self._seen or self._seen[name][0] != pods:
            self._seen[name] = (pods, self._count(node, csi_node))
        return self._seen[name][1]

    def _count(self, node: NodeState, csi_node: CsiNode) -> _Counted:
        attached, blind = attached_volumes(node.pods.values(), csi_node, self.cluster)
        counts = Counter(attached.values())
        counts.update(lingering_volumes(node.node.name, attached, self.cluster).values())
        return _Counted(attached, counts, _stolen_claim(node.pods.values(), self.cluster), blind)


class _LimitCheck:
    def __init__(self, pod: Pod, present: _Present) -> None:
        self._pod = pod
        self._present = present
        self._cluster = present.cluster
        self._refusal = _claims_refusal(pod, present.cluster)
        self._new: dict[frozenset[str] | None, _Counted] = {}

    def __call__(self, node: NodeState) -> Verdict | None:
        if self._refusal is not None:
            return self._refusal
        name = node.node.name
        csi_node = self._cluster.storage.csi_nodes.get(name)
        new = self._added(csi_node)
        if csi_node is None and not self._cluster.knows(_CSI_NODES):
            return Unknown(_FAMILY, _CSI_NODES, ObjectRef("CSINode", name)) if new.attached or new.blind else None
        if new.blind is not None:
            return new.blind if csi_node is not None and csi_node.limits else None
        if not new.attached:
            return None
        return self._driver_missing(new.attached, csi_node) or self._over_limit(new, csi_node, node)

    def _added(self, csi_node: CsiNode | None) -> _Counted:
        """What the pod would attach; that depends on the node only by which in-tree plugins are migrated there."""
        key = None if csi_node is None else csi_node.migrated
        if key not in self._new:
            attached, blind = attached_volumes([self._pod], csi_node, self._cluster)
            self._new[key] = _Counted(attached, Counter(attached.values()), None, blind)
        return self._new[key]

    def _driver_missing(self, new: Attached, csi_node: CsiNode | None) -> Verdict | None:
        """Since 1.37 a driver may insist on being installed (CSIDriver.spec.preventPodSchedulingIfMissing)."""
        if self._cluster.kubernetes_version < (1, 37):
            return None
        installed = frozenset[str]() if csi_node is None else csi_node.drivers
        for driver in sorted(set(new.values()) - installed):
            found = self._cluster.storage.csi_drivers.get(driver)
            if found is not None and found.prevents_scheduling_if_missing:
                return Rejection(_FAMILY, Reason.DRIVER_MISSING, (driver,), source=ObjectRef("CSIDriver", driver))
            if found is None and not self._cluster.knows(_DRIVERS):
                return Unknown(_FAMILY, _DRIVERS, ObjectRef("CSIDriver", driver))
        return None

    def _over_limit(self, new: _Counted, csi_node: CsiNode | None, node: NodeState) -> Verdict | None:
        if csi_node is None or not csi_node.limits:
            return None
        present = self._present.on(node, csi_node)
        if present.fault is not None:
            return present.fault
        is_added = False
        for driver, asked in new.counts.items():
            limit = csi_node.limits.get(driver)
            if limit is None:
                continue
            if present.counts[driver] + asked > limit or not self._is_sure(present):
                # Close to the limit it matters which of the volumes are there already.
                asked = sum(d == driver for volume, d in new.attached.items() if volume not in present.attached)
            is_added = is_added or asked > 0
            if asked and present.counts[driver] + asked > limit:
                return Rejection(_FAMILY, Reason.VOLUME_LIMIT, (driver,), source=_limit(node, driver))
        return self._unsure(present, node) if is_added else None

    def _is_sure(self, present: _Counted) -> bool:
        return present.blind is None and self._cluster.knows(_ATTACHMENTS)

    def _unsure(self, present: _Counted, node: NodeState) -> Unknown | None:
        return present.blind if self._cluster.knows(_ATTACHMENTS) else Unknown(_FAMILY, _ATTACHMENTS, _limit(node))


def _limit(node: NodeState, driver: str = "") -> ObjectRef:
    return ObjectRef("CSINode", node.node.name, driver)


def _is_countable(volume: Volume) -> bool:
    return volume.kind in (VolumeKind.CLAIM, VolumeKind.EPHEMERAL) or volume.kind in _INLINE_PLUGINS


def _claims_refusal(pod: Pod, cluster: Cluster) -> Verdict | None:
    """A claim of a new pod that is missing, or that belongs to another pod, is refused on every node."""
    for use in claim_uses(pod):
        claim = cluster.storage.claims.get(use.key)
        if claim is None:
            return claim_missing(cluster, _FAMILY, use, Reason.CLAIM_LOOKUP, use.key, use.name)
        if use.ephemeral and not is_owner(pod, claim):
            return _not_owned(use, pod)
    return None


def _stolen_claim(pods: Iterable[Pod], cluster: Cluster) -> Rejection | None:
    """A pod on the node whose ephemeral claim is not its own makes the plugin fail, whatever the new pod asks."""
    for pod in pods:
        for use in claim_uses(pod):
            claim = cluster.storage.claims.get(use.key) if use.ephemeral else None
            if claim is not None and not is_owner(pod, claim):
                return _not_owned(use, pod)
    return None


def _not_owned(use: ClaimUse, pod: Pod) -> Rejection:
    source = ObjectRef("PersistentVolumeClaim", use.key)
    return Rejection(_FAMILY, Reason.CLAIM_NOT_OWNED, (use.key, pod.key), Code.ERROR, source)


def attached_volumes(
    pods: Iterable[Pod], csi_node: CsiNode | None, cluster: Cluster
) -> tuple[Attached, Unknown | None]:
    """The distinct volumes that the pods attach to a node, and what the input could not show of them, if anything."""
    found: Attached = {}
    blind: Unknown | None = None
    for pod in pods:
        for volume in pod.spec.volumes:
            disk = _inline_disk(volume, csi_node, cluster)
            if disk is not None:
                found[f"{disk[0]}/{disk[1]}"] = disk[0]
        for use in claim_uses(pod):
            claim = cluster.storage.claims.get(use.key)
            if claim is None:
                blind = blind or _blind(cluster, "persistentvolumeclaims", "PersistentVolumeClaim", use.key)
                continue
            disk, hidden = _claimed_disk(claim, csi_node, cluster)
            blind = blind or hidden
            if disk is not None:
                found[f"{disk[0]}/{disk[1]}"] = disk[0]
    return found, blind


def _blind(cluster: Cluster, kind: str, api_kind: str, name: str) -> Unknown | None:
    return None if cluster.knows(kind) else Unknown(_FAMILY, kind, ObjectRef(api_kind, name))


def _claimed_disk(
    claim: VolumeClaim, csi_node: CsiNode | None, cluster: Cluster
) -> tuple[tuple[str, str] | None, Unknown | None]:
    """Driver and handle behind a claim; a claim without a volume counts as one yet to be made by its class."""
    volume = cluster.storage.volumes.get(claim.volume_name) if claim.volume_name else None
    if volume is not None:
        counted = not volume.plugin or _is_migrated(volume.plugin, csi_node, cluster)
        return ((volume.driver, volume.handle) if counted and volume.driver and volume.handle else None), None
    hidden = _blind(cluster, VOLUMES, "PersistentVolume", claim.volume_name) if claim.volume_name else None
    if hidden is not None or not claim.storage_class:
        return None, hidden
    found = cluster.storage.classes.get(claim.storage_class)
    if found is None:
        return None, _blind(cluster, CLASSES, "StorageClass", claim.storage_class)
    if found.provisioner not in CSI_DRIVERS:
        return ((found.provisioner, f"new {claim.key}") if found.provisioner else None), None
    if not _is_migrated(found.provisioner, csi_node, cluster):
        return None, None
    return (CSI_DRIVERS[found.provisioner], f"new {claim.key}"), None


def _inline_disk(volume: Volume, csi_node: CsiNode | None, cluster: Cluster) -> tuple[str, str] | None:
    plugin = _INLINE_PLUGINS.get(volume.kind)
    if plugin is None or not _is_migrated(plugin, csi_node, cluster):
        return None
    handle: str | None = volume.source
    if plugin == AWS_EBS:
        handle = ebs_volume_id(volume.source)
    elif plugin == GCE_PD:
        handle = gce_volume_handle(volume.source)
    elif plugin == AZURE_DISK:
        handle = dict(volume.details).get("diskURI", "")
    return None if handle is None else (CSI_DRIVERS[plugin], handle)


def _is_migrated(plugin: str, csi_node: CsiNode | None, cluster: Cluster) -> bool:
    """In-tree disks count on every node with a CSINode; Portworx needed the CSINode's mark until 1.36."""
    if csi_node is None or plugin not in MIGRATED_PLUGINS:
        return False
    return plugin != PORTWORX or cluster.kubernetes_version >= (1, 36) or plugin in csi_node.migrated


def lingering_volumes(node: str, present: Attached, cluster: Cluster) -> Attached:
    """Volumes still attached to the node that no pod there uses."""
    found: Attached = {}
    for attachment in cluster.storage.attachments.get(node, ()):
        volume = cluster.storage.volumes.get(attachment.volume)
        if volume is None or volume.plugin or not volume.driver:
            continue
        key = f"{attachment.driver}/{volume.handle}"
        if key not in present:
            found[key] = attachment.driver
    return found
