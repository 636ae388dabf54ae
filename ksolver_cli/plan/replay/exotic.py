"""Families that the arrays do not hold (volumes, device claims), asked node by node."""

from collections.abc import Iterable

from ksolver_cli.constraints.base import FamilyRule
from ksolver_cli.constraints.registry import families
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod, PodSpec, VolumeKind
from ksolver_cli.domain.verdict import Family, Rejection, Unknown
from ksolver_cli.plan.replay.lanes import BoolArray

ASKED = frozenset(
    {
        Family.VOLUME_RESTRICTIONS,
        Family.NODE_VOLUME_LIMITS,
        Family.VOLUME_BINDING,
        Family.VOLUME_ZONE,
        Family.DYNAMIC_RESOURCES,
    }
)

_PLAIN_VOLUMES = frozenset({VolumeKind.EMPTY_DIR, VolumeKind.EMPTY_DIR_MEMORY, VolumeKind.HOST_PATH, VolumeKind.OTHER})


def is_exotic(spec: PodSpec) -> bool:
    """Whether a pod has volumes or device claims that one of the families asked here looks at."""
    return bool(spec.claims) or any(v.kind not in _PLAIN_VOLUMES for v in spec.volumes)


def exotic_pods(cluster: Cluster) -> tuple[Pod, ...]:
    """All that the families asked here look at, of every pod on a node."""
    return tuple(p for p in cluster.pods if p.is_bound and is_exotic(p.spec))


class Checker:
    """Narrows feasible nodes down to those where volumes and device claims allow the pod too.

    Where a family cannot tell, the node is taken to be closed: a plan may not rest on it. Pods without volumes and
    claims leave no trace here, so that a replay pays only for those that have them.
    """

    def __init__(self, cluster: Cluster, pods: Iterable[Pod], cordoned: Iterable[str] = ()) -> None:
        """`pods` are the `exotic_pods` of the cluster."""
        self.state = State(cluster, pods)
        for name in cordoned:
            self.state.cordon(name)
        self._families: tuple[FamilyRule, ...] = tuple(
            f for f in families(cluster.kubernetes_version) if f.family in ASKED
        )

    def restrict(self, pod: Pod, feasible: BoolArray) -> None:
        """Clear the nodes that one of the families rejects."""
        nodes = self.state.cluster.nodes
        for family in self._families:
            check = family.prepare(pod, self.state)
            if check is None:
                continue
            if isinstance(check, Rejection | Unknown):
                feasible[:] = False
                return
            for index in feasible.nonzero()[0]:
                if check(self.state.nodes[nodes[index].name]) is not None:
                    feasible[index] = False

    def add(self, pod: Pod, node_name: str) -> None:
        """Put the pod on the node."""
        if is_exotic(pod.spec):
            self.state.add(pod, node_name)

    def remove(self, pod: Pod) -> None:
        """Take the pod off its node."""
        if is_exotic(pod.spec):
            self.state.remove(pod)

    def remove_node(self, node_name: str) -> None:
        """Take the node out with what is on it."""
        self.state.remove_node(node_name)
