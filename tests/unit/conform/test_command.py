"""The command: exit codes, skips, what it prints and writes."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from ksolver_cli.collect.schedulers.exchange import Said
from ksolver_cli.conform.recording import Recorder
from ksolver_cli.conform.run import Options, compare
from ksolver_cli.domain.verdict import Family
from tests.unit.conform.samples import Json, affinity, node, pod, snapshot
from tests.unit.conform.schedulers import FamilyScheduler

KEYS = {
    "strict",
    "expected_divergence",
    "expected_divergence_reason_counts",
    "mismatches",
    "expected_divergence_mismatches",
    "pods_evaluated",
    "cordoned_nodes_skipped",
    "nodes_total",
    "nodes_evaluated",
    "simulator_probes",
    "pairs_total",
    "interrupted",
    "strict_gate_status",
    "scheduler",
}
OUTCOMES = {"agree", "false_positive", "false_negative", "no_answer"}
MISMATCH = {"pod", "node", "verdict", "ours_reasons", "scheduler_reason", "expected_divergence_reasons"}
POSITIVE, ANY = "--fail-on-strict-false-positive", "--fail-on-any-strict"
TAINT = [{"key": "gpu", "effect": "NoSchedule"}]


@pytest.fixture(autouse=True)
def no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KSOLVER_SCHEDULER_SIMULATOR_URL", raising=False)


def conform(*args: str | Path) -> Result:
    return CliRunner().invoke(app, ["conform", *map(str, args)])


def report(*args: str | Path) -> Json:
    return dict(json.loads(conform(*args, "--json").stdout))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A snapshot of four pairs, one of which only we allow, and the recorded verdicts; the fifth node is cordoned."""
    nodes = [node("a"), node("b", taints=TAINT), node("c", unschedulable=True)]
    pods = [pod("p"), pod("q", affinity=affinity("podAntiAffinity", "x"))]
    return written(tmp_path, nodes, pods, FamilyScheduler(says={"a": Said.FAIL}))


def written(folder: Path, nodes: list[Json], pods: list[Json], scheduler: FamilyScheduler) -> tuple[Path, Path]:
    source = folder / "cluster.json"
    items = [{"kind": "Node", "apiVersion": "v1"} | n for n in nodes] + pods
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    record = folder / "v.jsonl"
    with Recorder(scheduler, record, "1.36") as recorder:
        compare(snapshot(nodes, pods), recorder, Options())
    return source, record


def test_the_report_has_exactly_the_keys_it_promises(files: tuple[Path, Path]) -> None:
    source, record = files
    found = report(source, "--scheduler", f"replay:{record}")
    assert set(found) == KEYS
    assert set(found["strict"]) == set(found["expected_divergence"]) == OUTCOMES
    assert all(set(entry) == MISMATCH for entry in found["mismatches"] + found["expected_divergence_mismatches"])
    assert found["mismatches"][0] == {
        "pod": "shop/p",
        "node": "a",
        "verdict": "false_positive",
        "ours_reasons": [],
        "scheduler_reason": "because",
        "expected_divergence_reasons": [],
    }
    assert found["expected_divergence_reason_counts"] == {"requiredPodAntiAffinity": 2}
    counts = ("pods_evaluated", "cordoned_nodes_skipped", "nodes_total", "nodes_evaluated", "pairs_total")
    assert [found[key] for key in counts] == [2, 1, 3, 2, 4]


def test_a_reason_of_ours_names_the_plugin(tmp_path: Path) -> None:
    blind = FamilyScheduler(blind_to=frozenset({Family.TAINT_TOLERATION}))
    source, record = written(tmp_path, [node("b", taints=TAINT)], [pod("p")], blind)
    (entry,) = report(source, "--scheduler", f"replay:{record}")["mismatches"]
    assert entry["verdict"] == "false_negative"
    assert entry["ours_reasons"] == ["TaintToleration: node(s) had untolerated taint(s)"]


@pytest.mark.parametrize(("flags", "code"), [((), 0), ((POSITIVE,), 1), ((ANY,), 1), ((ANY, "--allow-skip"), 1)])
def test_the_gate_trips_on_a_false_positive(flags: tuple[str, ...], code: int, files: tuple[Path, Path]) -> None:
    source, record = files
    done = conform(source, "--scheduler", f"replay:{record}", *flags)
    assert done.exit_code == code
    assert done.stdout.rstrip().endswith("strict-gate: fail")


