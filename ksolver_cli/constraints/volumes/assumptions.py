"""Volumes that pods placed in a replay have taken for claims which were open when the input was made.

The scheduler binds them as it places a pod (Reserve), so that the next pod finds them gone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ksolver_cli.constraints.state import State
from ksolver_cli.constraints.volumes.claims import claim_uses
from ksolver_cli.constraints.volumes.matching import matched
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.storage import PersistentVolume, VolumeClaim


@dataclass(frozen=True, slots=True)
class Assumed:
    """Claims as they are by now (by `namespace/name`), and the names of volumes that are taken."""

    claims: Mapping[str, VolumeClaim] = field(default_factory=dict)
    volumes: frozenset[str] = frozenset()


NOTHING_ASSUMED = Assumed()


def pods_with_open_claims(cluster: Cluster) -> tuple[Pod, ...]:
    """The pods not yet bound with a claim that is not yet bound."""
    claims = cluster.storage.claims
    return tuple(
        pod
        for pod in cluster.pods
        if not pod.node_name and any(use.key in claims and not claims[use.key].is_bound for use in claim_uses(pod))
    )


def assume(state: State, pending: Iterable[Pod]) -> Assumed:
    """What those of the pending pods that are on a node by now have taken, in the cluster's order."""
    claims: dict[str, VolumeClaim] = {}
    taken: dict[str, PersistentVolume] = {}
    for pod in pending:
        node_name = state.node_of(pod)
        if node_name is not None:
            here = [claim for claim in _open_claims(pod, state.cluster) if claim.key not in claims]
            found = _matches(here, state.cluster, taken, state.nodes[node_name].node.labels)
            taken.update({volume.name: volume for volume in found.values()})
            claims.update({claim.key: _settled(claim, found.get(claim.key), node_name) for claim in here})
    return Assumed(claims, frozenset(taken)) if claims else NOTHING_ASSUMED


def _open_claims(pod: Pod, cluster: Cluster) -> list[VolumeClaim]:
    found = (cluster.storage.claims.get(use.key) for use in claim_uses(pod))
    return [claim for claim in found if claim is not None and not claim.is_bound]


def _matches(
    claims: Iterable[VolumeClaim], cluster: Cluster, taken: Mapping[str, PersistentVolume], labels: Labels
) -> dict[str, PersistentVolume]:
    to_match = [claim for claim in claims if claim.selected_node is None]
    classes = {claim.storage_class for claim in to_match}
    free = [v for v in cluster.storage.volumes.values() if v.storage_class in classes and v.name not in taken]
    return {claim.key: volume for claim, volume in matched(to_match, free, labels) if volume is not None}


def _settled(claim: VolumeClaim, volume: PersistentVolume | None, node_name: str) -> VolumeClaim:
    """The claim bound to its volume, or with the node on which its volume is made."""
    if volume is None:
        return replace(claim, selected_node=node_name)
    return replace(claim, volume_name=volume.name, bind_completed=True)
