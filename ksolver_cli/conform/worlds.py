"""From a snapshot to questions: for a pod and a node, the world that holds these two and what they refer to."""

from collections.abc import Iterable, Mapping
from typing import Any

from ksolver_cli.collect.schedulers.exchange import Question
from ksolver_cli.conform.clean import clean, clean_claim, clean_node, clean_pod, clean_volume
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, VolumeKind
from ksolver_cli.snapshot.kinds import by_plural
from ksolver_cli.snapshot.model import RawObject, Snapshot

_STORAGE = ("storageclasses", "csidrivers", "csistoragecapacities")
_API_VERSIONS = {
    "priorityclasses": "scheduling.k8s.io/v1",
    "storageclasses": "storage.k8s.io/v1",
    "csidrivers": "storage.k8s.io/v1",
    "csinodes": "storage.k8s.io/v1",
    "csistoragecapacities": "storage.k8s.io/v1",
    "deviceclasses": "resource.k8s.io/v1",
    "resourceslices": "resource.k8s.io/v1",
    "resourceclaims": "resource.k8s.io/v1",
}
"""Versions that an object takes which does not say its own."""

_CLAIMED = (VolumeKind.CLAIM, VolumeKind.EPHEMERAL)


class Worlds:
    """Makes questions out of one snapshot; `cluster` is that snapshot as normalised."""

    def __init__(self, snapshot: Snapshot, cluster: Cluster) -> None:
        self._cluster = cluster
        self._objects = snapshot.objects
        self._nodes = {name: clean_node(raw) for name, raw in _by_key(snapshot, "nodes").items()}
        self._pods = _by_key(snapshot, "pods")
        self._claims = _by_key(snapshot, "persistentvolumeclaims")
        self._csi_nodes = _by_key(snapshot, "csinodes")
        self._classes = _by_key(snapshot, "priorityclasses")
        self._device_claims = _by_key(snapshot, "resourceclaims")
        self._namespaces = _by_key(snapshot, "namespaces")
        self._asked: tuple[str, dict[str, Any], dict[str, tuple[RawObject, ...]]] | None = None

    def question(self, pod: Pod, node: Node) -> Question:
        """The world of this pod and this node, which must both be of the cluster."""
        raw, beside = self._of_pod(pod)
        return Question(self._nodes[node.name], raw, {**beside, **self._of_node(node, beside)})

    def _of_pod(self, pod: Pod) -> tuple[dict[str, Any], dict[str, tuple[RawObject, ...]]]:
        # Questions come pod by pod; all nodes share what belongs to the pod.
        if self._asked is None or self._asked[0] != pod.key:
            names = {name: claim for name, claim in pod.claim_names if claim}
            raw = clean_pod(self._pods[pod.key], self._classes, names)
            self._asked = (pod.key, raw, self._beside(pod, raw, names))
        return self._asked[1], self._asked[2]

    def _beside(self, pod: Pod, raw: RawObject, names: Mapping[str, str]) -> dict[str, tuple[RawObject, ...]]:
        found: dict[str, tuple[RawObject, ...]] = {"namespaces": (self._namespace(pod.namespace),)}
        wanted = raw["spec"].get("priorityClassName")
        if wanted in self._classes:
            found["priorityclasses"] = (_cleaned(self._classes[wanted], "priorityclasses"),)
        if any(volume.kind in _CLAIMED for volume in pod.spec.volumes):
            found |= self._volumes(pod)
        elif any(volume.kind is VolumeKind.CSI for volume in pod.spec.volumes):
            found["csidrivers"] = self._all("csidrivers")
        if pod.spec.claims or pod.spec.extended_requests_by_container:
            found |= self._devices(pod, names)
        return found

    def _namespace(self, name: str) -> RawObject:
        raw = self._namespaces.get(name, {"metadata": {"name": name}})
        cleaned = clean(raw, "v1", "Namespace")
        cleaned["metadata"]["labels"] = {"kubernetes.io/metadata.name": name, **cleaned["metadata"].get("labels", {})}
        return {key: cleaned[key] for key in ("apiVersion", "kind", "metadata")}

    def _volumes(self, pod: Pod) -> dict[str, tuple[RawObject, ...]]:
        keys = {f"{pod.namespace}/{volume.source}" for volume in pod.spec.volumes if volume.kind in _CLAIMED}
        claims = [self._claims[key] for key in sorted(keys) if key in self._claims]
        uids = {_named(claim): str(claim["metadata"].get("uid", "")) for claim in claims}
        bound = {str((claim.get("spec") or {}).get("volumeName")) for claim in claims}
        volumes = [raw for raw in self._objects.get("persistentvolumes", ()) if _concerns(raw, bound, set(uids))]
        found = {kind: self._all(kind) for kind in _STORAGE}
        found["persistentvolumeclaims"] = tuple(clean_claim(claim) for claim in claims)
        found["persistentvolumes"] = tuple(clean_volume(raw, uids) for raw in volumes)
        return found

    def _devices(self, pod: Pod, names: Mapping[str, str]) -> dict[str, tuple[RawObject, ...]]:
        wanted = {*names.values(), *(claim.claim_name for claim in pod.spec.claims if claim.claim_name)}
        claims = (self._device_claims.get(f"{pod.namespace}/{name}") for name in sorted(wanted))
        return {
            "deviceclasses": self._all("deviceclasses"),
            "resourceclaims": tuple(_released(raw) for raw in claims if raw is not None),
            "resourceslices": self._all("resourceslices"),
        }

    def _of_node(self, node: Node, beside: Mapping[str, object]) -> dict[str, tuple[RawObject, ...]]:
        found: dict[str, tuple[RawObject, ...]] = {}
        if "csidrivers" in beside and node.name in self._csi_nodes:
            found["csinodes"] = (_cleaned(self._csi_nodes[node.name], "csinodes"),)
        return found

    def _all(self, kind: str) -> tuple[RawObject, ...]:
        return tuple(_cleaned(raw, kind) for raw in self._objects.get(kind, ()) if isinstance(raw, Mapping))


