"""The cluster at one moment of a replay: which pods are on which nodes, and what they hold there."""

from collections.abc import Iterable, Iterator

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod


class NodeState:
    """A node, the pods on it in order of arrival, the sum of what they hold, and whether it was cordoned since."""

    __slots__ = ("cordoned", "node", "pods", "requested")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.pods: dict[str, Pod] = {}
        self.requested: dict[str, int] = {}
        self.cordoned = node.unschedulable


class State:
    """Occupancy that changes pod by pod; all families read it, only a replay writes it."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.nodes: dict[str, NodeState] = {node.name: NodeState(node) for node in cluster.nodes}

    def add(self, pod: Pod, node_name: str) -> None:
        """Put the pod on the node; `pod.held` is added for a pod already bound there, `spec.requests` for a new one."""
        raise NotImplementedError

    def remove(self, pod: Pod) -> None:
        """Take the pod off its node."""
        raise NotImplementedError

    def cordon(self, node_name: str) -> None:
        """Mark the node unschedulable, as `kubectl cordon` does (the node controller adds the taint)."""
        raise NotImplementedError

    def remove_node(self, node_name: str) -> None:
        """Take the node out of the cluster with whatever daemon and static pods are on it."""
        raise NotImplementedError

    def node_of(self, pod: Pod) -> str | None:
        """Where the pod is now."""
        raise NotImplementedError

    def pods(self) -> Iterator[tuple[Pod, str]]:
        """Every placed pod with its node name."""
        raise NotImplementedError

    def node_states(self) -> Iterable[NodeState]:
        """The nodes in the cluster's order."""
        return self.nodes.values()
