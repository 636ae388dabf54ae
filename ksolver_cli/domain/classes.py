"""Pod classes and node classes: what is interchangeable is counted, not enumerated."""

from dataclasses import dataclass

from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, WorkloadRef


@dataclass(frozen=True, eq=False)
class PodClass:
    """Pods that no scheduling rule can tell apart: same spec, namespace, workload and same labels as far as any
    selector looks.
    """

    index: int
    members: tuple[Pod, ...]
    visible_labels: Labels

    @property
    def sample(self) -> Pod:
        """Any member; all answer alike."""
        return self.members[0]

    @property
    def workload(self) -> WorkloadRef | None:
        """The common top controller."""
        return self.members[0].workload


@dataclass(frozen=True, eq=False)
class NodeClass:
    """Nodes that no pod can tell apart while they are empty: allocatable, taints, cordon, and labels that any pod or
    volume looks at.

    The hostname key is left out (its domains are the nodes themselves) unless a selector names a value of it.
    """

    index: int
    members: tuple[Node, ...]
    visible_labels: Labels

    @property
    def sample(self) -> Node:
        """Any member; all answer alike."""
        return self.members[0]


@dataclass(frozen=True)
class Classes:
    """Pod classes and node classes of a cluster, and the way back from an object to its class (by pod key, node
    name).
    """

    pods: tuple[PodClass, ...]
    nodes: tuple[NodeClass, ...]
    pod_class_of: dict[str, int]
    node_class_of: dict[str, int]
