"""VolumeZone: a pod goes where the zone and region labels of its bound volumes allow."""

from dataclasses import dataclass

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.constraints.volumes.claims import CLASSES, VOLUMES, claim_missing, claim_uses, missing
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.storage import PersistentVolume, VolumeClaim
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Verdict

_FAMILY = Family.VOLUME_ZONE
_ZONE = "topology.kubernetes.io/zone"
_REGION = "topology.kubernetes.io/region"
_BETA = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
}
TOPOLOGY_LABELS = (*_BETA, _ZONE, _REGION)
"""Every label key that says where a volume or a node is, in the order the scheduler looks at them."""


@dataclass(frozen=True, slots=True)
class VolumeTopology:
    """A volume's demand on a node label: the key, as the volume spells it, and the values that will do."""

    volume: str
    key: str
    values: frozenset[str]

    def admits(self, labels: Labels) -> bool:
        """Whether a node with these labels will do; a beta key also reads the node's label of today."""
        value = labels.get(self.key, labels.get(_BETA.get(self.key, self.key)))
        return value is not None and value in self.values


class VolumeZone:
    """Labels of bound volumes against labels of nodes; a node without any such label is taken as one zone for all.

    Source: the scheduler's VolumeZone plugin. Generic ephemeral volumes are not its business.
    """

    family = _FAMILY

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Find the topologies of the pod's volumes; an unbound claim of an immediate class fails everywhere."""
        demands: list[VolumeTopology] = []
        for use in claim_uses(pod, ephemeral=False):
            claim = state.cluster.storage.claims.get(use.key)
            if claim is None:
                return claim_missing(state.cluster, _FAMILY, use, Reason.CLAIM_MISSING, use.name)
            if not claim.volume_name:
                verdict = _unbound(state.cluster, claim)
                if verdict is not None:
                    return verdict
                continue
            volume = state.cluster.storage.volumes.get(claim.volume_name)
            if volume is None:
                return _volume_missing(state.cluster, claim)
            demands.extend(volume_topologies(volume))
        return _check(tuple(demands)) if demands else None


def _check(demands: tuple[VolumeTopology, ...]) -> Check:
    def check(node: NodeState) -> Verdict | None:
        labels = node.node.labels
        if not any(key in labels for key in TOPOLOGY_LABELS):
            return None
        for demand in demands:
            if not demand.admits(labels):
                source = ObjectRef("PersistentVolume", demand.volume, demand.key)
                return Rejection(_FAMILY, Reason.VOLUME_ZONE, code=Code.UNRESOLVABLE, source=source)
        return None

    return check


def volume_topologies(volume: PersistentVolume) -> tuple[VolumeTopology, ...]:
    """What the volume's labels ask of a node. Values are split at `__`; a label with an empty part is ignored."""
    found = []
    for key in TOPOLOGY_LABELS:
        if key in volume.labels:
            values = frozenset(value.strip() for value in volume.labels[key].split("__"))
            if "" not in values:
                found.append(VolumeTopology(volume.name, key, values))
    return tuple(found)


def _unbound(cluster: Cluster, claim: VolumeClaim) -> Verdict | None:
    source = ObjectRef("PersistentVolumeClaim", claim.key)
    if not claim.storage_class:
        return Rejection(_FAMILY, Reason.CLAIM_WITHOUT_CLASS, (claim.name,), Code.UNRESOLVABLE, source)
    found = cluster.storage.classes.get(claim.storage_class)
    if found is None:
        rejection = Rejection(_FAMILY, Reason.STORAGE_CLASS_MISSING, (claim.storage_class,), Code.UNRESOLVABLE, source)
        return missing(cluster, _FAMILY, CLASSES, ObjectRef("StorageClass", claim.storage_class), rejection)
    if found.waits:
        return None
    reason = Reason.CLAIM_UNBOUND if found.binding_mode else Reason.BINDING_MODE_MISSING
    return Rejection(_FAMILY, reason, (found.name,), Code.UNRESOLVABLE, source)


def _volume_missing(cluster: Cluster, claim: VolumeClaim) -> Verdict:
    source = ObjectRef("PersistentVolume", claim.volume_name)
    rejection = Rejection(_FAMILY, Reason.VOLUME_MISSING, (claim.volume_name,), Code.UNRESOLVABLE, source)
    return missing(cluster, _FAMILY, VOLUMES, source, rejection)
