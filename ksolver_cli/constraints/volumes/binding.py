"""VolumeBinding: bound volumes reach the node, and unbound claims can get a volume there."""

from dataclasses import dataclass, field

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.constraints.volumes.assumptions import NOTHING_ASSUMED, assume, pods_with_open_claims
from ksolver_cli.constraints.volumes.claims import (
    CLASSES,
    VOLUMES,
    ClaimUse,
    claim_missing,
    claim_uses,
    is_owner,
    missing,
)
from ksolver_cli.constraints.volumes.matching import (
    POSSIBLE,
    Provisioning,
    affinity_test,
    matched,
    provisioning,
)
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import NodeSelector
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.storage import MIGRATED_PLUGINS, PersistentVolume, VolumeClaim
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Unknown, Verdict

_FAMILY = Family.VOLUME_BINDING
_REMEMBERED = 256


class VolumeBinding:
    """Node affinity of bound volumes; for claims that wait for their first consumer, a volume to match or to make.

    Source: the scheduler's VolumeBinding plugin (binder.go) and component-helpers `storage/volume`.
    """

    family = _FAMILY

    def __init__(self) -> None:
        self._reached: _Reached | None = None

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """A claim missing, lost, being deleted, not the pod's own, or immediate and unbound fails everywhere."""
        uses = tuple(claim_uses(pod))
        for use in uses:
            verdict = _claim_verdict(use, pod, state.cluster)
            if verdict is not None:
                return verdict
        if not uses:
            return None
        reached = self._of(state.cluster)
        assumed = assume(state, reached.pending) if reached.pending else NOTHING_ASSUMED
        claims = [assumed.claims.get(use.key, state.cluster.storage.claims[use.key]) for use in uses]
        waiting = [claim for claim in claims if not claim.is_bound]
        refusals = [refusal for claim in waiting if (refusal := _waiting_verdict(claim, state.cluster)) is not None]
        if refusals:
            return min(refusals, key=_rank)
        bound = tuple(claim for claim in claims if claim.is_bound)
        return _BindingCheck(reached, bound, tuple(waiting), assumed.volumes)

    def _of(self, cluster: Cluster) -> "_Reached":
        if self._reached is None or self._reached.cluster is not cluster:
            self._reached = _Reached(cluster)
        return self._reached