def _by_key(snapshot: Snapshot, kind: str) -> dict[str, RawObject]:
    found: dict[str, RawObject] = {}
    described = by_plural(kind)
    for raw in snapshot.objects.get(kind, ()):
        metadata = raw.get("metadata") if isinstance(raw, Mapping) else None
        if not isinstance(metadata, Mapping) or not metadata.get("name"):
            continue
        space = f"{metadata.get('namespace') or 'default'}/" if described is None or described.namespaced else ""
        found.setdefault(f"{space}{metadata['name']}", raw)
    return found


def _cleaned(raw: RawObject, kind: str) -> dict[str, Any]:
    described = by_plural(kind)
    version = str(raw.get("apiVersion") or _API_VERSIONS.get(kind, "v1"))
    return clean(raw, version, described.kind if described else "")


def _named(raw: RawObject) -> tuple[str, str]:
    metadata = raw["metadata"]
    return str(metadata.get("namespace") or "default"), str(metadata["name"])


def _concerns(raw: RawObject, bound: Iterable[str], claims: Iterable[tuple[str, str]]) -> bool:
    """Whether a volume is one of the pod's, reserved for one of its claims, or free for any."""
    metadata, spec = raw.get("metadata") or {}, raw.get("spec") or {}
    reference = spec.get("claimRef")
    if str(metadata.get("name")) in bound or not isinstance(reference, Mapping):
        return True
    return (str(reference.get("namespace")), str(reference.get("name"))) in claims


def _released(raw: RawObject) -> dict[str, Any]:
    """A device claim without its allocation: that goes with the pods that hold it, and none is here."""
    claim = _cleaned(raw, "resourceclaims")
    claim.pop("status", None)
    return claim
