"""Whether a pod's device is shared, as its spec and its node tell; the exporter may name only one of the sharers."""

from ksolver_cli.domain.gpu_workload.containers import FRACTION_ANNOTATIONS, containers_of, gpu_resources
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, labels_of

_SHARE_SUFFIX = ".shared"
_FRACTIONS = frozenset(
    {
        "alibabacloud.com/gpu-milli",
        "aliyun.com/gpu-mem",
        "nvidia.com/gpumem",
        "nvidia.com/gpumem-percentage",
        "nvidia.com/gpucores",
    }
)
_SHARE_ANNOTATIONS = (*FRACTION_ANNOTATIONS, "alibabacloud.com/gpu-milli", "hami.io/gpu-mem")
_NOT_SHARED = frozenset({"", "none"})


def shares_by_spec(pod: RawObject) -> bool:
    """Tell whether a pod asks for a replica (renamed to `.shared`) or a fraction of a device (KAI, HAMi)."""
    names = [name for container in containers_of(pod) for name in gpu_resources(container)]
    if any(name.endswith(_SHARE_SUFFIX) or name in _FRACTIONS for name in names):
        return True
    return any(name in annotations_of(pod) for name in _SHARE_ANNOTATIONS)


def shares_by_node(node: RawObject | None) -> bool:
    """Tell whether a node hands out replicas of its devices, by the labels of GPU feature discovery.

    Without `renameByDefault` a replica is called `nvidia.com/gpu` like a whole device; only the node tells.
    """
    if node is None:
        return False
    labels = labels_of(node)
    replicas = labels.get("nvidia.com/gpu.replicas", "1")
    return (
        labels.get("nvidia.com/gpu.sharing-strategy", "") not in _NOT_SHARED
        or (replicas.isdecimal() and int(replicas) > 1)
        or labels.get("nvidia.com/gpu.product", "").endswith("-SHARED")
    )
