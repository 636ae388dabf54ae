"""Redaction as data flows in: what analysis needs is kept by allow-list, everything else never enters a snapshot.

Never kept: secrets, configmaps, env and its values, commands and arguments, probes, lifecycle hooks, managedFields,
annotations outside the list, and what volumes name besides claims and disks.
"""

from collections.abc import Callable, Mapping
from typing import Any

RawMap = Mapping[str, Any]
_Pruner = Callable[[Any], Any]

ANNOTATIONS = frozenset(
    {
        "kubernetes.io/config.mirror",
        "kubernetes.io/config.source",
        "karpenter.sh/do-not-disrupt",
        "karpenter.sh/do-not-evict",
        "karpenter.sh/do-not-consolidate",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes",
        "cluster-autoscaler.kubernetes.io/scale-down-disabled",
        "cluster-autoscaler.kubernetes.io/enable-ds-eviction",
        "cluster-autoscaler.kubernetes.io/daemonset-pod",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/provisioned-by",
        "volume.kubernetes.io/selected-node",
        "volume.kubernetes.io/storage-provisioner",
        "volume.beta.kubernetes.io/storage-class",
        "volume.beta.kubernetes.io/storage-provisioner",
        "storageclass.kubernetes.io/is-default-class",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "resource.kubernetes.io/pod-claim-name",
        "deployment.kubernetes.io/revision",
        "scheduling.k8s.io/group-name",
        "alibabacloud.com/gpu-count",
        "alibabacloud.com/gpu-index",
        "alibabacloud.com/gpu-milli",
        "hami.io/gpu-mem",
        "run.ai/reservation",
    }
)
ANNOTATION_PREFIXES = ("ksolver.dev/", "ksolver.ai/", "tensor-fusion.ai/")

_METADATA = (
    "name",
    "namespace",
    "uid",
    "labels",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
    "generation",
)
_CONTAINER = ("name", "image", "resources", "resizePolicy", "ports", "restartPolicy")
_POD_SPEC = (
    "nodeName",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "overhead",
    "priority",
    "priorityClassName",
    "preemptionPolicy",
    "schedulerName",
    "schedulingGates",
    "runtimeClassName",
    "hostNetwork",
    "os",
    "restartPolicy",
    "terminationGracePeriodSeconds",
    "activeDeadlineSeconds",
    "resourceClaims",
    "resources",
    "hostUsers",
)
_POD_STATUS = (
    "phase",
    "reason",
    "nominatedNodeName",
    "startTime",
    "qosClass",
    "resize",
    "resourceClaimStatuses",
    "resources",
    "allocatedResources",
    "extendedResourceClaimStatus",
)
_CONTAINER_STATUS = (
    "name",
    "ready",
    "restartCount",
    "allocatedResources",
    "resources",
    "state",
    "lastState",
    "started",
)
_CLAIM_VOLUMES = (
    "persistentVolumeClaim",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "azureDisk",
    "azureFile",
    "cinder",
    "hostPath",
    "emptyDir",
)


def _take(raw: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: raw[key] for key in keys if key in raw} if isinstance(raw, Mapping) else {}


def _each(raw: Any, prune: _Pruner) -> Any:
    # A list that is not a list is left for normalise to name as a bad object.
    return [prune(item) for item in raw] if isinstance(raw, list) else raw


