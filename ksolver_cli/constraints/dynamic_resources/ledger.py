"""What is given out at one moment of a replay: allocations that stand, and those that moved pods have got since."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ksolver_cli.constraints.dynamic_resources.allocator import Allocator, Taken
from ksolver_cli.constraints.dynamic_resources.cel.values import UnsupportedError
from ksolver_cli.constraints.dynamic_resources.claims import extended_claim, pod_claims, served_resources
from ksolver_cli.constraints.dynamic_resources.gates import Gates
from ksolver_cli.constraints.dynamic_resources.pools import Candidate, Slices
from ksolver_cli.constraints.dynamic_resources.selection import AllocationError
from ksolver_cli.constraints.matching.selectors import NAME_FIELD
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.devices import AllocatedDevice, Allocation, ResourceClaim
from ksolver_cli.domain.labels import NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Phase, Pod
from ksolver_cli.domain.verdict import Rejection


@dataclass
class Ledger:
    """Devices given out, and the allocation of each claim that has one (by `namespace/name`)."""

    gates: Gates
    taken: Taken = field(default_factory=Taken)
    allocations: dict[str, Allocation] = field(default_factory=dict)

    def enter(self, claim: ResourceClaim, allocation: Allocation) -> None:
        """Count an allocation."""
        self.allocations[claim.key] = allocation
        for device in allocation.devices:
            self.taken.add(device, self.gates)


class Users:
    """The pods of a cluster that use devices, found by UID. Built once for many moments."""

    def __init__(self, cluster: Cluster) -> None:
        self.pods = tuple(pod for pod in cluster.pods if pod.spec.claims or served_resources(pod, cluster))
        self.by_uid = {pod.uid: pod for pod in self.pods if pod.uid}
        self._bound = {pod.key: pod.node_name for pod in self.pods if pod.is_bound}

    def has_left(self, pod: Pod, state: State) -> bool:
        """Whether a pod that was seen on a node is not there any more: evicted, and perhaps back elsewhere.

        A pending pod that is nowhere and still names that node never was there: it is new, and asks for the node.
        """
        seen_on = self._bound.get(pod.key)
        now = state.node_of(pod)
        never_came = now is None and pod.node_name == seen_on and pod.phase is Phase.PENDING
        return seen_on is not None and now != seen_on and not never_came


def ledger(state: State, users: Users, slices: Slices, gates: Gates) -> Ledger:
    """The allocations at this moment.

    An allocation stands until all consumers that it is reserved for have left the node where the input saw them; the
    resource claim controller frees it then. Pods that came to a node since are given devices in order, first fit.
    """
    book = Ledger(gates)
    for claim in state.cluster.devices.claims.values():
        if claim.allocation is not None and _stands(claim, state, users):
            book.enter(claim, claim.allocation)
    for pod in users.pods:
        node_name = state.node_of(pod)
        if node_name is not None and not (pod.is_bound and node_name == pod.node_name):
            node = state.nodes[node_name].node
            wanted = _wanted(pod, node, state.cluster, returning=pod.is_bound)
            claims = [claim for claim in wanted if claim.key not in book.allocations]
            _give(book, claims, Allocator(node, slices.pools(node), book.taken, gates), state.cluster)
    return book


def _stands(claim: ResourceClaim, state: State, users: Users) -> bool:
    consumers = [users.by_uid.get(uid) for uid in claim.reserved_for]
    return not consumers or not all(pod is not None and users.has_left(pod, state) for pod in consumers)


def _wanted(pod: Pod, node: Node, cluster: Cluster, *, returning: bool) -> tuple[ResourceClaim, ...]:
    """All claims of a pod that is on a node already."""
    found = pod_claims(pod, cluster, returning=returning)
    served = extended_claim(pod, served_resources(pod, cluster), node, cluster)
    return found.claims if served is None or isinstance(served, Rejection) else (*found.claims, served)


def _give(book: Ledger, claims: Sequence[ResourceClaim], allocator: Allocator, cluster: Cluster) -> None:
    """Allocate claims of a pod that is there already; where that cannot be told, the devices stay free."""
    try:
        given = allocator.allocate(claims, cluster.devices.classes)
    except (AllocationError, UnsupportedError):
        return
    for claim, devices in zip(claims, given or (), strict=False):
        book.enter(claim, allocation_of(devices, allocator.node))


def allocation_of(devices: Iterable[tuple[Candidate, AllocatedDevice]], node: Node) -> Allocation:
    """The allocation of chosen devices: usable on this node alone if one of them is, else where all are reached."""
    given = tuple(devices)
    reaches = [c.device.reach if c.slice.per_device else c.slice.reach for c, _ in given]
    if any(reach.node_name for reach in reaches):
        here = Requirement(NAME_FIELD, Operator.IN, (node.name,))
        nodes = NodeSelector((NodeSelectorTerm(fields=(here,)),))
        return Allocation(tuple(device for _, device in given), nodes)
    terms = [term for reach in reaches if reach.selector is not None for term in reach.selector.terms[:1]]
    merged = NodeSelectorTerm(
        expressions=tuple(dict.fromkeys(r for term in terms for r in term.expressions)),
        fields=tuple(dict.fromkeys(r for term in terms for r in term.fields)),
    )
    return Allocation(tuple(device for _, device in given), NodeSelector((merged,)) if terms else None)


def released_by(pod: Pod, cluster: Cluster) -> tuple[str, ...]:
    """The claims (`namespace/name`) whose allocation ends with the eviction of this pod: nobody else holds them."""
    return tuple(
        claim.key
        for claim in cluster.devices.claims.values()
        if claim.allocation is not None and pod.uid and set(claim.reserved_for) == {pod.uid}
    )
