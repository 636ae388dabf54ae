"""Label and taint keys that Kubernetes, clouds and device plugins set, and those whose values say nothing private."""

import re
from functools import lru_cache

_DOMAINS = (
    "kubernetes.io",
    "k8s.io",
    "karpenter.sh",
    "karpenter.k8s.aws",
    "karpenter.azure.com",
    "eks.amazonaws.com",
    "k8s.amazonaws.com",
    "ebs.csi.aws.com",
    "eksctl.io",
    "cloud.google.com",
    "gke.io",
    "kubernetes.azure.com",
    "disk.csi.azure.com",
    "alibabacloud.com",
    "doks.digitalocean.com",
    "lke.linode.com",
    "openstack.org",
    "openshift.io",
    "nvidia.com",
    "amd.com",
    "intel.com",
    "habana.ai",
    "hami.io",
    "run.ai",
    "volcano.sh",
    "tensor-fusion.ai",
    "virtual-kubelet.io",
    "liqo.io",
    "ksolver.dev",
    "ksolver.ai",
)
_BARE = frozenset(
    {
        *("pod-template-hash", "rollouts-pod-template-hash", "controller-revision-hash", "pod-template-generation"),
        *("controller-uid", "job-name", "CriticalAddonsOnly"),
    }
)

_PUBLIC_KEYS = frozenset(
    {
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "node.kubernetes.io/windows-build",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "karpenter.sh/capacity-type",
        "eks.amazonaws.com/capacitytype",
        "eks.amazonaws.com/compute-type",
        "kubernetes.azure.com/scalesetpriority",
        "kubernetes.azure.com/cluster-type",
        "kubernetes.azure.com/mode",
        "virtual-kubelet.io/provider",
        "liqo.io/type",
        "alibabacloud.com/gpu-card-model",
        "gpu-card-model",
        "run.ai/reserved_for_pod",
    }
)
_PUBLIC_PREFIXES = (
    "topology.",
    "node-role.kubernetes.io/",
    "nvidia.com/",
    "amd.com/",
    "feature.node.kubernetes.io/",
    "karpenter.k8s.aws/instance-",
    "karpenter.azure.com/sku-",
    "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-gpu",
    "cloud.google.com/gke-preemptible",
    "cloud.google.com/gke-provisioning",
    "cloud.google.com/gke-spot",
    "cloud.google.com/machine-family",
    "node.kubernetes.io/",
)
_OWN_VALUE = re.compile(r"(?:true|false|[0-9]{1,9})?", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def is_known(key: str) -> bool:
    """Whether a key belongs to Kubernetes, a cloud, an autoscaler or a device plugin, and so to nobody's company."""
    domain, slash, _ = key.partition("/")
    if not slash:
        return key in _BARE or key in _PUBLIC_KEYS
    return any(domain == known or domain.endswith(f".{known}") for known in _DOMAINS)


@lru_cache(maxsize=65_536)
def has_public_value(key: str) -> bool:
    """Whether the values of a key are facts of machines (types, zones, architectures, GPU models), which pricing and
    placing read, and not names. Case does not count, since pricing looks at some keys without it.
    """
    folded = key.lower()
    return folded in _PUBLIC_KEYS or (folded.startswith(_PUBLIC_PREFIXES) and is_known(key))


def says_nothing(text: str) -> bool:
    """Whether a text is empty, a truth value or a small number: no name, and compared as a number by Gt and Lt."""
    return _OWN_VALUE.fullmatch(text) is not None
