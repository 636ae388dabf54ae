"""`ksolver conform` against real schedulers: over the simulator's protocol, and on a control plane."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ksolver_cli.cli.main import app
from ksolver_cli.constraints.core.taint_toleration import TaintToleration
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.pod import Pod
from tests.live.oracle import Json, Oracle
from tests.live.plane import Plane
from tests.live.simulator_server import simulator
from tests.paths import ROOT

DEMO = ROOT / "snapshots" / "demo" / "snapshot.json"
GATED = ("--fail-on-strict-false-positive", "--fail-on-any-strict", "--json")


def conform(*args: str | Path) -> tuple[int, Json]:
    """Exit code and report of a run in this process."""
    done = CliRunner().invoke(app, ["conform", *map(str, args)])
    return done.exit_code, json.loads(done.stdout) if done.stdout.startswith("{") else {"stdout": done.output}


@pytest.fixture
def blind_to_taints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule of ours that is broken: no taint matters."""

    def prepare(self: TaintToleration, pod: Pod, state: State) -> None:
        return None

    monkeypatch.setattr(TaintToleration, "prepare", prepare)


def test_the_demo_agrees_over_the_simulator_s_protocol(oracle: Oracle) -> None:
    with simulator(oracle) as (url, state):
        code, report = conform(
            DEMO, "--simulator-url", url, "--pods", "all", "--sample", "12", "--max-nodes", "12", *GATED
        )
    assert report["strict_gate_status"] == "pass", report["mismatches"]
    assert code == 0
    assert report["simulator_probes"] == len(state.imports) == report["pairs_total"] == 144
    assert report["strict"]["no_answer"] == report["expected_divergence"]["no_answer"] == 0


def test_a_rule_of_ours_that_is_broken_trips_the_gate(oracle: Oracle, blind_to_taints: None) -> None:
    with simulator(oracle) as (url, _):
        code, report = conform(DEMO, "--simulator-url", url, "--pods", "all", "--max-nodes", "8", *GATED)
    assert (code, report["strict_gate_status"]) == (1, "fail")
    assert report["strict"]["false_positive"] > 0
    assert report["mismatches"][0]["verdict"] == "false_positive"
    assert "taint" in report["mismatches"][0]["scheduler_reason"]


def test_requests_that_fail_are_tried_again(oracle: Oracle) -> None:
    with simulator(oracle) as (url, state):
        state.broken = 2
        code, report = conform(DEMO, "--simulator-url", url, "--sample", "1", "--max-nodes", "2", *GATED)
    assert (code, report["strict"]["agree"]) == (0, 2)


def test_the_demo_agrees_with_a_running_scheduler(clean_plane: Plane, tmp_path: Path) -> None:
    record = tmp_path / "verdicts.jsonl"
    kubeconfig = clean_plane.kubeconfig()
    args = (DEMO, "--pods", "all", "--sample", "20", "--max-nodes", "15", "--dedup-nodes", *GATED)
    live = conform(*args, "--scheduler", "cluster", "--scheduler-kubeconfig", kubeconfig, "--record", record)
    assert live[1].get("strict_gate_status") == "pass", live[1]
    assert live[0] == 0
    assert live[1]["scheduler"]["version"] == "v1.36.3"
    assert clean_plane.items("api/v1/nodes") == []
    offline = conform(*args, "--scheduler", f"replay:{record}")
    for report in (live[1], offline[1]):
        report.pop("scheduler")
    assert offline == live
