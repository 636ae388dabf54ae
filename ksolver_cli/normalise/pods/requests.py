"""Effective requests and limits of a pod, exactly as kube-scheduler counts them.

Sums are kept in 10^-9 of a unit and rounded up once, per pod, as `MilliValue()` (cpu) and `Value()` (all else) do.
Source: k8s.io/component-helpers/resource (PodRequests, PodLimits), KEP-753 (sidecars), KEP-2837 (pod-level
resources).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.pod import Resources
from ksolver_cli.domain.quantity import Quantity
from ksolver_cli.normalise.fields import Field

Amounts = Mapping[str, int]
"""Resource name to amount in 10^-9 of a unit."""

LARGEST = 1 << 54
_POD_LEVEL = ("cpu", "memory")
_POD_LEVEL_PREFIX = "hugepages-"


@dataclass(frozen=True, slots=True)
class ContainerResources:
    """What one container asks for; `is_sidecar` is an init container that keeps running (restartPolicy Always)."""

    name: str
    requests: Amounts
    limits: Amounts
    is_init: bool = False
    is_sidecar: bool = False


@dataclass(frozen=True, slots=True)
class PodResources:
    """Everything in a pod that its effective requests and limits are made of."""

    containers: tuple[ContainerResources, ...]
    overhead: Amounts = field(default_factory=dict)
    pod_requests: Amounts = field(default_factory=dict)
    pod_limits: Amounts = field(default_factory=dict)

    def requests(self, *, pod_level: bool = True, with_overhead: bool = True) -> Amounts:
        """Effective requests in 10^-9: pod-level amounts replace the containers' sum, overhead comes on top."""
        total = aggregate((c, c.requests) for c in self.containers)
        if pod_level:
            total.update(_pod_level(self.pod_requests))
        if with_overhead:
            _add(total, self.overhead)
        return total

    def limits(self, *, pod_level: bool = True, with_overhead: bool = True) -> Amounts:
        """Effective limits in 10^-9; overhead is added only to limits that are set and not zero."""
        total = aggregate((c, c.limits) for c in self.containers)
        if pod_level:
            total.update(_pod_level(self.pod_limits))
        if with_overhead:
            _add(total, {name: amount for name, amount in self.overhead.items() if total.get(name)})
        return total

    @property
    def has_pod_level_requests(self) -> bool:
        """Whether the pod itself sets requests of a kind that counts."""
        return bool(_pod_level(self.pod_requests))

    @property
    def has_pod_level(self) -> bool:
        """Whether the pod itself sets requests or limits of a kind that counts."""
        return bool(_pod_level(self.pod_requests) or _pod_level(self.pod_limits))


def aggregate(steps: Iterable[tuple[ContainerResources, Amounts]]) -> dict[str, int]:
    """The most a pod holds at once: its containers with all sidecars, or an init step beside the sidecars before it."""
    total: dict[str, int] = {}
    sidecars: dict[str, int] = {}
    init: dict[str, int] = {}
    for container, amounts in steps:
        if not container.is_init or container.is_sidecar:
            _add(total, amounts)
        if container.is_sidecar:
            _add(sidecars, amounts)
            raise_to(init, sidecars)
        elif container.is_init:
            beside = dict(sidecars)
            _add(beside, amounts)
            raise_to(init, beside)
    raise_to(total, init)
    return total


def rounded(amounts: Amounts) -> Resources:
    """Amounts as integers of the scheduler: cpu in millicores, everything else in whole units, rounded up."""
    return {name: _rounded(name, nanos) for name, nanos in amounts.items()}


def bounded(amounts: Amounts) -> Resources:
    """`rounded`, where amounts above 2^54, more than any node may have, count as 2^54: sums stay within 64 bits."""
    return {name: min(amount, LARGEST) for name, amount in rounded(amounts).items()}


def read_amounts(resources: Field) -> Amounts:
    """A resource list in 10^-9."""
    return {name: quantity.nanos for name, quantity in resources.quantities().items()}


def read_resources(spec: Field) -> PodResources:
    """The parts of a pod spec that its effective requests are made of."""
    init = [_container(container, is_init=True) for container in spec["initContainers"].items()]
    main = [_container(container, is_init=False) for container in spec["containers"].items()]
    if not main:
        raise spec["containers"].bad("at least one container")
    own = spec["resources"]
    return PodResources(
        containers=(*main, *init),
        overhead=read_amounts(spec["overhead"]),
        pod_requests=read_amounts(own["requests"]),
        pod_limits=read_amounts(own["limits"]),
    )


def _container(container: Field, *, is_init: bool) -> ContainerResources:
    resources = container["resources"]
    return ContainerResources(
        name=container["name"].text(),
        requests=read_amounts(resources["requests"]),
        limits=read_amounts(resources["limits"]),
        is_init=is_init,
        is_sidecar=is_init and container["restartPolicy"].text() == "Always",
    )


def is_pod_level(resource: str) -> bool:
    """Whether a resource may be set for a whole pod (KEP-2837): cpu, memory and huge pages."""
    return resource in _POD_LEVEL or resource.startswith(_POD_LEVEL_PREFIX)


def _pod_level(amounts: Amounts) -> dict[str, int]:
    """The resources that may be set for a whole pod; others are ignored."""
    return {name: nanos for name, nanos in amounts.items() if is_pod_level(name)}


def _add(total: dict[str, int], amounts: Amounts) -> None:
    for name, nanos in amounts.items():
        total[name] = total.get(name, 0) + nanos


def raise_to(total: dict[str, int], amounts: Amounts) -> None:
    """Raise each total to at least the amount; a resource that is only named counts as zero."""
    for name, nanos in amounts.items():
        if nanos >= total.get(name, 0):
            total[name] = nanos


def _rounded(name: str, nanos: int) -> int:
    quantity = Quantity(nanos)
    return quantity.milli_value() if name == "cpu" else quantity.value()
