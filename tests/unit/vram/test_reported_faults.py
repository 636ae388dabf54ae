"""Faults that people reported of GPU memory history elsewhere, and real kube-state-metrics output."""

import json

import pytest

from ksolver_cli.vram.cards import Cards
from ksolver_cli.vram.dcgm.reading import Window
from ksolver_cli.vram.join.metadata import remembered
from ksolver_cli.vram.join.source import ObjectSource
from ksolver_cli.vram.observe import Findings, observe
from tests.paths import CASES, DATA
from tests.unit.vram.exposition import parse
from tests.unit.vram.gpu_pods import END, every_minute
from tests.unit.vram.miniprom import MiniPrometheus

WINDOW = Window(END, 3_600)


def reports() -> dict[str, dict[str, object]]:
    path = CASES / "bug_reports.json"
    found = json.loads(path.read_text())["bugs"] if path.is_file() else []
    return {bug["id"]: bug for bug in found if bug["area"] == "VRAM history"}


def outcome(report: dict[str, object]) -> Findings:
    given = report["input"]
    assert isinstance(given, dict)
    prometheus = MiniPrometheus()
    for line in parse(given["prometheus_text"]):
        prometheus.add(line.name, line.labels, every_minute(line.value))
    return observe(prometheus, ObjectSource({"pods": given["pods"], "nodes": given["nodes"]}), WINDOW, Cards.bundled())


@pytest.mark.parametrize("name", sorted(reports()) or [pytest.param("none", marks=pytest.mark.skip("no shared cases"))])
def test_devices_hold_what_was_reported(name: str) -> None:
    report = reports()[name]
    found = {device.name: device.peak_mib for device in outcome(report).reading.devices}
    expected = report["right_outcome"]["vram"]  # type: ignore[index]
    assert {device: found.get(device, "unknown") for device in expected} == expected


@pytest.mark.skipif(not reports(), reason="no shared cases")
class TestOutcomes:
    def test_a_mig_instance_without_framebuffer_metric_is_unknown_not_zero(self) -> None:
        findings = outcome(reports()["dcgm-mig-fb-missing"])
        assert not findings.rows
        assert [(entry.pod, "unknown" in entry.reason) for entry in findings.unmatched] == [("stg/emb", True)]

    def test_memory_without_pod_labels_stays_the_devices_own(self) -> None:
        findings = outcome(reports()["dcgm-missing-pod-labels"])
        assert not findings.rows
        assert [device.name for device in findings.unattributed] == ["GPU-0", "GPU-1"]

    @pytest.mark.parametrize("name", ["dcgm-mps-same-numbers", "dcgm-timeslice-one-pod-only"])
    def test_a_shared_cards_value_is_marked_for_everyone(self, name: str) -> None:
        rows = outcome(reports()[name]).rows
        assert rows
        assert all(row.shared and row.gpu_count == 1 for row in rows)


def test_every_pod_of_real_kube_state_metrics_is_remembered() -> None:
    path = DATA / "prom" / "ksm" / "ksm_1_35.prom"
    if not path.is_file():
        pytest.skip(f"no shared data at {path}")
    prometheus, facts = MiniPrometheus(), parse(path.read_text())
    for fact in facts:
        prometheus.add(fact.name, fact.labels, [(END, fact.value)])
    infos = {(f.labels["namespace"], f.labels["pod"]): f.labels for f in facts if f.name == "kube_pod_info"}
    found = remembered(prometheus, WINDOW, list(infos))
    assert {pod: memory.uid for pod, memory in found.items()} == {pod: labels["uid"] for pod, labels in infos.items()}
    owners = {pod: (labels["created_by_kind"], labels["created_by_name"]) for pod, labels in infos.items()}
    assert all(memory.owner in {None, owners[pod]} for pod, memory in found.items())
    assert sum(memory.owner is not None for memory in found.values()) > len(found) / 2
    finished = {
        (f.labels["namespace"], f.labels["pod"])
        for f in facts
        if f.name == "kube_pod_container_status_terminated_reason" and f.value
    }
    assert {pod for pod, memory in found.items() if memory.oom is not None} >= finished
    assert not any(memory.several for memory in found.values())
