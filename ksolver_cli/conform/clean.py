"""Objects of a snapshot made ready to be created anew: nothing of a server's own, nothing that admission would refuse.

Both sides judge the cleaned objects, so that a disagreement is one about the rules and not about the input.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ksolver_cli.snapshot.model import RawObject
from ksolver_cli.snapshot.prune import pod_spec

_SPEC_DROPPED = frozenset(
    # The scheduler never filters on these, and admission would hold them against classes and accounts that are absent.
    {"nodeName", "schedulingGates", "schedulerName", "priority", "preemptionPolicy", "ephemeralContainers"}
)
_SEEN_VOLUMES = (
    "persistentVolumeClaim",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "azureDisk",
    "cinder",
    "rbd",
    "iscsi",
    "csi",
    "hostPath",
    "emptyDir",
)
NO_IMAGE = "none"

COPIED = {"kubernetes.io/os": "beta.kubernetes.io/os", "kubernetes.io/arch": "beta.kubernetes.io/arch"}
"""Labels that the node controller of any cluster copies."""


def metadata_of(raw: RawObject, *, annotations: bool = False) -> dict[str, Any]:
    """Name, namespace and labels; annotations where the scheduler reads them."""
    source = raw.get("metadata") or {}
    keys = ("name", "namespace", "labels", "annotations") if annotations else ("name", "namespace", "labels")
    return {key: source[key] for key in keys if source.get(key)}


def clean(raw: RawObject, api_version: str, kind: str) -> dict[str, Any]:
    """Any object without what a server adds; its spec, parameters and status as they are."""
    body = {key: value for key, value in raw.items() if key not in ("metadata", "apiVersion", "kind")}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata_of(raw, annotations=True), **body}


def clean_node(raw: RawObject) -> dict[str, Any]:
    """The node, ready, without images and whatever only a kubelet reads."""
    spec = raw.get("spec") or {}
    status = raw.get("status") or {}
    kept = {key: status[key] for key in ("allocatable", "capacity", "declaredFeatures") if key in status}
    metadata = metadata_of(raw)
    labels = metadata.get("labels", {})
    if labels:
        metadata["labels"] = {**labels, **{copy: labels[key] for key, copy in COPIED.items() if key in labels}}
    kept["conditions"] = [{"type": "Ready", "status": "True", "reason": "Conform", "message": "for one question"}]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": {key: spec[key] for key in ("taints", "unschedulable", "providerID") if key in spec},
        "status": kept,
    }


def clean_pod(raw: RawObject, classes: Iterable[str], claim_names: Mapping[str, str]) -> dict[str, Any]:
    """The pod as new.

    It keeps its priority class only if that is among `classes`. Claims that were made for it (`claim_names`, by the
    name in the pod) become claims that it names, since nobody will make them again; the scheduler looks at them alike.
    """
    kept: dict[str, Any] = {key: value for key, value in pod_spec(raw["spec"]).items() if key not in _SPEC_DROPPED}
    if kept.get("priorityClassName") not in {*classes, "system-cluster-critical", "system-node-critical"}:
        kept.pop("priorityClassName", None)
    for field in ("containers", "initContainers"):
        if kept.get(field):
            kept[field] = [{"image": NO_IMAGE, **container} for container in kept[field]]
    name = str(raw["metadata"]["name"])
    if kept.get("volumes"):
        kept["volumes"] = [_volume(volume, name) for volume in kept["volumes"]]
    if kept.get("resourceClaims"):
        kept["resourceClaims"] = [_claim(entry, claim_names) for entry in kept["resourceClaims"]]
    metadata = {"namespace": "default", **metadata_of(raw)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": kept}


def _volume(raw: RawObject, pod_name: str) -> dict[str, Any]:
    name = raw.get("name")
    if "ephemeral" in raw:
        return {"name": name, "persistentVolumeClaim": {"claimName": f"{pod_name}-{name}"}}
    seen = {key: raw[key] for key in _SEEN_VOLUMES if key in raw}
    return {"name": name, **(seen or {"emptyDir": {}})}


def _claim(raw: RawObject, claim_names: Mapping[str, str]) -> dict[str, Any]:
    made = claim_names.get(str(raw.get("name")))
    return {"name": raw.get("name"), "resourceClaimName": made} if made else dict(raw)


def clean_claim(raw: RawObject) -> dict[str, Any]:
    """A PersistentVolumeClaim, its namespace said."""
    claim = clean(raw, "v1", "PersistentVolumeClaim")
    claim["metadata"] = {"namespace": "default", **claim["metadata"]}
    return claim


def clean_volume(raw: RawObject, claim_uids: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """A PersistentVolume whose claim is named without the uid, if it is that very claim; phase as it must have been."""
    volume = clean(raw, "v1", "PersistentVolume")
    reference = (volume.get("spec") or {}).get("claimRef")
    if isinstance(reference, Mapping):
        wanted = claim_uids.get((str(reference.get("namespace")), str(reference.get("name"))))
        dropped = {"resourceVersion", "uid"} if wanted == reference.get("uid") else {"resourceVersion"}
        kept = {key: value for key, value in reference.items() if key not in dropped}
        volume["spec"] = {**volume["spec"], "claimRef": kept}
    bound = isinstance(reference, Mapping)
    status = raw.get("status") or {}
    phase = status.get("phase") or ("Bound" if bound else "Available")
    # The simulator looks up the claim of whatever says that it is bound.
    volume["status"] = {**status, "phase": "Available" if phase == "Bound" and not bound else phase}
    return volume