def _annotations(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    return {k: v for k, v in raw.items() if k in ANNOTATIONS or str(k).startswith(ANNOTATION_PREFIXES)}


def _metadata(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    kept = _take(raw, _METADATA)
    if raw.get("annotations"):
        kept_annotations = _annotations(raw["annotations"])
        if kept_annotations:
            kept["annotations"] = kept_annotations
    if "ownerReferences" in raw:
        owner_keys = ("apiVersion", "kind", "name", "uid", "controller")
        kept["ownerReferences"] = _each(raw["ownerReferences"], lambda owner: _take(owner, owner_keys))
    return kept


def _volume(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    kept = _take(raw, ("name", *_CLAIM_VOLUMES))
    if "ephemeral" in raw:
        kept["ephemeral"] = raw["ephemeral"]
    for source in raw:
        if source in kept:
            continue
        kept[source] = _volume_source(source, raw[source])
    return kept


def _volume_source(source: str, raw: Any) -> dict[str, Any]:
    if source == "csi":
        return _take(raw, ("driver", "readOnly"))
    if source == "rbd":
        return _take(raw, ("monitors", "pool", "image", "readOnly"))
    if source == "iscsi":
        return _take(raw, ("targetPortal", "iqn", "lun", "readOnly"))
    return {}


def _container(raw: Any) -> Any:
    return _take(raw, _CONTAINER) if isinstance(raw, Mapping) else raw


def pod_spec(raw: Any) -> Any:
    """A pod spec without env, commands, probes and the like."""
    if not isinstance(raw, Mapping):
        return raw
    kept = _take(raw, _POD_SPEC)
    for field in ("containers", "initContainers", "ephemeralContainers"):
        if field in raw:
            kept[field] = _each(raw[field], _container)
    if "volumes" in raw:
        kept["volumes"] = _each(raw["volumes"], _volume)
    return kept


def _terminated(raw: Any) -> dict[str, Any]:
    state = _take(raw, ("terminated", "waiting", "running"))
    keys = ("reason", "exitCode", "startedAt", "finishedAt")
    return {name: _take(value, keys) for name, value in state.items()}


def _container_status(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    kept = _take(raw, _CONTAINER_STATUS)
    for field in ("state", "lastState"):
        if field in kept:
            kept[field] = _terminated(kept[field])
    return kept


def _condition(raw: Any) -> Any:
    return _take(raw, ("type", "status", "reason", "lastTransitionTime"))


def _pod_status(raw: Any) -> Any:
    if not isinstance(raw, Mapping):
        return raw
    kept = _take(raw, _POD_STATUS)
    for field in ("containerStatuses", "initContainerStatuses"):
        if field in raw:
            kept[field] = _each(raw[field], _container_status)
    if "conditions" in raw:
        kept["conditions"] = _each(raw["conditions"], _condition)
    return kept


def _pod(raw: RawMap) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    if "spec" in raw:
        kept["spec"] = pod_spec(raw["spec"])
    if "status" in raw:
        kept["status"] = _pod_status(raw["status"])
    return kept


def _node(raw: RawMap) -> dict[str, Any]:
    kept: dict[str, Any] = {"spec": _take(raw.get("spec"), ("taints", "unschedulable", "providerID"))}
    if isinstance(raw.get("spec", {}), Mapping) is False:
        kept["spec"] = raw["spec"]
    status = raw.get("status")
    if isinstance(status, Mapping):
        fields = ("allocatable", "capacity", "declaredFeatures", "features", "runtimeHandlers")
        kept["status"] = _take(status, fields)
        kept["status"]["nodeInfo"] = _take(
            status.get("nodeInfo"), ("architecture", "operatingSystem", "kubeletVersion")
        )
        if "conditions" in status:
            kept["status"]["conditions"] = _each(status["conditions"], _condition)
        if "images" in status:
            kept["status"]["images"] = _each(status["images"], lambda image: _take(image, ("names", "sizeBytes")))
    elif "status" in raw:
        kept["status"] = status
    return kept


def _templated(raw: RawMap) -> dict[str, Any]:
    spec = raw.get("spec")
    if not isinstance(spec, Mapping):
        return {"spec": spec}
    kept = {key: value for key, value in spec.items() if key not in ("template", "jobTemplate", "volumeClaimTemplates")}
    template = spec.get("template")
    if isinstance(template, Mapping):
        kept["template"] = {
            "metadata": _take(template.get("metadata"), ("labels",)),
            "spec": pod_spec(template.get("spec")),
        }
    status_keys = ("replicas", "readyReplicas", "availableReplicas", "desiredNumberScheduled", "active", "succeeded")
    return {"spec": kept, "status": _take(raw.get("status"), status_keys)}


def _service(raw: RawMap) -> dict[str, Any]:
    return {"spec": _take(raw.get("spec"), ("selector", "type"))}


def _whole(raw: RawMap) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key not in ("metadata", "apiVersion", "kind")}


def _nothing(raw: RawMap) -> dict[str, Any]:
    return {}


_BY_PLURAL: dict[str, Callable[[RawMap], dict[str, Any]]] = {
    "pods": _pod,
    "nodes": _node,
    "services": _service,
    "namespaces": _nothing,
    **dict.fromkeys(
        ("deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "cronjobs", "replicationcontrollers"),
        _templated,
    ),
}


def prune(plural: str, raw: RawMap) -> dict[str, Any]:
    """The part of an object that a snapshot keeps; kinds without a rule of their own keep spec and status whole."""
    kept = {key: raw[key] for key in ("apiVersion", "kind") if key in raw}
    if "metadata" in raw:
        kept["metadata"] = _metadata(raw["metadata"])
    kept.update(_BY_PLURAL.get(plural, _whole)(raw))
    return kept
