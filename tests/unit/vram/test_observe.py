"""Observation: which pods become rows, with which facts, and why others do not."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.vram.cards import Cards
from ksolver_cli.vram.dcgm import promql
from ksolver_cli.vram.dcgm.reading import Window
from ksolver_cli.vram.join.source import ObjectSource
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.observe import Findings, observe
from tests.unit.vram.gpu_pods import END, MODEL, every_minute, exported, gpu_node, gpu_pod
from tests.unit.vram.miniprom import MiniPrometheus

USED, FREE = "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE"
DAY = Window(END, 86_400)


def run(prometheus: MiniPrometheus, **objects: list[Mapping[str, object]]) -> Findings:
    return observe(prometheus, ObjectSource(objects), DAY, Cards.bundled())  # type: ignore[arg-type]


def only(findings: Findings) -> Observation:
    (row,) = findings.rows
    return row


def test_a_row_holds_everything_that_is_known() -> None:
    prometheus = MiniPrometheus()
    for uuid, used in (("GPU-1", 18_000.0), ("GPU-2", 19_000.5)):
        prometheus.add(USED, exported("train-0", uuid), every_minute(used))
        prometheus.add(FREE, exported("train-0", uuid), every_minute(81_559 - used))
    pod = gpu_pod("train-0", owner=("ReplicaSet", "train-abc"), labels={"pod-template-hash": "abc"})
    print_ = fingerprint(pod)
    assert print_ is not None
    assert only(run(prometheus, pods=[pod])) == Observation(
        image=print_.image,
        command_hash=print_.command_hash,
        peak_mib=19_001,
        observed_at="2025-11-30T00:00:00+00:00",
        window="24h",
        namespace="ml",
        pod="train-0",
        workload="Deployment/train",
        pod_uid="uid-train-0",
        gpu_model=MODEL,
        gpu_count=2,
        capacity_mib=81_559,
        samples=10,
        oom=False,
        hints={"batch_size": 8.0},
    )


def test_capacity_comes_from_the_catalog_where_the_exporter_does_not_tell() -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("p"), every_minute(5))
    assert only(run(prometheus, pods=[gpu_pod("p")])).capacity_mib == 81_559
    odd = MiniPrometheus()
    odd.add(USED, exported("p", modelName="Custom"), every_minute(5))
    assert only(run(odd, pods=[gpu_pod("p")])).capacity_mib is None
    node = gpu_node(**{"nvidia.com/gpu.memory": "12345"})
    assert only(run(odd, pods=[gpu_pod("p")], nodes=[node])).capacity_mib == 12_345


def test_a_mig_instance_has_its_own_capacity_or_none() -> None:
    prometheus = MiniPrometheus()
    labels = exported("p", GPU_I_ID="9", GPU_I_PROFILE="3g.20gb")
    prometheus.add(USED, labels, every_minute(4_384))
    row = only(run(prometheus, pods=[gpu_pod("p", resource="nvidia.com/mig-3g.20gb")]))
    assert (row.mig_profile, row.capacity_mib) == ("3g.20gb", None)
    prometheus.add(FREE, labels, every_minute(15_711))
    assert only(run(prometheus, pods=[gpu_pod("p")])).capacity_mib == 20_095


@pytest.mark.parametrize(
    ("pod", "labels"),
    [
        (gpu_pod("p", resource="nvidia.com/gpu.shared"), {}),
        (gpu_pod("p", annotations={"gpu-fraction": "0.5"}), {}),
        (gpu_pod("p"), {"nvidia.com/gpu.replicas": "4"}),
        (gpu_pod("p"), {"nvidia.com/gpu.sharing-strategy": "mps"}),
        (gpu_pod("p"), {"nvidia.com/gpu.product": "Tesla-T4-SHARED"}),
    ],
)
def test_sharing_shows_in_spec_or_node_when_the_exporter_names_one_pod_only(
    pod: dict[str, object], labels: dict[str, str]
) -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("p"), every_minute(9_200))
    assert only(run(prometheus, pods=[pod], nodes=[gpu_node(**labels)])).shared
    plain = gpu_node(**{"nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none"})
    assert not only(run(prometheus, pods=[gpu_pod("p")], nodes=[plain])).shared


def test_a_recreated_pod_is_not_charged_with_its_predecessor() -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("db-0"), [*every_minute(70_000, until=END - 7_200), *every_minute(9_000)])
    reborn = gpu_pod("db-0", owner=("StatefulSet", "db"), creationTimestamp="2025-11-29T23:30:00Z")
    assert only(run(prometheus, pods=[reborn])).peak_mib == 9_000
    newest = gpu_pod("db-0", owner=("StatefulSet", "db"), creationTimestamp="2025-11-30T00:00:00Z")
    assert not run(prometheus, pods=[newest]).rows
    unique = gpu_pod("db-0", owner=("Job", "db"), creationTimestamp="2025-11-29T23:30:00Z")
    assert only(run(prometheus, pods=[unique])).peak_mib == 70_000


def test_a_uid_in_the_series_keeps_namesakes_apart() -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("p", exported_pod_uid="old"), every_minute(70_000, until=END - 7_200))
    prometheus.add(USED, exported("p", exported_pod_uid="uid-p"), every_minute(9_000))
    findings = run(prometheus, pods=[gpu_pod("p")])
    assert only(findings).peak_mib == 9_000
    assert [entry.pod for entry in findings.unmatched] == ["ml/p"]


def finished(prometheus: MiniPrometheus, pod: str, **facts: str) -> None:
    """What kube-state-metrics leaves of a pod that is gone."""
    base = {"namespace": "ml", "pod": pod, "uid": facts.get("uid", f"uid-{pod}")}
    owner = {"owner_kind": facts.get("kind", "Job"), "owner_name": facts.get("owner", "train")}
    earlier = every_minute(1.0, until=END - 3_600)
    prometheus.add("kube_pod_info", {**base, "node": "node-a"}, earlier)
    prometheus.add("kube_pod_owner", {**base, **owner}, earlier)
    image = facts.get("image", "registry.example/train:1")
    prometheus.add("kube_pod_container_info", {**base, "container": "main", "image_spec": image}, earlier)
    if "reason" in facts:
        labels = {**base, "container": "main", "reason": facts["reason"]}
        prometheus.add("kube_pod_container_status_terminated_reason", labels, earlier)


def job(name: str = "train", kind: str = "Job") -> dict[str, object]:
    pod = gpu_pod("x")
    template = {"metadata": {}, "spec": pod["spec"]}
    references = [{"kind": "CronJob", "name": "nightly", "controller": True}]
    metadata = {"name": name, "namespace": "ml", "ownerReferences": references}
    return {"kind": kind, "metadata": metadata, "spec": {"template": template}}


@pytest.mark.parametrize(("reason", "oom"), [("OOMKilled", True), ("Completed", False), (None, None)])
def test_a_finished_pod_is_joined_through_its_job(reason: str | None, oom: bool | None) -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("train-xyz"), every_minute(30_000, until=END - 3_600))
    finished(prometheus, "train-xyz", **({"reason": reason} if reason else {}))
    row = only(run(prometheus, jobs=[job()]))
    assert (row.peak_mib, row.pod_uid, row.workload, row.oom) == (30_000, "uid-train-xyz", "CronJob/nightly", oom)
    living = fingerprint(gpu_pod("x"))
    assert living is not None
    assert row.command_hash == living.command_hash


def test_a_finished_pod_is_joined_through_a_living_sibling() -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("web-abc-1"), every_minute(30_000, until=END - 3_600))
    finished(prometheus, "web-abc-1", kind="ReplicaSet", owner="web-abc")
    sibling = gpu_pod("web-abc-2", owner=("ReplicaSet", "web-abc"))
    assert only(run(prometheus, pods=[sibling])).pod == "web-abc-1"


@pytest.mark.parametrize(
    ("facts", "objects", "reason"),
    [
        (None, {}, "kube-state-metrics has no series of it"),
        (None, {"pods": [gpu_pod("gone", uid="other")]}, "another pod has its name now"),
        ({}, {}, "its owner Job train is gone too"),
        ({"kind": "StatefulSet"}, {"statefulsets": [job(kind="StatefulSet")]}, "may have changed since"),
        ({"image": "registry.example/train:2"}, {"jobs": [job()]}, "now runs another image"),
        ({"uid": "third"}, {"jobs": [job()]}, "knows another pod of that name"),
    ],
)
def test_no_spec_no_row(facts: dict[str, str] | None, objects: dict[str, list[object]], reason: str) -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("gone", exported_pod_uid="uid-gone"), every_minute(30_000))
    if facts is not None:
        finished(prometheus, "gone", **facts)
    findings = run(prometheus, **objects)  # type: ignore[arg-type]
    assert not findings.rows
    assert reason in findings.unmatched[0].reason
    assert reason in (findings.why_nothing() or "")


def test_a_name_that_stood_for_two_finished_pods_is_left_out() -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("train-xyz"), every_minute(30_000))
    finished(prometheus, "train-xyz")
    finished(prometheus, "train-xyz", uid="another")
    assert "several pods" in run(prometheus, jobs=[job()]).unmatched[0].reason


def test_the_exporter_is_no_workload_even_where_nothing_else_tells() -> None:
    prometheus = MiniPrometheus()
    labels = {"UUID": "GPU-1", "namespace": "ml", "pod": "metrics-1", "job": "gpus"}
    prometheus.add(USED, labels, every_minute(4))
    exporter = gpu_pod("metrics-1", owner=("DaemonSet", "metrics"), resource="cpu")
    findings = run(prometheus, pods=[exporter])
    assert not findings.rows
    assert "the exporter itself" in (findings.why_nothing() or "")


def test_why_there_is_nothing() -> None:
    prometheus = MiniPrometheus()
    assert "no series of DCGM_FI_DEV_FB_USED" in (run(prometheus).why_nothing() or "")
    prometheus.add("DCGM_FI_PROF_GR_ENGINE_ACTIVE", exported("p", GPU_I_ID="7"), every_minute(0.5))
    assert "no framebuffer metric" in (run(prometheus).why_nothing() or "")
    prometheus.add(USED, {"UUID": "GPU-1", "gpu": "0"}, every_minute(12_000))
    (silent,) = run(prometheus).unmatched
    assert (silent.pod, "its memory is unknown" in silent.reason) == ("ml/p", True)
    prometheus.stored.pop(0)
    findings = run(prometheus)
    assert "no series names a workload" in (findings.why_nothing() or "")
    assert [device.name for device in findings.unattributed] == ["GPU-1"]
    prometheus.add(USED, exported("p", "GPU-2"), every_minute(0))
    assert "zero or DCGM's blank" in (run(prometheus, pods=[gpu_pod("p")]).why_nothing() or "")
    assert not run(prometheus, pods=[gpu_pod("p")]).rows


def test_matchers_narrow_every_selector() -> None:
    prometheus = MiniPrometheus()
    prometheus.add(USED, exported("p", cluster="prod"), every_minute(5))
    prometheus.add(USED, exported("p", cluster="test"), every_minute(900))
    finished(prometheus, "gone")
    prometheus.add(USED, exported("gone", "GPU-2", cluster="prod"), every_minute(5))
    source = ObjectSource({"pods": [gpu_pod("p")]})
    assert only(observe(prometheus, source, DAY, Cards.bundled(), ('cluster="prod"',))).peak_mib == 5
    assert prometheus.asked
    assert all('cluster="prod"' in query for query in prometheus.asked)


@pytest.mark.parametrize(("seconds", "spelled"), [(86_400, "24h"), (5_400, "90m"), (45, "45s"), (3_600, "1h")])
def test_windows_are_spelled_in_their_largest_unit(seconds: int, spelled: str) -> None:
    assert promql.spelled(seconds) == spelled


LABEL_NAMES = st.sampled_from(
    ["UUID", "uuid", "gpu", "GPU_I_ID", "GPU_I_PROFILE", "pod", "namespace", "container", "exported_pod", "job", "vgpu",
     "exported_namespace", "pod_name", "pod_namespace", "Hostname", "node", "modelName", "prometheus_replica",
     "pod_uid"]
)  # fmt: skip
LABEL_SETS = st.dictionaries(LABEL_NAMES, st.sampled_from(["a", "b", "GPU-1", "", 'x"\\\n'])).map(dict)
VALUES = st.sampled_from([0.0, 1.0, 70_000.0, math.inf, -1.0, 2.0**63, 0.4])
SAMPLES = st.lists(st.tuples(st.integers(0, 9).map(lambda n: END - 60.0 * n), VALUES), max_size=6)


@given(st.lists(st.tuples(LABEL_SETS, SAMPLES), max_size=8))
def test_odd_series_never_crash_and_never_invent(
    series: list[tuple[dict[str, str], list[tuple[float, float]]]],
) -> None:
    prometheus = MiniPrometheus()
    for labels, samples in series:
        prometheus.add(USED, labels, dict(samples).items())
    pods = [gpu_pod(name, namespace=space) for name in ("a", "b") for space in ("a", "b")]
    rows = run(prometheus, pods=pods).rows
    real = {value for _, samples in series for _, value in samples if 0 < value < 0x7FFFFFF0}
    assert {row.peak_mib for row in rows} <= {math.ceil(value) for value in real}
    assert len({(row.namespace, row.pod) for row in rows}) == len(rows) or any("pod_uid" in lab for lab, _ in series)
    assert all(row.gpu_count and row.gpu_count > 0 for row in rows)
