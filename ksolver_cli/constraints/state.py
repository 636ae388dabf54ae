"""The cluster at one moment of a replay: which pods are on which nodes, and what they hold there."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from types import MappingProxyType

from ksolver_cli.constraints.matching.holders import Holders
from ksolver_cli.constraints.matching.namespaces import Reach
from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT, is_cordon
from ksolver_cli.constraints.matching.tally import Groups
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import HostPort, Phase, Pod, Resources

POD_SLOTS = "pods"
"""The resource of which every pod takes one."""


class NodeState:
    """A node, the pods on it in order of arrival, the sum of what they hold, and whether it is cordoned now."""

    __slots__ = ("cordoned", "node", "pods", "ports", "requested", "taints")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.pods: dict[str, Pod] = {}
        self.requested: dict[str, int] = {POD_SLOTS: 0}
        self.ports: dict[HostPort, int] = {}
        self.cordoned = node.unschedulable
        self.taints = node.taints

    def free(self, resource: str) -> int:
        """Allocatable minus what is requested, in the resource's unit; negative where a node is overcommitted."""
        return self.node.allocatable.get(resource, 0) - self.requested.get(resource, 0)


class State:
    """Occupancy that changes pod by pod; all families read it, only a replay writes it.

    It starts with every bound pod on its node. Pods bound to a node that is missing are left out, as the scheduler
    leaves them out. `layout_version` grows when nodes are cordoned or removed, not with pods.
    """

    def __init__(self, cluster: Cluster, pods: Iterable[Pod] | None = None) -> None:
        self.cluster = cluster
        self.nodes: dict[str, NodeState] = {node.name: NodeState(node) for node in cluster.nodes}
        labels: dict[str, Labels] = {node.name: node.labels for node in cluster.nodes}
        self.node_labels = MappingProxyType(labels)
        self.reach = Reach(cluster)
        self.groups = Groups(self.node_labels)
        self.holders = Holders(self.node_labels, self.reach)
        self.layout_version = 0
        self._where: dict[str, tuple[str, Pod, Resources]] = {}
        for pod in cluster.pods if pods is None else pods:
            if pod.is_bound and pod.node_name in self.nodes:
                self.add(pod, pod.node_name)

    @classmethod
    def empty(cls, cluster: Cluster) -> "State":
        """The nodes with nothing on them."""
        return cls(cluster, ())

    def add(self, pod: Pod, node_name: str) -> None:
        """Put the pod on the node; `pod.held` is added for a pod already bound there, `spec.requests` for a new one.

        Raises ValueError when the pod is somewhere already, KeyError when there is no such node.
        """
        if pod.key in self._where:
            raise ValueError(f"{pod.key} is already on {self._where[pod.key][0]}")
        state = self.nodes[node_name]
        held = pod.held if pod.node_name == node_name else pod.spec.requests
        self._where[pod.key] = (node_name, pod, held)
        state.pods[pod.key] = pod
        self._bump(state, pod, held, 1)

    def remove(self, pod: Pod) -> None:
        """Take the pod off its node; KeyError when it is on none."""
        node_name, placed, held = self._where.pop(pod.key)
        state = self.nodes[node_name]
        del state.pods[pod.key]
        self._bump(state, placed, held, -1)

    def cordon(self, node_name: str) -> None:
        """Mark the node unschedulable, as `kubectl cordon` does, with the taint that the node controller then adds."""
        state = self.nodes[node_name]
        state.cordoned = True
        if not any(map(is_cordon, state.taints)):
            state.taints = (*state.taints, UNSCHEDULABLE_TAINT)
        self.layout_version += 1

    def remove_node(self, node_name: str) -> None:
        """Take the node out of the cluster with whatever daemon and static pods are on it."""
        for pod in list(self.nodes[node_name].pods.values()):
            self.remove(pod)
        del self.nodes[node_name]
        self.layout_version += 1

    def node_of(self, pod: Pod) -> str | None:
        """Where the pod is now."""
        placed = self._where.get(pod.key)
        return None if placed is None else placed[0]

    def pods(self) -> Iterator[tuple[Pod, str]]:
        """Every placed pod with its node name."""
        return ((pod, node_name) for node_name, pod, _ in self._where.values())

    def node_states(self) -> Iterable[NodeState]:
        """The nodes in the cluster's order."""
        return self.nodes.values()

    def _bump(self, state: NodeState, pod: Pod, held: Resources, sign: int) -> None:
        requested = state.requested
        for resource, amount in held.items():
            if resource != POD_SLOTS:
                requested[resource] = requested.get(resource, 0) + sign * amount
        requested[POD_SLOTS] += sign
        for port in pod.spec.host_ports:
            count = state.ports.get(port, 0) + sign
            if count:
                state.ports[port] = count
            else:
                del state.ports[port]
        self.groups.bump(self.groups.of(pod), state.node.name, sign)
        self.holders.bump(pod, state.node.name, sign)


def as_new(pod: Pod) -> Pod:
    """The pod as its controller would make it anew after an eviction: bound nowhere, asking what its spec asks."""
    return replace(pod, node_name="", nominated_node="", phase=Phase.PENDING, deleting=False, requests_bound=None)
