"""Where a node belongs: its type, pool and zone, by the labels that providers and Kubernetes set."""

from collections.abc import Mapping

from ksolver_cli.domain.node import Node

_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
_ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
POOLS = (
    "karpenter.sh/nodepool",
    "karpenter.sh/provisioner-name",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "kops.k8s.io/instancegroup",
    "node.openshift.io/machine-set",
    "doks.digitalocean.com/node-pool",
)
"""Labels that name a node's pool, in the order in which they are believed."""


def _first(labels: Mapping[str, str], keys: tuple[str, ...]) -> str:
    return next((labels[key] for key in keys if labels.get(key)), "")


def instance_type(node: Node) -> str:
    """The instance type, empty where no label tells."""
    return _first(node.labels, _TYPES)


def zone_of(node: Node) -> str:
    """The zone, empty where no label tells."""
    return _first(node.labels, _ZONES)


def pool_of(node: Node) -> str:
    """The pool's name, empty where no label tells."""
    return _first(node.labels, POOLS)


def pool_label(node: Node) -> str:
    """The label that names the pool, empty where there is none."""
    return next((key for key in POOLS if node.labels.get(key)), "")
