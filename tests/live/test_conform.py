"""`ksolver conform` against real schedulers: over the simulator's protocol, and on a control plane."""

import json
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from ksolver_cli.cli.main import app
from ksolver_cli.collect.schedulers.exchange import Answer, Question, Said
from ksolver_cli.collect.schedulers.scratch_cluster import ScratchCluster, ScratchOptions
from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Outcome
from ksolver_cli.conform.run import Options, compare
from ksolver_cli.constraints.core.taint_toleration import TaintToleration
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.snapshot.model import Snapshot
from tests.live.oracle import Json, Oracle, OracleError
from tests.live.plane import Plane
from tests.live.simulator_server import simulator
from tests.live.worlds.everything import world
from tests.paths import ROOT
from tests.unit.conform.test_dedup import drawn, verdicts

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
            DEMO, "--simulator-url", url, "--pods", "all", "--sample", "10", "--max-nodes", "10", *GATED
        )
    assert report["strict_gate_status"] == "pass", report["mismatches"]
    assert code == 0
    assert report["simulator_probes"] == len(state.imports) == report["pairs_total"] == 100
    assert report["strict"]["no_answer"] == report["expected_divergence"]["no_answer"] == 0


def test_a_rule_of_ours_that_is_broken_trips_the_gate(oracle: Oracle, blind_to_taints: None) -> None:
    with simulator(oracle) as (url, _):
        code, report = conform(
            DEMO, "--simulator-url", url, "--pods", "all", "--sample", "10", "--max-nodes", "8", *GATED
        )
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
    args = (DEMO, "--pods", "all", "--sample", "15", "--max-nodes", "10", "--dedup-nodes", *GATED)
    live = conform(*args, "--scheduler", "cluster", "--scheduler-kubeconfig", kubeconfig, "--record", record)
    assert live[1].get("strict_gate_status") == "pass", live[1]
    assert live[0] == 0
    assert live[1]["scheduler"]["version"] == "v1.36.3"
    assert clean_plane.items("api/v1/nodes") == []
    offline = conform(*args, "--scheduler", f"replay:{record}")
    for report in (live[1], offline[1]):
        report.pop("scheduler")
    assert offline == live


def test_a_broken_rule_trips_the_gate_of_a_running_scheduler(clean_plane: Plane, blind_to_taints: None) -> None:
    source = ("--scheduler", "cluster", "--scheduler-kubeconfig", clean_plane.kubeconfig())
    code, report = conform(DEMO, *source, "--pods", "all", "--sample", "6", "--max-nodes", "10", *GATED)
    assert (code, report["strict_gate_status"]) == (1, "fail")
    assert "untolerated taint" in report["mismatches"][0]["scheduler_reason"]


def test_a_control_plane_with_nodes_is_refused_and_left_alone(clean_plane: Plane) -> None:
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    status = {"allocatable": room, "capacity": room}
    clean_plane.add_nodes({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine"}, "status": status})
    before = {ns["metadata"]["name"] for ns in clean_plane.items("api/v1/namespaces")}
    code, said = conform(DEMO, "--scheduler", "cluster", "--scheduler-kubeconfig", clean_plane.kubeconfig())
    assert code == 3
    assert "nodes of its own (mine)" in said["stdout"]
    assert {ns["metadata"]["name"] for ns in clean_plane.items("api/v1/namespaces")} == before
    assert [node["metadata"]["name"] for node in clean_plane.items("api/v1/nodes")] == ["mine"]


def as_snapshot(number: int) -> Snapshot:
    """A random world with only the pod to place in it."""
    found = world(Random(number))
    pod = found.pop("pod")
    pod["spec"].pop("nodeName", None)
    return Snapshot({**{kind: tuple(items) for kind, items in found.items()}, "pods": (pod,)})


def test_random_pods_with_volumes_and_devices_agree_with_a_running_scheduler(clean_plane: Plane) -> None:
    answered, differing = 0, []
    with ScratchCluster(ScratchOptions(clean_plane.kubeconfig(), seconds=5, settle_seconds=2)) as scheduler:
        for number in range(15):
            options = Options(Choice(Pods.ALL, 0, 2), strict_all=True)
            found = compare(as_snapshot(number), scheduler, options)
            # The API server refuses some of these objects, which is no answer.
            answered += found.strict.answered
            differing += [pair for pair in found.strict.mismatches if pair.outcome is not Outcome.NO_ANSWER]
    assert not differing
    assert answered >= 10
    assert clean_plane.items("api/v1/persistentvolumes") == []
    assert clean_plane.items("apis/resource.k8s.io/v1/resourceslices") == []


class OracleScheduler:
    """The scheduler itself, asked about worlds that no API server has looked at."""

    source = "simulator"

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.version = oracle.version()["version"]

    def prepare(self, question: Question) -> Question:
        return question

    def ask(self, question: Question) -> Answer:
        try:
            cluster = {"nodes": [question.node], **question.beside}
            said = self.oracle.filter(cluster, question.pod)[question.node_name]
        except OracleError as error:
            return Answer(Said.NO_ANSWER, str(error))
        return Answer(Said(said["verdict"]), "" if said["verdict"] == "pass" else said["first_fail"]["plugin"])


@pytest.mark.parametrize("seed", range(25))
def test_asking_once_for_like_nodes_gives_the_scheduler_s_verdict_on_each(oracle: Oracle, seed: int) -> None:
    cluster, choice = drawn(seed), Choice(Pods.ALL, 4)
    full = compare(cluster, OracleScheduler(oracle), Options(choice, strict_all=True))
    once = compare(cluster, OracleScheduler(oracle), Options(choice, strict_all=True, dedup=True))
    assert verdicts(once) == verdicts(full)
    assert [pair for pair in full.strict.mismatches if pair.outcome is not Outcome.NO_ANSWER] == []
