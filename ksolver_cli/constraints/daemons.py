"""Daemon overhead: which DaemonSets would start a pod on a node, and what their pods ask for there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from ksolver_cli.constraints.core.node_affinity import spec_matcher
from ksolver_cli.constraints.matching.selectors import NAME_FIELD
from ksolver_cli.constraints.matching.taints import first_untolerated
from ksolver_cli.constraints.state import POD_SLOTS
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels, NodeSelector, NodeSelectorTerm
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import PodSpec, Resources, WorkloadRef


@dataclass(frozen=True, eq=False)
class Daemon:
    """A DaemonSet and the spec of the pods it starts; `inferred` when only its pods were seen, not the object."""

    ref: WorkloadRef
    spec: PodSpec
    inferred: bool = False


class Daemons:
    """The DaemonSets of a cluster, ready to say where they run.

    Source of the rule: NodeShouldRunDaemonPod of the DaemonSet controller (node selector, required node affinity,
    NoSchedule and NoExecute taints; whether there is room does not matter). Where the input lacks a DaemonSet of which
    there are pods, one of these stands for its template.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.all = (*_declared(cluster), *_inferred(cluster))
        self._fits: list[tuple[Daemon, Callable[[Labels, str], bool]]] = [(d, spec_matcher(d.spec)) for d in self.all]

    def on(self, node: Node) -> tuple[Daemon, ...]:
        """The DaemonSets that would start a pod on this node; it need not exist, its labels and taints decide."""
        return tuple(
            daemon
            for daemon, fits in self._fits
            if fits(node.labels, node.name) and first_untolerated(node.taints, daemon.spec.tolerations) is None
        )

    def overhead(self, node: Node) -> Resources:
        """What their pods ask for together on this node, pod slots included."""
        return total_requests(daemon.spec for daemon in self.on(node))


def total_requests(specs: Iterable[PodSpec]) -> Resources:
    """Summed effective requests of new pods, and the pod slots they take."""
    total: dict[str, int] = {POD_SLOTS: 0}
    for spec in specs:
        total[POD_SLOTS] += 1
        for name, amount in spec.requests.items():
            total[name] = total.get(name, 0) + amount
    return total


def _declared(cluster: Cluster) -> Iterable[Daemon]:
    for workload in cluster.workloads:
        if workload.template is not None:
            yield Daemon(workload.ref, workload.template)


def _inferred(cluster: Cluster) -> Iterable[Daemon]:
    known = {str(workload.ref) for workload in cluster.workloads}
    for pod in cluster.pods:
        owner = pod.controller
        if pod.is_daemon and owner is not None and not pod.is_finished and str(owner) not in known:
            known.add(str(owner))
            yield Daemon(owner, replace(pod.spec, node_affinity=_without_name(pod.spec.node_affinity)), inferred=True)


def _without_name(affinity: NodeSelector | None) -> NodeSelector | None:
    """The affinity without the node that the DaemonSet controller has written into each term."""
    terms = [
        NodeSelectorTerm(term.expressions, tuple(field for field in term.fields if field.key != NAME_FIELD))
        for term in (affinity.terms if affinity is not None else ())
    ]
    # A term that named nothing but the node stands for a DaemonSet that runs everywhere.
    return NodeSelector(tuple(terms)) if terms and all(term.expressions or term.fields for term in terms) else None
