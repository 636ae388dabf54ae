"""A pod's volume claims, and the words for a claim that is not there."""

from collections.abc import Iterator
from dataclasses import dataclass

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod, Volume, VolumeKind
from ksolver_cli.domain.storage import VolumeClaim
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Unknown, Verdict

CLAIMS = "persistentvolumeclaims"
VOLUMES = "persistentvolumes"
CLASSES = "storageclasses"


@dataclass(frozen=True, slots=True)
class ClaimUse:
    """A volume of a pod that stands for a claim: the claim's name, and whether the pod owns it (generic ephemeral)."""

    name: str
    key: str
    ephemeral: bool


def claim_uses(pod: Pod, *, ephemeral: bool = True) -> Iterator[ClaimUse]:
    """The claims behind a pod's volumes in order; those of generic ephemeral volumes are named `pod-volume`."""
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if name is not None and (ephemeral or volume.kind is VolumeKind.CLAIM):
            yield ClaimUse(name, f"{pod.namespace}/{name}", volume.kind is VolumeKind.EPHEMERAL)


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The claim a volume stands for, None for every other kind of volume."""
    if volume.kind is VolumeKind.CLAIM:
        return volume.source
    return f"{pod.name}-{volume.name}" if volume.kind is VolumeKind.EPHEMERAL else None


def is_owner(pod: Pod, claim: VolumeClaim) -> bool:
    """Whether the claim was made for the pod's generic ephemeral volume."""
    return claim.namespace == pod.namespace and bool(claim.controller_uid) and claim.controller_uid == pod.uid


def missing(cluster: Cluster, family: Family, kind: str, source: ObjectRef, rejection: Rejection) -> Verdict:
    """The rejection for an object that is not there, or Unknown where the input could not show its kind."""
    return rejection if cluster.knows(kind) else Unknown(family, kind, source)


def claim_missing(cluster: Cluster, family: Family, use: ClaimUse, reason: Reason, *params: str) -> Verdict:
    """The verdict for a claim that is not there; `reason` says in whose words."""
    source = ObjectRef("PersistentVolumeClaim", use.key)
    return missing(cluster, family, CLAIMS, source, Rejection(family, reason, params, Code.UNRESOLVABLE, source))
