"""What a pod counts for on its node while an in-place resize may be under way.

Sources: k8s.io/component-helpers/resource with UseStatusResources, KEP-1287 (containers), KEP-5419 (whole pods).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ksolver_cli.normalise.fields import Field
from ksolver_cli.normalise.pods.requests import (
    Amounts,
    ContainerResources,
    PodResources,
    aggregate,
    raise_to,
    read_amounts,
)

SUMS_SINCE = (1, 37)
"""Since this version what is asked, allocated and in force is summed over the pod before the largest is taken."""


@dataclass(frozen=True, slots=True)
class Report:
    """What the kubelet says that one container, or the pod itself, was allocated and holds; None where it says nothing.

    `holds` is whether it reports resources in force at all.
    """

    holds: bool = False
    requests: Amounts | None = None
    limits: Amounts | None = None
    allocated: Amounts | None = None


@dataclass(frozen=True, slots=True)
class Reports:
    """The kubelet's reports on a pod. `infeasible`: the resize that is asked for can never be done on this node."""

    containers: dict[str, Report] = field(default_factory=dict)
    pod: Report = field(default_factory=Report)
    infeasible: bool = False


def read_reports(status: Field) -> Reports:
    """The parts of a pod status that tell of resizes."""
    containers = {}
    for name in ("containerStatuses", "initContainerStatuses"):
        for container in status[name].items():
            containers[container["name"].text()] = _report(container)
    return Reports(containers, _report(status), _is_infeasible(status))


def held_requests(resources: PodResources, reports: Reports, version: tuple[int, int]) -> Amounts:
    """Effective requests of a bound pod in 10^-9, as the scheduler of this Kubernetes version counts them."""
    if version < SUMS_SINCE:
        return bound(resources, reports).requests()
    total = ContainerResources("", _largest_sum(resources, reports), {})
    own = resources.pod_requests
    if reports.pod.holds and resources.has_pod_level_requests:
        own = _in_force(own, reports.infeasible, reports.pod.requests, reports.pod.allocated)
    return replace(resources, containers=(total,), pod_requests=own).requests()


def bound(resources: PodResources, reports: Reports) -> PodResources:
    """The pod with each container, and the pod itself, at the largest of what is asked, allocated and in force.

    An infeasible request is left out. What no status reports counts as asked, and so do init steps.
    """

    def resized(container: ContainerResources) -> ContainerResources:
        report = reports.containers.get(container.name, Report())
        if not report.holds or (container.is_init and not container.is_sidecar):
            return container
        return replace(
            container,
            requests=_in_force(container.requests, reports.infeasible, report.requests, report.allocated),
            limits=_in_force(container.limits, reports.infeasible, report.limits),
        )

    result = replace(resources, containers=tuple(resized(container) for container in resources.containers))
    if not reports.pod.holds:
        return result
    requests = _in_force(resources.pod_requests, reports.infeasible, reports.pod.requests, reports.pod.allocated)
    limits = _in_force(resources.pod_limits, reports.infeasible, reports.pod.limits)
    return replace(
        result,
        pod_requests={name: requests.get(name, 0) for name in resources.pod_requests},
        pod_limits={name: limits.get(name, 0) for name in resources.pod_limits},
    )


def _largest_sum(resources: PodResources, reports: Reports) -> Amounts:
    """The largest of the pod's sums: asked (unless infeasible), allocated, in force."""

    def total(choose: Callable[[ContainerResources, Report], Amounts | None]) -> Amounts:
        known = reports.containers
        return aggregate((c, choose(c, known.get(c.name, Report())) or {}) for c in resources.containers)

    def asked(container: ContainerResources) -> Amounts | None:
        return None if reports.infeasible else container.requests

    own = reports.pod
    spec = total(lambda container, _: container.requests)
    if own.allocated is not None and own.requests is not None:
        return _in_force(spec, reports.infeasible, own.allocated, own.requests)
    allocated = total(lambda container, report: _first(report.allocated, asked(container)))
    in_force = total(lambda container, report: _first(report.requests, report.allocated, asked(container)))
    return _in_force(spec, reports.infeasible, allocated, in_force)


def _first(*choices: Amounts | None) -> Amounts | None:
    return next((choice for choice in choices if choice is not None), None)


def _in_force(asked: Amounts, infeasible: bool, *reported: Amounts | None) -> Amounts:
    total: dict[str, int] = {}
    for choice in reported if infeasible else (asked, *reported):
        raise_to(total, choice or {})
    return total


def _report(status: Field) -> Report:
    resources = status["resources"]
    return Report(
        holds=not resources.absent,
        requests=_amounts(resources["requests"]),
        limits=_amounts(resources["limits"]),
        allocated=_amounts(status["allocatedResources"]),
    )


def _amounts(resources: Field) -> Amounts | None:
    return None if resources.absent else read_amounts(resources)


def _is_infeasible(status: Field) -> bool:
    for condition in status["conditions"].items():
        if condition["type"].text() == "PodResizePending":
            return condition["reason"].text() == "Infeasible"
    return False
