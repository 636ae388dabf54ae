"""NodeResourcesFit: what the pod requests must be free on the node, and a pod slot with it."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import POD_SLOTS, NodeState, State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod, Resources
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Unknown, Verdict

DELEGATED_SINCE = (1, 36)
"""Since this version extended resources may be served by device classes (DRAExtendedResource, KEP-5004)."""

_FIRST = ("cpu", "memory", "ephemeral-storage")
_NATIVE = "kubernetes.io/"


class NodeResourcesFit:
    """kube-scheduler's NodeResourcesFit plugin: effective requests against allocatable minus requested.

    A request of zero fits an overcommitted node, a pod slot is always needed. Resources a node cannot hold even when
    empty make the rejection unresolvable. An extended resource that a device class serves is left to
    DynamicResources on nodes that offer none of it themselves. What is free beside a pod that could not be read is
    not known.
    """

    family = Family.NODE_RESOURCES_FIT

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Ready the pod's requests in the order in which the scheduler names what is short."""
        wanted = counted_requests(pod.spec.requests)
        delegated = delegated_resources(pod.spec.requests, state.cluster)
        unreadable = state.cluster.unreadable_nodes

        def check(node: NodeState) -> Verdict | None:
            allocatable, requested = node.node.allocatable, node.requested
            short = [name for name, amount in wanted if amount > allocatable.get(name, 0) - requested.get(name, 0)]
            if delegated and short:
                short = [name for name in short if name not in delegated or allocatable.get(name, 0) > 0]
            if requested[POD_SLOTS] + 1 > allocatable.get(POD_SLOTS, 0):
                short.insert(0, POD_SLOTS)
            if short:
                return self._rejection(node, short, pod.spec.requests)
            name = node.node.name
            return Unknown(self.family, "pods", ObjectRef("Node", name)) if name in unreadable else None

        return check

    def _rejection(self, node: NodeState, short: list[str], requests: Resources) -> Rejection:
        allocatable = node.node.allocatable
        hopeless = any(name != POD_SLOTS and requests[name] > allocatable.get(name, 0) for name in short)
        reason = Reason.TOO_MANY_PODS if short == [POD_SLOTS] else Reason.INSUFFICIENT
        code = Code.UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE
        return Rejection(self.family, reason, tuple(short), code, ObjectRef("Node", node.node.name, ", ".join(short)))


def counted_requests(requests: Resources) -> tuple[tuple[str, int], ...]:
    """The requests the scheduler weighs, without pod slots and zeros: cpu, memory, ephemeral storage, then by name."""
    asked = [(name, amount) for name, amount in requests.items() if amount > 0 and is_counted(name)]
    return tuple(sorted(asked, key=lambda item: (_FIRST.index(item[0]) if item[0] in _FIRST else len(_FIRST), item[0])))


def delegated_resources(requests: Resources, cluster: Cluster) -> frozenset[str]:
    """Requested resources that DynamicResources answers for on nodes that offer none of them themselves."""
    if cluster.kubernetes_version < DELEGATED_SINCE or not cluster.devices.classes:
        return frozenset()
    return frozenset(name for name in requests if cluster.devices.class_for_resource(name) is not None)


def is_counted(resource: str) -> bool:
    """Whether the scheduler counts this resource: cpu, memory, ephemeral storage, extended and native scalar ones.

    Other names, such as `storage`, are ignored (`IsScalarResourceName`).
    """
    if resource in _FIRST:
        return True
    if resource.startswith(("hugepages-", "attachable-volumes-")) or _NATIVE in resource:
        return True
    return "/" in resource and not resource.startswith("requests.")