@pytest.mark.parametrize(("flags", "code"), [((POSITIVE,), 0), ((ANY,), 1)])
def test_a_false_negative_trips_only_the_gate_on_any(flags: tuple[str, ...], code: int, tmp_path: Path) -> None:
    blind = FamilyScheduler(blind_to=frozenset({Family.TAINT_TOLERATION}))
    source, record = written(tmp_path, [node("b", taints=TAINT)], [pod("p")], blind)
    assert conform(source, "--scheduler", f"replay:{record}", *flags).exit_code == code


@pytest.mark.parametrize(("flags", "code"), [((), 0), ((ANY,), 1), ((POSITIVE,), 1), ((ANY, "--min-pairs", "1"), 1)])
def test_a_run_without_answers_does_not_pass_a_gate(flags: tuple[str, ...], code: int, tmp_path: Path) -> None:
    silent = FamilyScheduler(silent_on=lambda question: True)
    source, record = written(tmp_path, [node("a")], [pod("p")], silent)
    done = conform(source, "--scheduler", f"replay:{record}", *flags)
    assert (done.exit_code, "strict-gate: empty" in done.stdout) == (code, True)


@pytest.mark.parametrize(("least", "code", "status"), [(2, 0, "pass"), (3, 1, "empty")])
def test_fewer_pairs_than_asked_for_trip_the_gate(least: int, code: int, status: str, tmp_path: Path) -> None:
    source, record = written(tmp_path, [node("a"), node("b")], [pod("p")], FamilyScheduler())
    done = conform(source, "--scheduler", f"replay:{record}", ANY, "--min-pairs", str(least))
    assert (done.exit_code, f"strict-gate: {status}" in done.stdout) == (code, True)


@pytest.mark.parametrize(
    ("flags", "code"), [((), 0), ((ANY,), 1), ((POSITIVE,), 1), ((ANY, "--allow-skip"), 0), (("--allow-skip",), 0)]
)
def test_without_a_scheduler_it_skips_and_a_gate_does_not_pass(flags: tuple[str, ...], code: int) -> None:
    done = conform("no-such-file.json", "--json", *flags)
    assert done.exit_code == code
    assert json.loads(done.stdout)["skipped"] is True
    text = conform(*flags)
    assert "KSOLVER_SCHEDULER_SIMULATOR_URL" in text.stdout
    assert text.exit_code == code


@pytest.mark.parametrize(
    "args",
    [
        ("--scheduler", "guess"),
        ("--scheduler", "replay:"),
        ("--scheduler", "cluster"),
        ("--simulator-url", "sim.example"),
        ("--pods", "some"),
        ("--kubernetes-version", "new"),
        ("--min-pairs", "0"),
        ("--sample", "-1"),
        ("-o", "yaml"),
        ("--demo", "--simulator-url", "sim.example"),
        ("--simulator-url", "http://[sim.example"),
        ("--simulator-url", "http://"),
        ("--demo", "--scheduler-kubeconfig", "file"),
        ("--demo", "--scheduler", "replay:v.jsonl", "--record", "w.jsonl"),
        ("--demo", "cluster.json", "--simulator-url", "http://127.0.0.1:9"),
        ("--demo", "--context", "prod", "--simulator-url", "http://127.0.0.1:9"),
        ("--demo", "--simulator-url", "http://127.0.0.1:9", "--junit", "-"),
        ("--demo", "--simulator-url", "http://127.0.0.1:9", "--junit", "gone/x", "--out", "x"),
        ("--demo", "--simulator-url", "http://127.0.0.1:9", "--record", "gone/x"),
        ("--demo", "--simulator-url", "http://127.0.0.1:9", "--out", "gone/x"),
    ],
)
def test_usage_errors(args: tuple[str, ...]) -> None:
    done = conform(*args)
    assert (done.exit_code, done.stdout) == (2, "")


def test_without_a_snapshot_the_cluster_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    done = conform("--simulator-url", "http://127.0.0.1:9")
    assert done.exit_code == 3
    assert "no kubeconfig" in done.stderr


def test_a_snapshot_and_a_cluster_are_not_read_both(files: tuple[Path, Path]) -> None:
    source, _ = files
    done = conform(source, "--simulator-url", "http://127.0.0.1:9", "--context", "prod")
    assert done.exit_code == 2
    assert "give one of them" in done.stderr


