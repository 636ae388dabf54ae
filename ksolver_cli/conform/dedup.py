"""Nodes that one pod cannot tell apart while they are empty: one of them answers for all."""

from collections.abc import Hashable, Iterable

from ksolver_cli.conform.clean import COPIED
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, VolumeKind

# Volumes of which a driver's limit on the node, a zone or an allowed topology may decide.
_PLAIN_VOLUMES = (VolumeKind.EMPTY_DIR, VolumeKind.EMPTY_DIR_MEMORY, VolumeKind.HOST_PATH, VolumeKind.OTHER)


def node_groups(pod: Pod, nodes: Iterable[Node], cluster: Cluster) -> list[list[Node]]:
    """The nodes in groups of one feasibility class for this pod, in the given order.

    A pod whose verdict can rest on more than a node's labels, taints, room and features gets every node by itself.
    """
    if looks_deeper(pod, cluster):
        return [[node] for node in nodes]
    keys = sorted(label_keys(pod))
    groups: dict[Hashable, list[Node]] = {}
    for node in nodes:
        groups.setdefault(_class_of(node, keys), []).append(node)
    return list(groups.values())


def looks_deeper(pod: Pod, cluster: Cluster) -> bool:
    """Whether the pod's verdict can depend on a node's name, its volumes' topology, or devices."""
    spec = pod.spec
    terms = spec.node_affinity.terms if spec.node_affinity is not None else ()
    if any(term.fields for term in terms):
        return True
    if any(volume.kind not in _PLAIN_VOLUMES for volume in spec.volumes):
        return True
    return bool(spec.claims) or bool(spec.extended_requests_by_container and cluster.devices.classes)


def label_keys(pod: Pod) -> frozenset[str]:
    """Node labels that the Filter phase reads for this pod, every topology key that it names included."""
    spec = pod.spec
    keys = {key for key, _ in spec.node_selector}
    terms = spec.node_affinity.terms if spec.node_affinity is not None else ()
    keys.update(requirement.key for term in terms for requirement in term.expressions)
    keys.update(term.topology_key for term in (*spec.affinity, *spec.anti_affinity))
    keys.update(constraint.topology_key for constraint in spec.spread)
    # The scheduler sees a copied label even where the snapshot's node has only what it is copied from.
    return frozenset(keys | {original for original, copy in COPIED.items() if copy in keys})


def _class_of(node: Node, keys: Iterable[str]) -> Hashable:
    return (
        frozenset(node.allocatable.items()),
        frozenset(node.taints),
        node.unschedulable,
        node.declared_features,
        tuple(node.labels.get(key) for key in keys),
    )
