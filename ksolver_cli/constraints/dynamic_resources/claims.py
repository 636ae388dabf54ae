"""The claims of a pod: named, made from templates, or standing for extended resources that device classes serve."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.devices import ClaimTemplate, DeviceRequest, ResourceClaim
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodClaim
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Unknown, Verdict

FAMILY = Family.DYNAMIC_RESOURCES
CLAIMS = "resourceclaims"
CLASSES = "deviceclasses"
SLICES = "resourceslices"
TEMPLATES = "resourceclaimtemplates"


def rejection(
    reason: Reason, *params: str, source: ObjectRef | None = None, code: Code = Code.UNRESOLVABLE
) -> Rejection:
    """A rejection of this family."""
    return Rejection(FAMILY, reason, params, code, source)


def claim_ref(key: str) -> ObjectRef:
    """Reference to a ResourceClaim."""
    return ObjectRef("ResourceClaim", key)


@dataclass(frozen=True, slots=True)
class Found:
    """Claims of a pod, or why they cannot be had."""

    claims: tuple[ResourceClaim, ...] = ()
    verdict: Verdict | None = None


def pod_claims(pod: Pod, cluster: Cluster, *, returning: bool) -> Found:
    """The claims that the pod names, in order.

    For a pod `returning` after its eviction, claims made from a template are made anew.
    """
    found: list[ResourceClaim] = []
    for entry in pod.spec.claims:
        claim = (_renewed if returning and entry.template_name else _claim)(pod, entry, cluster)
        if isinstance(claim, (Rejection, Unknown)):
            return Found(verdict=claim)
        if claim is not None:
            found.append(claim)
    return Found(tuple(found))


def _claim(pod: Pod, entry: PodClaim, cluster: Cluster) -> ResourceClaim | Verdict | None:
    made = dict(pod.claim_names)
    if entry.claim_name is None and entry.name not in made:
        return rejection(Reason.RESOURCE_CLAIM_NOT_CREATED, pod.key, source=ObjectRef("Pod", pod.key, entry.name))
    name = entry.claim_name or made[entry.name]
    if name is None:
        return None
    key = f"{pod.namespace}/{name}"
    claim = cluster.devices.claims.get(key)
    if claim is None:
        missing = rejection(Reason.RESOURCE_CLAIM_MISSING, key, source=claim_ref(key))
        return missing if cluster.knows(CLAIMS) else Unknown(FAMILY, CLAIMS, claim_ref(key))
    if claim.deleting:
        return rejection(Reason.RESOURCE_CLAIM_DELETING, name, source=claim_ref(key))
    if entry.claim_name is None and claim.controller_uid != pod.uid:
        spelling = "Pod" if cluster.kubernetes_version >= (1, 36) else "pod"
        return rejection(Reason.RESOURCE_CLAIM_NOT_OWNED, key, pod.key, spelling, source=claim_ref(key))
    return claim


def _renewed(pod: Pod, entry: PodClaim, cluster: Cluster) -> ResourceClaim | Verdict | None:
    """The claim that will be made from the template for the pod's successor; not allocated yet."""
    made = dict(pod.claim_names)
    if entry.name in made and made[entry.name] is None:
        return None
    key = f"{pod.namespace}/{made.get(entry.name) or f'{pod.name}-{entry.name}'}"
    before = cluster.devices.claims.get(key)
    template = cluster.devices.templates.get(f"{pod.namespace}/{entry.template_name}")
    if template is not None:
        return _from_template(key, template)
    if before is not None:
        return replace(before, allocation=None, reserved_for=(), deleting=False)
    source = ObjectRef("ResourceClaimTemplate", f"{pod.namespace}/{entry.template_name}")
    if not cluster.knows(TEMPLATES):
        return Unknown(FAMILY, TEMPLATES, source)
    return rejection(Reason.RESOURCE_CLAIM_NOT_CREATED, pod.key, source=source)


def _from_template(key: str, template: ClaimTemplate) -> ResourceClaim:
    namespace, _, name = key.partition("/")
    return ResourceClaim(namespace, name, requests=template.requests, constraints=template.constraints)


def served_resources(pod: Pod, cluster: Cluster) -> Mapping[str, int]:
    """The pod's extended resources if a device class serves any of them: name to amount."""
    asked: dict[str, int] = {}
    for _, amounts, _ in pod.spec.extended_requests_by_container:
        asked |= {name: pod.spec.requests.get(name, 0) for name in amounts}
    served = any(cluster.devices.class_for_resource(name) is not None for name in asked)
    return asked if served else {}


def stale_claim(pod: Pod, cluster: Cluster) -> ResourceClaim | None:
    """A claim left over from an earlier attempt to serve the pod's extended resources; it has to go first."""
    left = (c for c in cluster.devices.claims.values() if c.for_extended_resources and c.namespace == pod.namespace)
    return next((claim for claim in left if claim.requests and claim.controller_uid == pod.uid), None)


def extended_claim(
    pod: Pod, asked: Mapping[str, int], node: Node, cluster: Cluster
) -> ResourceClaim | Rejection | None:
    """The claim that serves, on this node, what no device plugin there offers; None when plugins offer it all."""
    requests: list[DeviceRequest] = []
    for position, name in enumerate(sorted(asked)):
        found = cluster.devices.class_for_resource(name)
        if found is not None and not node.allocatable.get(name, 0):
            requests += _container_requests(pod, name, position, found.name)
        elif name not in node.allocatable:
            return rejection(Reason.EXTENDED_RESOURCE_MISSING, name, source=ObjectRef("Node", node.name, name))
    requests.sort(key=lambda request: request.name)
    claim = f"{pod.name}-<extended-resources>"
    return ResourceClaim(pod.namespace, claim, requests=tuple(requests)) if requests else None


def _container_requests(pod: Pod, resource: str, position: int, device_class: str) -> Iterator[DeviceRequest]:
    """One request for each container that keeps running, and one for what the neediest init step lacks beside those.

    An init step reuses the devices of containers after it; init steps come one by one, so the largest lack covers all.
    """
    amounts = [(amounts.get(resource, 0), ends) for _, amounts, ends in pod.spec.extended_requests_by_container]
    lacks = [
        (amount - sum(later for later, later_ends in amounts[index:] if not later_ends), index)
        for index, (amount, ends) in enumerate(amounts)
        if ends
    ]
    lack, step = max(lacks, key=lambda lack: (lack[0], -lack[1]), default=(0, 0))
    wanted = [(amount, index) for index, (amount, ends) in enumerate(amounts) if amount and not ends]
    for amount, index in [*wanted, *([(lack, step)] if lack > 0 else [])]:
        yield DeviceRequest(f"container-{index}-request-{position}", device_class, count=amount)


def requested_classes(claim: ResourceClaim) -> Iterator[tuple[str, str]]:
    """(request, device class) of every request and alternative of a claim."""
    for request in claim.requests:
        for alternative in request.alternatives:
            yield f"{request.name}/{alternative.name}", alternative.device_class
        if not request.alternatives:
            yield request.name, request.device_class