def test_a_scheduler_that_cannot_be_used_at_all(files: tuple[Path, Path], tmp_path: Path) -> None:
    source, _ = files
    done = conform(source, "--scheduler", f"replay:{tmp_path / 'absent'}")
    assert done.exit_code == 3
    assert len(done.stderr.strip().splitlines()) == 2


def test_another_cluster_s_snapshot_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "s.json"
    source.write_text(
        json.dumps({
            "schema": "ksolver.snapshot/1",
            "cluster_name": "blue",
            "collected_at": "2026-01-01T00:00:00Z",
            "server_version": "v1.36.0",
            "gaps": [],
            "objects": {"nodes": [node("a")], "pods": [pod("p")]},
        })
    )  # fmt: skip
    record = tmp_path / "v.jsonl"
    record.write_text("")
    replay = ("--scheduler", f"replay:{record}")
    assert conform(source, "--cluster", "green", *replay).exit_code == 2
    assert conform(source, "--cluster", "blue", *replay).exit_code == 0
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node("a"), pod("p")]}))
    unnamed = conform(source, "--cluster", "blue", *replay)
    assert unnamed.exit_code == 2
    assert "does not tell its cluster" in unnamed.stderr


def test_what_the_snapshot_could_not_see_is_said(files: tuple[Path, Path], tmp_path: Path) -> None:
    _, record = files
    gaps = [{"kind": "persistentvolumes", "reason": "forbidden\x1b[2J", "object": ""}]
    head = {"schema": "ksolver.snapshot/1", "cluster_name": "", "collected_at": "", "server_version": "v1.36.0"}
    objects = {"nodes": [node("a")], "pods": [pod("p")]}
    (tmp_path / "s.json").write_text(json.dumps(head | {"gaps": gaps, "objects": objects}))
    done = conform(tmp_path / "s.json", "--scheduler", f"replay:{record}")
    assert "gap: persistentvolumes: forbidden" in done.stderr
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize("flags", [(), (ANY,), ("--json",), ("--json", ANY)])
def test_a_reader_that_leaves_early_does_not_open_the_gate_nor_trip_it(flags: tuple[str, ...], tmp_path: Path) -> None:
    nodes = [node(f"n{number:04d}") for number in range(1500)]
    says = {n["metadata"]["name"]: Said.FAIL for n in nodes}
    source, record = written(tmp_path, nodes, [pod("p")], FamilyScheduler(says=says))
    command = ["conform", str(source), "--scheduler", f"replay:{record}", *flags]
    run = subprocess.Popen(
        [sys.executable, "-c", "from ksolver_cli.cli.main import main; main()", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    assert run.stderr is not None
    run.stdout.readline()
    run.stdout.close()
    said = run.stderr.read()
    trips = ANY in flags
    assert (run.wait(), "1500 strict false positives" in said) == (int(trips), trips), said


def test_junit_tells_strict_failures_excused_ones_and_the_gate(files: tuple[Path, Path], tmp_path: Path) -> None:
    source, record = files
    junit = tmp_path / "junit.xml"
    conform(source, "--scheduler", f"replay:{record}", "--junit", junit)
    suite = ElementTree.fromstring(junit.read_text()).find("testsuite")
    assert suite is not None
    cases = {(c.get("classname"), c.get("name")): [part.tag for part in c] for c in suite}
    assert cases == {
        ("conform.strict", "shop/p"): ["failure"],
        ("conform.expected-divergence", "shop/q"): ["skipped"],
        ("conform.gate", "strict-gate"): ["failure"],
    }
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "2", "1")


@pytest.mark.parametrize(("flags", "tag"), [((), "skipped"), ((ANY,), "failure")])
def test_junit_of_a_skip(flags: tuple[str, ...], tag: str, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    conform("--junit", junit, *flags)
    (case,) = ElementTree.fromstring(junit.read_text()).iter("testcase")
    assert [part.tag for part in case] == [tag]


def test_text_puts_false_positives_first_and_claims_no_coverage(files: tuple[Path, Path]) -> None:
    source, record = files
    text = conform(source, "--scheduler", f"replay:{record}", "--max-nodes", "1").stdout
    assert "Nodes: 1 evaluated of 3, 1 cordoned and skipped" in text
    full = conform(source, "--scheduler", f"replay:{record}").stdout
    assert full.index("false positive: shop/p on a") < full.index("divergence expected") or "Strict pairs" in full
    assert "scheduler: because" in full
