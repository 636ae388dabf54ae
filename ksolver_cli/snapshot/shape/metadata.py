"""What is kept of an object's metadata, and which annotations are read by anything."""

from typing import Any

from ksolver_cli.domain.gpu_workload.fingerprint import FINGERPRINT_ANNOTATION
from ksolver_cli.domain.gpu_workload.kept import KEPT_ANNOTATIONS
from ksolver_cli.snapshot.shape.vocabulary import LABELS, NAME, Each, Names, Record, named, odd, public

_PLAIN = frozenset(
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
        "volume.kubernetes.io/storage-provisioner",
        "volume.beta.kubernetes.io/storage-provisioner",
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "resource.kubernetes.io/extended-resource-claim",
        "deployment.kubernetes.io/revision",
        "alibabacloud.com/gpu-count",
        "alibabacloud.com/gpu-index",
        "alibabacloud.com/gpu-milli",
        "hami.io/gpu-mem",
        "hami.io/node-nvidia-register",
        "run.ai/reservation",
        "nvidia.com/gpumem",
        "nvidia.com/gpucores",
        "ksolver.dev/vram-oom",
        "ksolver.dev/gpu-vram-bytes",
        "ksolver.dev/gpu-vram-gib",
        "tensor-fusion.ai/auto-limits",
        "tensor-fusion.ai/auto-requests",
        "tensor-fusion.ai/auto-resources",
        "tensor-fusion.ai/compute-percent-limit",
        "tensor-fusion.ai/compute-percent-request",
        "tensor-fusion.ai/dedicated-gpu",
        "tensor-fusion.ai/enabled-replicas",
        "tensor-fusion.ai/gpu-count",
        "tensor-fusion.ai/gpu-model",
        "tensor-fusion.ai/is-local-gpu",
        "tensor-fusion.ai/isolation",
        "tensor-fusion.ai/qos",
        "tensor-fusion.ai/replicas",
        "tensor-fusion.ai/sidecar-worker",
        "tensor-fusion.ai/tflops-limit",
        "tensor-fusion.ai/tflops-request",
        "tensor-fusion.ai/vendor",
        "tensor-fusion.ai/vram-limit",
        "tensor-fusion.ai/vram-request",
        *KEPT_ANNOTATIONS,
    }
)
_NAMING = frozenset(
    {
        "volume.kubernetes.io/selected-node",
        "volume.beta.kubernetes.io/storage-class",
        "resource.kubernetes.io/pod-claim-name",
        "scheduling.k8s.io/group-name",
        "tensor-fusion.ai/gpu-ids",
        "tensor-fusion.ai/gpupool",
        "tensor-fusion.ai/workload",
        "tensor-fusion.ai/workload-profile",
    }
)
ANNOTATIONS = _PLAIN | _NAMING
"""Annotations that a snapshot keeps; every one is read by something in ksolver or says how an object got here."""


class _Annotations:
    """Annotations by allow-list."""

    nameless = False
    labelless = True

    def keep(self, raw: Any) -> Any:
        """Return the ones on the list."""
        if not isinstance(raw, dict):
            return odd(raw)
        return {key: raw[key] if isinstance(raw[key], str) else odd(raw[key]) for key in raw if key in ANNOTATIONS}

    def change(self, kept: Any, names: Names) -> Any:
        """Return them with the names in them changed."""
        if not isinstance(kept, dict):
            return kept
        return {key: _changed(key, value, names) for key, value in kept.items()}


def _changed(key: str, value: Any, names: Names) -> Any:
    if not isinstance(value, str):
        return value
    if key in _NAMING:
        return ",".join(names.name(part) if part else part for part in value.split(","))
    if key == FINGERPRINT_ANNOTATION:
        image, bar, digest = value.rpartition("|")
        return f"{names.image(image)}{bar}{digest}"
    if key == "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes":
        return ",".join(names.name(part) if part else part for part in value.split(","))
    return value


OWNERS = Each(Record(public("apiVersion", "kind", "controller"), name=NAME, uid=NAME))
METADATA = Record(
    public("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")
    | named("name", "namespace", "uid", "generateName"),
    labels=LABELS,
    annotations=_Annotations(),
    ownerReferences=OWNERS,
)
TEMPLATE_METADATA = Record(labels=LABELS, annotations=_Annotations())
