"""What volumes tie pods to: nodes that a bound volume reaches, other pods on the same claim, and room to attach."""

from collections.abc import Mapping
from dataclasses import dataclass

from ksolver_cli.constraints.volumes.claims import claim_uses
from ksolver_cli.constraints.volumes.limits import attached_volumes, lingering_volumes
from ksolver_cli.constraints.volumes.restrictions import ONE_POD
from ksolver_cli.constraints.volumes.zone import VolumeTopology, volume_topologies
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import NodeSelector
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.storage import MIGRATED_PLUGINS, CsiNode

_ONE_NODE = frozenset({"ReadWriteOnce", ONE_POD})
_EVERYTHING_MIGRATED = CsiNode("", migrated=MIGRATED_PLUGINS)


@dataclass(frozen=True, slots=True)
class ClaimPin:
    """A bound volume's demands on nodes: its affinity (VolumeBinding) and its zone labels (VolumeZone)."""

    claim: str
    volume: str
    affinity: NodeSelector | None
    topologies: tuple[VolumeTopology, ...]
    is_local: bool
    """On one node's own disk: the pod cannot leave it."""


@dataclass(frozen=True, slots=True)
class SharedClaim:
    """A claim that more than one pod uses though its volume is mounted on one node (or by one pod) at a time."""

    claim: str
    pods: tuple[str, ...]
    one_pod: bool
    """ReadWriteOncePod: of these pods only one can run."""


def claim_pins(cluster: Cluster, pod: Pod) -> tuple[ClaimPin, ...]:
    """What the bound volumes of a pod demand of a node; volumes without demands are left out.

    Claims that are unbound, missing, or bound to a volume that is missing pin nothing here; VolumeBinding judges them.
    """
    pins = []
    for use in claim_uses(pod):
        claim = cluster.storage.claims.get(use.key)
        volume = cluster.storage.volumes.get(claim.volume_name) if claim is not None else None
        if volume is None:
            continue
        topologies = () if use.ephemeral else volume_topologies(volume)
        if volume.node_affinity is not None or topologies or volume.is_local:
            pins.append(ClaimPin(use.key, volume.name, volume.node_affinity, topologies, volume.is_local))
    return tuple(pins)


def shared_claims(cluster: Cluster) -> tuple[SharedClaim, ...]:
    """Claims used by several pods that are not finished, where all access modes allow one node only.

    Filter does not check ReadWriteOnce; a pod on a second node would wait for its volume for ever, so they move as one.
    """
    users: dict[str, list[str]] = {}
    for pod in cluster.pods:
        if not pod.is_finished:
            for key in dict.fromkeys(use.key for use in claim_uses(pod)):
                users.setdefault(key, []).append(pod.key)
    found = []
    for key, pods in sorted(users.items()):
        claim = cluster.storage.claims.get(key)
        if len(pods) > 1 and claim is not None and claim.access_modes and _ONE_NODE.issuperset(claim.access_modes):
            found.append(SharedClaim(key, tuple(pods), ONE_POD in claim.access_modes))
    return tuple(found)


def rwop_conflicts(cluster: Cluster) -> tuple[SharedClaim, ...]:
    """ReadWriteOncePod claims that several pods want: VolumeRestrictions lets one of them run at a time."""
    return tuple(shared for shared in shared_claims(cluster) if shared.one_pod)


def attachments_of(cluster: Cluster, pod: Pod) -> Mapping[str, frozenset[str]]:
    """CSI driver to the volumes that the pod attaches through it.

    Counts of several pods do not add up where they share a volume: take the union. In-tree disks are taken as migrated.
    """
    attached, _ = attached_volumes([pod], _EVERYTHING_MIGRATED, cluster)
    by_driver: dict[str, set[str]] = {}
    for volume, driver in attached.items():
        by_driver.setdefault(driver, set()).add(volume)
    return {driver: frozenset(volumes) for driver, volumes in by_driver.items()}


def attach_room(cluster: Cluster, node_name: str) -> Mapping[str, int]:
    """CSI driver to the volumes that the node can attach for pods; drivers without a limit are absent.

    Volumes that linger on the node, attached though no pod there uses them, are taken off.
    """
    csi_node = cluster.storage.csi_nodes.get(node_name)
    if csi_node is None:
        return {}
    here = [pod for pod in cluster.pods if pod.is_bound and pod.node_name == node_name]
    present, _ = attached_volumes(here, csi_node, cluster)
    lingering = list(lingering_volumes(node_name, present, cluster).values())
    return {driver: max(limit - lingering.count(driver), 0) for driver, limit in csi_node.limits.items()}
