"""The kinds a snapshot may hold, and every spelling under which inputs bring them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """A resource kind: its plural (our key), its API kind, its group (empty for core), and whether it lives in a
    namespace.
    """

    plural: str
    kind: str
    group: str = ""
    namespaced: bool = True


KINDS: tuple[Kind, ...] = (
    Kind("nodes", "Node", namespaced=False),
    Kind("pods", "Pod"),
    Kind("namespaces", "Namespace", namespaced=False),
    Kind("replicasets", "ReplicaSet", "apps"),
    Kind("deployments", "Deployment", "apps"),
    Kind("statefulsets", "StatefulSet", "apps"),
    Kind("daemonsets", "DaemonSet", "apps"),
    Kind("jobs", "Job", "batch"),
    Kind("cronjobs", "CronJob", "batch"),
    Kind("replicationcontrollers", "ReplicationController"),
    Kind("horizontalpodautoscalers", "HorizontalPodAutoscaler", "autoscaling"),
    Kind("poddisruptionbudgets", "PodDisruptionBudget", "policy"),
    Kind("priorityclasses", "PriorityClass", "scheduling.k8s.io", namespaced=False),
    Kind("runtimeclasses", "RuntimeClass", "node.k8s.io", namespaced=False),
    Kind("resourcequotas", "ResourceQuota"),
    Kind("limitranges", "LimitRange"),
    Kind("persistentvolumeclaims", "PersistentVolumeClaim"),
    Kind("persistentvolumes", "PersistentVolume", namespaced=False),
    Kind("storageclasses", "StorageClass", "storage.k8s.io", namespaced=False),
    Kind("csinodes", "CSINode", "storage.k8s.io", namespaced=False),
    Kind("csidrivers", "CSIDriver", "storage.k8s.io", namespaced=False),
    Kind("csistoragecapacities", "CSIStorageCapacity", "storage.k8s.io"),
    Kind("volumeattachments", "VolumeAttachment", "storage.k8s.io", namespaced=False),
    Kind("services", "Service"),
    Kind("verticalpodautoscalers", "VerticalPodAutoscaler", "autoscaling.k8s.io"),
    Kind("resourceclaims", "ResourceClaim", "resource.k8s.io"),
    Kind("resourceclaimtemplates", "ResourceClaimTemplate", "resource.k8s.io"),
    Kind("resourceslices", "ResourceSlice", "resource.k8s.io", namespaced=False),
    Kind("deviceclasses", "DeviceClass", "resource.k8s.io", namespaced=False),
    Kind("devicetaintrules", "DeviceTaintRule", "resource.k8s.io", namespaced=False),
    Kind("nodepools", "NodePool", "karpenter.sh", namespaced=False),
    Kind("nodeclaims", "NodeClaim", "karpenter.sh", namespaced=False),
    Kind("workloads", "Workload", "kueue.x-k8s.io"),
    Kind("clusterqueues", "ClusterQueue", "kueue.x-k8s.io", namespaced=False),
    Kind("localqueues", "LocalQueue", "kueue.x-k8s.io"),
    Kind("resourceflavors", "ResourceFlavor", "kueue.x-k8s.io", namespaced=False),
    Kind("volcanopodgroups", "PodGroup", "scheduling.volcano.sh"),
    Kind("podgroups", "PodGroup", "scheduling.x-k8s.io"),
    Kind("gpupools", "GPUPool", "tensor-fusion.ai", namespaced=False),
    Kind("gpunodes", "GPUNode", "tensor-fusion.ai", namespaced=False),
    Kind("gpus", "GPU", "tensor-fusion.ai", namespaced=False),
    Kind("gpuresourcequotas", "GPUResourceQuota", "tensor-fusion.ai"),
    Kind("tensorfusionworkloads", "TensorFusionWorkload", "tensor-fusion.ai"),
    Kind("tensorfusionconnections", "TensorFusionConnection", "tensor-fusion.ai"),
    Kind("tensorfusionclusters", "TensorFusionCluster", "tensor-fusion.ai", namespaced=False),
    Kind("workloadprofiles", "WorkloadProfile", "tensor-fusion.ai"),
    Kind("nodemetrics", "NodeMetrics", "metrics.k8s.io", namespaced=False),
    Kind("podmetrics", "PodMetrics", "metrics.k8s.io"),
)

_ALIASES = {
    "pvs": "persistentvolumes",
    "pvcs": "persistentvolumeclaims",
    "pdbs": "poddisruptionbudgets",
    "hpas": "horizontalpodautoscalers",
    "vpas": "verticalpodautoscalers",
    "ns": "namespaces",
}

_BY_PLURAL = {kind.plural: kind for kind in KINDS}
_BY_KIND: dict[str, list[Kind]] = {}
for _kind in KINDS:
    _BY_KIND.setdefault(_kind.kind, []).append(_kind)

NEVER = frozenset({"secrets", "configmaps"})
"""Plurals that are never kept, whatever the input holds."""


def by_plural(name: str) -> Kind | None:
    """The kind behind a plural as inputs spell it: any case, with aliases (`pvcs`), or with group and version before it
    (`storage.k8s.io_v1_storageclasses`).
    """
    plain = name.lower().rsplit("_", 1)[-1].split(".", 1)[0]
    return _BY_PLURAL.get(_ALIASES.get(plain, plain))


def by_api(api_version: str, kind: str) -> Kind | None:
    """The kind behind an object's apiVersion and kind; an unknown or absent group falls back to the kind's name
    alone.
    """
    candidates = _BY_KIND.get(kind, [])
    group = api_version.rpartition("/")[0]
    for candidate in candidates:
        if candidate.group == group:
            return candidate
    return candidates[0] if len(candidates) == 1 or (candidates and not group) else None
