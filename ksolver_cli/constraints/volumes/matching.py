"""Finding a volume for an unbound claim on a node: one that exists and fits, else whether one can be made there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ksolver_cli.constraints.matching.selectors import Test, pod_matcher, term_matcher
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels, LabelSelector, NodeSelector, NodeSelectorTerm
from ksolver_cli.domain.quantity import Quantity
from ksolver_cli.domain.storage import NO_PROVISIONER, ZERO, PersistentVolume, StorageClass, VolumeClaim

DRIVERS = "csidrivers"
CAPACITIES = "csistoragecapacities"


@dataclass(frozen=True, slots=True)
class Provisioning:
    """Whether volumes can be made on a node: a class that cannot, no room, or a kind that the input could not show."""

    possible: bool = True
    roomy: bool = True
    missing: str = ""


POSSIBLE = Provisioning()
NO_CLASS = Provisioning(possible=False)
NO_ROOM = Provisioning(roomy=False)


def node_admitted(volume: PersistentVolume, labels: Labels, *, translated: bool = False) -> bool:
    """Whether the volume's node affinity holds on a node with these labels; none holds everywhere."""
    affinity = volume.translated_affinity if translated else volume.node_affinity
    return affinity is None or affinity_test(affinity)(labels)


@lru_cache(maxsize=65536)
def affinity_test(affinity: NodeSelector) -> Test:
    """A test of node labels against a volume's node affinity.

    The scheduler asks it of labels alone, and so passes over `matchFields`: a term that has nothing else always holds.
    """
    terms = [term for term in affinity.terms if term.expressions]
    if any(term.fields and not term.expressions for term in affinity.terms):
        return lambda _: True
    tests = [term_matcher(NodeSelectorTerm(term.expressions)) for term in terms]
    return lambda labels: any(test(labels, "") for test in tests)


def matched(
    claims: Iterable[VolumeClaim], volumes: Sequence[PersistentVolume], labels: Labels
) -> list[tuple[VolumeClaim, PersistentVolume | None]]:
    """Each claim with the existing volume on the node that it gets, if any; the smallest choose first.

    A claim that a pod mounts twice is asked for twice, as the scheduler does it, and the second time in vain.
    """
    pairs: list[tuple[VolumeClaim, PersistentVolume | None]] = []
    chosen: set[str] = set()
    for claim in sorted(claims, key=lambda claim: claim.request or ZERO):
        volume = best_volume(claim, [volume for volume in volumes if volume.name not in chosen], labels)
        pairs.append((claim, volume))
        if volume is not None:
            chosen.add(volume.name)
    return pairs


def best_volume(claim: VolumeClaim, volumes: Iterable[PersistentVolume], labels: Labels) -> PersistentVolume | None:
    """The volume reserved for the claim, else the smallest that fits it and the node.

    A volume reserved for the claim that the node does not admit leaves the claim without any.
    """
    best: PersistentVolume | None = None
    for volume in volumes:
        if not _could_hold(volume, claim):
            continue
        if volume.is_reserved_for(claim):
            return volume if node_admitted(volume, labels) else None
        if _fits(volume, claim) and node_admitted(volume, labels) and (best is None or volume.capacity < best.capacity):
            best = volume
    return best


def _could_hold(volume: PersistentVolume, claim: VolumeClaim) -> bool:
    return (
        (volume.claim_ref is None or volume.is_reserved_for(claim))
        and volume.storage_class == claim.storage_class
        and (claim.request or ZERO) <= volume.capacity
        and volume.volume_mode == claim.volume_mode
        and volume.attributes_class == claim.attributes_class
        and not volume.deleting
    )


def _fits(volume: PersistentVolume, claim: VolumeClaim) -> bool:
    return (
        volume.phase == "Available"
        and (claim.selector is None or pod_matcher(claim.selector).matches(volume.labels))
        and set(claim.access_modes) <= set(volume.access_modes)
    )


def provisioning(claims: Iterable[VolumeClaim], cluster: Cluster, labels: Labels) -> Provisioning:
    """Whether a volume can be made on the node for every claim; the first that cannot decides."""
    for claim in claims:
        answer = _provisioning(claim, cluster.storage.classes[claim.storage_class], cluster, labels)
        if answer is not POSSIBLE:
            return answer
    return POSSIBLE


def _provisioning(claim: VolumeClaim, found: StorageClass, cluster: Cluster, labels: Labels) -> Provisioning:
    if found.provisioner in ("", NO_PROVISIONER) or not _topology_admitted(found, labels):
        return NO_CLASS
    driver = cluster.storage.csi_drivers.get(found.provisioner)
    if claim.request is None:
        return POSSIBLE
    if driver is None:
        return POSSIBLE if cluster.knows(DRIVERS) else Provisioning(missing=DRIVERS)
    if not driver.storage_capacity or _has_room(claim.request, found, cluster, labels):
        return POSSIBLE
    return NO_ROOM if cluster.knows(CAPACITIES) else Provisioning(missing=CAPACITIES)


def _topology_admitted(found: StorageClass, labels: Labels) -> bool:
    """Whether one of the class's topology terms holds; no terms hold everywhere, an empty term nowhere."""
    terms = found.allowed_topologies
    return not terms or any(term and pod_matcher(LabelSelector(term)).matches(labels) for term in terms)


def _has_room(request: Quantity, found: StorageClass, cluster: Cluster, labels: Labels) -> bool:
    return any(
        capacity.storage_class == found.name
        and capacity.limit is not None
        and capacity.limit.value() >= request.value()
        and pod_matcher(capacity.topology).matches(labels)
        for capacity in cluster.storage.capacities
    )