class _Reached:
    """Which nodes node affinities hold on, remembered: most volumes of a cluster share a few of them, one a zone."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.pending = pods_with_open_claims(cluster)
        self._by_affinity: dict[NodeSelector, dict[str, bool]] = {}

    def nodes(self, affinity: NodeSelector) -> dict[str, bool]:
        """What is known so far of an affinity, by node name, to be filled in."""
        if len(self._by_affinity) >= _REMEMBERED:
            self._by_affinity.clear()
        return self._by_affinity.setdefault(affinity, {})


def _claim_verdict(use: ClaimUse, pod: Pod, cluster: Cluster) -> Verdict | None:
    claim = cluster.storage.claims.get(use.key)
    if claim is None:
        reason = Reason.CLAIM_NOT_CREATED if use.ephemeral else Reason.CLAIM_MISSING
        return claim_missing(cluster, _FAMILY, use, reason, use.name)
    source = ObjectRef("PersistentVolumeClaim", use.key)
    if claim.lost:
        params = (claim.name, claim.volume_name)
        return Rejection(_FAMILY, Reason.CLAIM_LOST, params, Code.UNRESOLVABLE, source)
    if claim.deleting:
        return Rejection(_FAMILY, Reason.CLAIM_DELETING, (claim.name,), Code.UNRESOLVABLE, source)
    if use.ephemeral and not is_owner(pod, claim):
        return Rejection(_FAMILY, Reason.CLAIM_NOT_OWNED, (use.key, pod.key), Code.UNRESOLVABLE, source)
    return None


def _waiting_verdict(claim: VolumeClaim, cluster: Cluster) -> Verdict | None:
    """Why an unbound claim cannot wait for the scheduler; None when it can."""
    source = ObjectRef("PersistentVolumeClaim", claim.key)
    immediate = Rejection(_FAMILY, Reason.CLAIM_UNBOUND_IMMEDIATE, (), Code.UNRESOLVABLE, source)
    if not claim.storage_class:
        return immediate
    found = cluster.storage.classes.get(claim.storage_class)
    if found is None:
        return missing(cluster, _FAMILY, CLASSES, ObjectRef("StorageClass", claim.storage_class), immediate)
    if not found.binding_mode:
        source = ObjectRef("StorageClass", found.name)
        return Rejection(_FAMILY, Reason.BINDING_MODE_MISSING, (found.name,), Code.ERROR, source)
    return None if found.waits and not claim.volume_name else immediate


def _rank(verdict: Verdict) -> int:
    """The scheduler sorts all claims before it looks at them: a fault comes first, then what is certain."""
    if isinstance(verdict, Unknown):
        return 2
    return 0 if verdict.code is Code.ERROR else 1


@dataclass(slots=True)
class _Findings:
    """What was found on one node, in the order in which the scheduler words it."""

    reasons: list[Reason] = field(default_factory=list)
    source: ObjectRef | None = None
    unknown: Unknown | None = None

    def reject(self, reason: Reason, source: ObjectRef) -> None:
        self.reasons.append(reason)
        self.source = self.source or source

    def verdict(self) -> Verdict | None:
        """The rejection, its further reasons as params; Unknown only where nothing rejects for certain."""
        if not self.reasons:
            return self.unknown
        first, *further = self.reasons
        return Rejection(_FAMILY, first, tuple(map(str, further)), Code.UNRESOLVABLE, self.source)


class _BindingCheck:
    def __init__(
        self,
        reached: _Reached,
        bound: tuple[VolumeClaim, ...],
        waiting: tuple[VolumeClaim, ...],
        taken: frozenset[str],
    ) -> None:
        self._cluster = cluster = reached.cluster
        self._reached = reached
        self._bound = bound
        self._waiting = waiting
        self._known: dict[tuple[str, bool], dict[str, bool]] = {}
        classes = {claim.storage_class for claim in waiting}
        volumes = cluster.storage.volumes.values() if classes else ()
        self._candidates = tuple(v for v in volumes if v.storage_class in classes and v.name not in taken)

    def __call__(self, node: NodeState) -> Verdict | None:
        if not self._waiting and all(self._is_reached(claim, node.node) for claim in self._bound):
            return None
        findings = _Findings()
        absent = self._check_bound(node.node, findings)
        if isinstance(absent, Rejection):
            return absent
        if self._waiting:
            self._check_waiting(node.node, findings)
        if absent is not None:
            findings.reject(Reason.VOLUME_GONE, absent)
        return findings.verdict()

    def _is_reached(self, claim: VolumeClaim, node: Node) -> bool:
        """Whether there is nothing to say of a bound claim, the most frequent answer by far."""
        volume = self._cluster.storage.volumes.get(claim.volume_name)
        if volume is None:
            return False
        translated = self._is_translated(volume, node)
        return not (translated and volume.fault) and self._reaches(volume, node, translated=translated)

    def _check_bound(self, node: Node, findings: _Findings) -> ObjectRef | Rejection | None:
        """Note the first bound volume that does not reach the node; returns the one that does not exist, or a fault."""
        for claim in self._bound:
            volume = self._cluster.storage.volumes.get(claim.volume_name)
            source = ObjectRef("PersistentVolume", claim.volume_name)
            if volume is None and self._cluster.knows(VOLUMES):
                return source
            if volume is None:
                findings.unknown = Unknown(_FAMILY, VOLUMES, source)
                continue
            translated = self._is_translated(volume, node)
            if translated and volume.fault:
                return Rejection(_FAMILY, Reason.VOLUME_UNTRANSLATABLE, (volume.fault,), Code.ERROR, source)
            if not self._reaches(volume, node, translated=translated):
                findings.reject(Reason.VOLUME_NODE_AFFINITY, source)
                return None
        return None

    def _reaches(self, volume: PersistentVolume, node: Node, *, translated: bool) -> bool:
        affinity = volume.translated_affinity if translated else volume.node_affinity
        if affinity is None:
            return True
        key = (volume.name, translated)
        if key not in self._known:
            self._known[key] = self._reached.nodes(affinity)
        known = self._known[key]
        if node.name not in known:
            known[node.name] = affinity_test(affinity)(node.labels)
        return known[node.name]

    def _is_translated(self, volume: PersistentVolume, node: Node) -> bool:
        """In-tree volumes are translated only on nodes whose CSINode marks the plugin as migrated."""
        if volume.plugin not in MIGRATED_PLUGINS:
            return False
        csi_node = self._cluster.storage.csi_nodes.get(node.name)
        return csi_node is not None and volume.plugin in csi_node.migrated

    def _check_waiting(self, node: Node, findings: _Findings) -> None:
        to_make = [claim for claim in self._waiting if claim.selected_node is not None]
        for claim in to_make:
            if claim.selected_node != node.name:
                findings.reject(Reason.VOLUME_BIND_CONFLICT, ObjectRef("PersistentVolumeClaim", claim.key))
                return
        to_match = [claim for claim in self._waiting if claim.selected_node is None]
        pairs = matched(to_match, self._candidates, node.labels)
        to_make += [claim for claim, volume in pairs if volume is None]
        answer = provisioning(to_make, self._cluster, node.labels)
        source = ObjectRef("PersistentVolumeClaim", to_make[0].key) if to_make else ObjectRef("Node", node.name)
        if answer is not POSSIBLE and to_match and not self._cluster.knows(VOLUMES):
            answer = Provisioning(missing=VOLUMES)
        if not answer.possible:
            findings.reject(Reason.VOLUME_BIND_CONFLICT, source)
        elif not answer.roomy:
            findings.reject(Reason.VOLUME_CAPACITY, source)
        elif answer.missing:
            findings.unknown = findings.unknown or Unknown(_FAMILY, answer.missing, source)
