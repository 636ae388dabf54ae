"""Pod classes and node classes: objects that no scheduling rule can tell apart are grouped, in a fixed order."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from ksolver_cli.domain.classes import Classes, NodeClass, PodClass
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodSpec
from ksolver_cli.normalise.visibility import NodeView, node_view, pod_label_keys

T = TypeVar("T")


def classify(cluster: Cluster) -> Classes:
    """Group the cluster's pods that are not finished, and all its nodes.

    Pods of one class share spec, namespace, workload, what they hold, whether they are leaving, and the labels that any
    selector looks at. Nodes of one class share allocatable, taints, cordon, features, attach limits and the labels that
    any pod or volume looks at. Classes are numbered by their first member, in the cluster's order.
    """
    pods = [pod for pod in cluster.pods if not pod.is_finished]
    keys = pod_label_keys(pods)
    identify = _pod_identity(keys)
    pod_classes = tuple(
        PodClass(index, tuple(members), _project(members[0].labels, keys))
        for index, members in enumerate(_grouped(pods, identify))
    )
    view = node_view(cluster, pods)
    node_classes = tuple(
        NodeClass(index, tuple(members), view.visible(members[0]))
        for index, members in enumerate(_grouped(cluster.nodes, lambda node: _node_identity(node, view)))
    )
    return Classes(
        pods=pod_classes,
        nodes=node_classes,
        pod_class_of={pod.key: cls.index for cls in pod_classes for pod in cls.members},
        node_class_of={node.name: cls.index for cls in node_classes for node in cls.members},
    )


def _grouped(objects: Iterable[T], identify: Callable[[T], Hashable]) -> Iterable[list[T]]:
    groups: dict[Hashable, list[T]] = {}
    for item in objects:
        groups.setdefault(identify(item), []).append(item)
    return groups.values()


def _pod_identity(keys: frozenset[str]) -> Callable[[Pod], Hashable]:
    def identify(pod: Pod) -> Hashable:
        return (
            _daemon_spec(pod.spec) if pod.is_daemon else id(pod.spec),
            pod.namespace,
            pod.workload,
            tuple(sorted(_project(pod.labels, keys).items())),
            pod.deleting,
            pod.is_static,
            None if pod.requests_bound is None else frozenset(pod.requests_bound.items()),
        )

    return identify


def _daemon_spec(spec: PodSpec) -> Hashable:
    """A spec without its node affinity: daemon pods each name their node and vanish with it.

    Specs that differ in nothing else share all their other parts, so that these can be told by identity.
    """
    return tuple(id(part) for name, part in vars(spec).items() if name != "node_affinity")


def _node_identity(node: Node, view: NodeView) -> Hashable:
    return (
        frozenset(node.allocatable.items()),
        node.taints,
        node.unschedulable,
        node.deleting,
        node.declared_features,
        frozenset(view.visible(node).items()),
        view.name_seen(node),
        view.extras(node),
    )


def _project(labels: Labels, keys: frozenset[str]) -> Labels:
    return {key: value for key, value in labels.items() if key in keys}
