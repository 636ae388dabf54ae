"""Effective requests against a pod that is watched step by step as it starts."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.quantity import NANOS
from ksolver_cli.normalise.pods.requests import ContainerResources, PodResources, bounded, rounded
from ksolver_cli.normalise.pods.resize import Report, Reports, bound, held_requests

NAMES = ("cpu", "memory", "nvidia.com/gpu")
AMOUNTS = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 5 * NANOS), max_size=3)
KINDS = st.sampled_from(["main", "init", "sidecar"])


@st.composite
def pods(draw: st.DrawFn) -> PodResources:
    kinds = draw(st.lists(KINDS, min_size=1, max_size=6))
    containers = tuple(
        ContainerResources(f"c{i}", draw(AMOUNTS), draw(AMOUNTS), kind != "main", kind == "sidecar")
        for i, kind in enumerate(kinds)
    )
    return PodResources(containers, overhead=draw(AMOUNTS))


def peak(pod: PodResources, name: str) -> int:
    """The most that runs at once: init containers in order, sidecars from their turn on, then everything."""
    running, most = 0, 0
    for container in pod.containers:
        amount = container.requests.get(name, 0)
        if container.is_sidecar:
            running += amount
        most = max(most, running + (amount if container.is_init and not container.is_sidecar else 0))
    return max(most, running + sum(c.requests.get(name, 0) for c in pod.containers if not c.is_init))


@given(pods())
def test_a_pod_asks_for_the_peak_of_its_start_and_its_overhead(pod: PodResources) -> None:
    asked = pod.requests()
    for name in NAMES:
        assert asked.get(name, 0) == peak(pod, name) + pod.overhead.get(name, 0)
    mentioned = {name for c in pod.containers for name in c.requests} | set(pod.overhead)
    assert set(asked) == mentioned


@given(pods(), AMOUNTS)
def test_pod_level_amounts_stand_for_the_containers_and_only_where_allowed(pod: PodResources, own: dict) -> None:
    plain, asked = pod.requests(), PodResources(pod.containers, pod.overhead, own).requests()
    for name in NAMES:
        if name in own and name != "nvidia.com/gpu":
            assert asked[name] == own[name] + pod.overhead.get(name, 0)
        else:
            assert asked.get(name) == plain.get(name)


@given(pods(), st.data())
def test_a_resize_never_counts_for_less_than_any_side_says(pod: PodResources, data: st.DataObject) -> None:
    held = [Report(holds=True, requests=data.draw(AMOUNTS), allocated=data.draw(AMOUNTS)) for _ in pod.containers]
    reports = {c.name: report for c, report in zip(pod.containers, held, strict=True)}
    resized, asked = bound(pod, Reports(reports)), pod.requests()
    total = resized.requests()
    assert all(total[name] >= amount for name, amount in asked.items())
    for container, status in zip(resized.containers, held, strict=True):
        if container.is_sidecar or not container.is_init:
            assert all(container.requests[name] >= amount for name, amount in status.requests.items())
    # What can never be granted does not count: then only the kubelet's word does.
    stuck = bound(pod, Reports(reports, infeasible=True))
    for container, status in zip(stuck.containers, held, strict=True):
        if container.is_sidecar or not container.is_init:
            both = Counter(status.requests) | Counter(status.allocated)
            assert {k: v for k, v in container.requests.items() if v} == {k: v for k, v in both.items() if v}


@given(st.dictionaries(st.sampled_from(NAMES), st.integers(0, 10**40), max_size=3))
def test_rounding_is_up_and_bounded_sums_stay_in_64_bits(amounts: dict[str, int]) -> None:
    for name, whole in rounded(amounts).items():
        unit = NANOS // 1000 if name == "cpu" else NANOS
        assert (whole - 1) * unit < amounts[name] <= whole * unit
        assert bounded(amounts)[name] == min(whole, 2**54)


def resized_pod(**report: dict) -> tuple[PodResources, Reports]:
    pod = PodResources((ContainerResources("a", {"cpu": 1}, {}), ContainerResources("b", {"cpu": 3}, {})))
    return pod, Reports({name: Report(holds=True, **given) for name, given in report.items()})


def test_since_1_37_the_largest_of_the_sums_counts_not_the_sum_of_the_largest() -> None:
    pod, reports = resized_pod(a={"requests": {"cpu": 3}}, b={"requests": {"cpu": 1}})
    assert held_requests(pod, reports, (1, 36)) == {"cpu": 6}
    assert held_requests(pod, reports, (1, 37)) == {"cpu": 4}


def test_since_1_37_an_allocation_counts_without_resources_in_force() -> None:
    pod, _ = resized_pod()
    reports = Reports({"a": Report(allocated={"cpu": 2})})
    assert held_requests(pod, reports, (1, 36)) == {"cpu": 4}
    assert held_requests(pod, reports, (1, 37)) == {"cpu": 5}


@given(pods())
def test_without_reports_every_version_counts_what_is_asked(pod: PodResources) -> None:
    assert held_requests(pod, Reports(), (1, 36)) == held_requests(pod, Reports(), (1, 37)) == pod.requests()
