"""DynamicResources: a node must have devices for all of the pod's claims."""

from collections.abc import Mapping, Sequence

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.dynamic_resources.allocator import Allocator
from ksolver_cli.constraints.dynamic_resources.cel.values import UnsupportedError
from ksolver_cli.constraints.dynamic_resources.claims import (
    CLASSES,
    FAMILY,
    SLICES,
    claim_ref,
    extended_claim,
    pod_claims,
    rejection,
    requested_classes,
    served_resources,
    stale_claim,
)
from ksolver_cli.constraints.dynamic_resources.gates import Gates, gates
from ksolver_cli.constraints.dynamic_resources.ledger import Ledger, Users, ledger
from ksolver_cli.constraints.dynamic_resources.pools import Pool, Slices
from ksolver_cli.constraints.dynamic_resources.selection import AllocationError
from ksolver_cli.constraints.matching.selectors import node_matcher
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.devices import Allocation, ResourceClaim
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Code, ObjectRef, Reason, Rejection, Unknown, Verdict


class _Published:
    """What of a cluster does not change in a replay."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.gates = gates(cluster.kubernetes_version)
        self.slices = Slices(cluster.devices, self.gates)
        self.users = Users(cluster)


class DynamicResources:
    """Claims of devices, allocated with structured parameters, and extended resources that device classes serve.

    Source: the scheduler's DynamicResources plugin and `k8s.io/dynamic-resource-allocation/structured`. A selector
    that is not modelled, and devices with binding conditions, are answered with Unknown.
    """

    family = FAMILY

    def __init__(self) -> None:
        self._published: _Published | None = None

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Claims that are missing, being deleted or not the pod's own, and missing classes, fail everywhere."""
        if not pod.spec.claims and not state.cluster.devices.classes:
            return None
        published = self._of(state.cluster)
        returning = published.users.has_left(pod, state)
        found = pod_claims(pod, state.cluster, returning=returning)
        if found.verdict is not None:
            return found.verdict
        served = served_resources(pod, state.cluster) if published.gates.extended_resources else {}
        if not found.claims and not served:
            return None
        book = ledger(state, published.users, published.slices, published.gates)
        for claim in found.claims:
            verdict = None if claim.key in book.allocations else _class_verdict(claim, state.cluster)
            if verdict is not None:
                return verdict
        stale = stale_claim(pod, state.cluster) if served and not returning else None
        if stale is not None:
            return lambda _: rejection(Reason.EXTENDED_CLAIM_STALE, source=claim_ref(stale.key))
        return _DeviceCheck(pod, found.claims, served, book, published)

    def _of(self, cluster: Cluster) -> _Published:
        if self._published is None or self._published.cluster is not cluster:
            self._published = _Published(cluster)
        return self._published


def _class_verdict(claim: ResourceClaim, cluster: Cluster) -> Verdict | None:
    for request, name in requested_classes(claim):
        if name in cluster.devices.classes:
            continue
        source = ObjectRef("DeviceClass", name)
        if not name:
            text = f"request {request}: unsupported request type"
            return rejection(Reason.RESOURCE_CLAIM_OTHER, text, source=claim_ref(claim.key), code=Code.ERROR)
        missing = rejection(Reason.DEVICE_CLASS_MISSING, request, name, source=source)
        return missing if cluster.knows(CLASSES) else Unknown(FAMILY, CLASSES, source)
    return None


class _DeviceCheck:
    def __init__(
        self, pod: Pod, claims: Sequence[ResourceClaim], served: Mapping[str, int], book: Ledger, published: _Published
    ) -> None:
        self._pod = pod
        self._served = served
        self._book = book
        self._published = published
        self._claims = claims
        self._to_allocate = [claim for claim in claims if claim.key not in book.allocations]

    def __call__(self, node: NodeState) -> Verdict | None:
        extra = extended_claim(self._pod, self._served, node.node, self._published.cluster)
        if isinstance(extra, Rejection):
            return extra
        wanted = self._to_allocate if extra is None else [*self._to_allocate, extra]
        if wanted:
            verdict = self._allocate(wanted, node.node)
            if verdict is not None:
                return verdict
        return self._held_elsewhere(node.node)

    def _allocate(self, wanted: Sequence[ResourceClaim], node: Node) -> Verdict | None:
        cluster = self._published.cluster
        source = claim_ref(wanted[0].key)
        if not cluster.knows(SLICES):
            return Unknown(FAMILY, SLICES, source)
        pools = self._published.slices.pools(node)
        allocator = Allocator(node, pools, self._book.taken, self._published.gates)
        try:
            given = allocator.allocate(wanted, cluster.devices.classes)
        except AllocationError as error:
            return rejection(Reason.RESOURCE_CLAIM_OTHER, str(error), source=source, code=Code.ERROR)
        except UnsupportedError as error:
            return Unknown(FAMILY, f"unmodelled: {error}", source)
        return None if given is not None else _unavailable(pools, self._published.gates, source)

    def _held_elsewhere(self, node: Node) -> Verdict | None:
        for claim in self._claims:
            allocation = self._book.allocations.get(claim.key)
            if allocation is None:
                continue
            if not _usable_on(allocation, node):
                return rejection(Reason.CLAIM_ALLOCATED_ELSEWHERE, source=claim_ref(claim.key))
            if allocation.binding and self._published.gates.binding_conditions:
                return Unknown(FAMILY, "unmodelled: device binding conditions", claim_ref(claim.key))
        return None


def _unavailable(pools: Sequence[Pool], active: Gates, source: ObjectRef) -> Rejection:
    invalid = active.whole_pools and any(pool.invalid for pool in pools)
    return rejection(Reason.RESOURCE_POOLS_INVALID if invalid else Reason.DEVICES_UNAVAILABLE, source=source)


def _usable_on(allocation: Allocation, node: Node) -> bool:
    return allocation.nodes is None or node_matcher(allocation.nodes)(node.labels, node.name)
