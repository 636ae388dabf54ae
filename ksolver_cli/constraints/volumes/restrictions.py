"""VolumeRestrictions: disks that only one pod may write, and claims that only one pod may use."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.constraints.volumes.claims import claim_missing, claim_uses
from ksolver_cli.domain.pod import Pod, Volume, VolumeKind
from ksolver_cli.domain.verdict import Family, ObjectRef, Reason, Rejection, Verdict

_FAMILY = Family.VOLUME_RESTRICTIONS
_DISKS = frozenset({VolumeKind.GCE_PD, VolumeKind.AWS_EBS, VolumeKind.RBD, VolumeKind.ISCSI})
ONE_POD = "ReadWriteOncePod"


class VolumeRestrictions:
    """No two pods share a disk that must not be shared (on one node), or a ReadWriteOncePod claim (anywhere).

    Source: the scheduler's VolumeRestrictions plugin. ReadWriteOnce is not its business.
    """

    family = _FAMILY

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """A missing claim fails everywhere; without disks and taken claims there is nothing to say."""
        taken: str | None = None
        for use in claim_uses(pod, ephemeral=False):
            claim = state.cluster.storage.claims.get(use.key)
            if claim is None:
                return claim_missing(state.cluster, _FAMILY, use, Reason.CLAIM_MISSING, use.name)
            if taken is None and ONE_POD in claim.access_modes and _is_used(state, claim.key):
                taken = claim.key
        disks = tuple(volume for volume in pod.spec.volumes if volume.kind in _DISKS)
        if not disks and taken is None:
            return None
        return _check(disks, taken)


def _check(disks: tuple[Volume, ...], taken: str | None) -> Check:
    in_use = None if taken is None else _claim_in_use(taken)

    def check(node: NodeState) -> Verdict | None:
        for disk in disks:
            if any(conflicts(disk, other) for pod in node.pods.values() for other in pod.spec.volumes):
                return Rejection(_FAMILY, Reason.DISK_CONFLICT, source=ObjectRef("Node", node.node.name, disk.source))
        return in_use

    return check


def _claim_in_use(key: str) -> Rejection:
    return Rejection(_FAMILY, Reason.CLAIM_IN_USE, source=ObjectRef("PersistentVolumeClaim", key, ONE_POD))


def _is_used(state: State, key: str) -> bool:
    return any(use.key == key for pod, _ in state.pods() for use in claim_uses(pod, ephemeral=False))


def conflicts(disk: Volume, other: Volume) -> bool:
    """Whether two volumes are the same disk and may not be mounted by two pods of one node.

    An EBS volume never may; the others may while both sides only read.
    """
    if disk.kind is not other.kind or disk.kind not in _DISKS:
        return False
    if disk.kind is VolumeKind.AWS_EBS:
        return disk.source == other.source
    same = _same_image(disk, other) if disk.kind is VolumeKind.RBD else disk.source == other.source
    return same and not (disk.read_only and other.read_only)


def _same_image(disk: Volume, other: Volume) -> bool:
    """The same RBD pool and image on at least one common monitor."""
    mine, theirs = dict(disk.details), dict(other.details)
    if disk.source != other.source or mine.get("pool") != theirs.get("pool"):
        return False
    return not _monitors(mine).isdisjoint(_monitors(theirs))


def _monitors(details: dict[str, str]) -> frozenset[str]:
    return frozenset(details.get("monitors", "").split(",")) - {""}
