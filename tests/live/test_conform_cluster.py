"""`ksolver conform` on the pods and nodes of a running cluster, which it must only ever read."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.live.build import ensure, plane_targets
from tests.live.oracle import Oracle
from tests.live.plane import Plane
from tests.live.simulator_server import simulator
from tests.live.test_snapshot import _rules, ksolver

GATED = ("--pods", "all", "--sample", "0", "--fail-on-any-strict", "--min-pairs", "40")
_SIZE = {"cpu": "4", "memory": "8Gi", "pods": "110"}
_ZONE = "topology.kubernetes.io/zone"


def _node(name: str, zone: str, **spec: Any) -> dict[str, Any]:
    labels = {"kubernetes.io/hostname": name, _ZONE: zone, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": _SIZE, "capacity": _SIZE},
    }


def _deployment(name: str, replicas: int, cpu: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "c:1", "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": template},
    }


@pytest.fixture
def busy(clean_plane: Plane) -> Plane:
    """Six nodes, one of them cordoned and one tainted; pods that run, and some that fit nowhere."""
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    clean_plane.add_nodes(
        *(_node(f"n{number}", f"z{number % 2}") for number in range(4)),
        _node("tainted", "z0", taints=[taint]),
        _node("closed", "z1", unschedulable=True),
    )
    clean_plane.apply(
        _deployment("web", 5, "500m"),
        _deployment("big", 1, "9"),
        _deployment("zonal", 2, "100m", nodeSelector={_ZONE: "z1"}),
        _deployment("tolerant", 1, "100m", tolerations=[{"key": "gpu", "operator": "Exists"}]),
        _deployment("lost", 1, "100m", nodeSelector={_ZONE: "z9"}),
    )
    clean_plane.wait(
        "eight pods run and two wait",
        lambda: (
            sorted(p["status"].get("phase") for p in clean_plane.items("api/v1/pods"))
            == ["Pending"] * 2 + ["Running"] * 8
        ),
    )
    return clean_plane


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """A second control plane, to be thrown away."""
    binaries, kwok = (ensure(target) for target in plane_targets())
    running = Plane(tmp_path_factory.mktemp("scratch"), binaries, kwok)
    running.start()
    yield running
    running.stop()


def _versions(plane: Plane) -> Mapping[str, str]:
    """What a write would change: every node's, namespace's and pod's specification, by uid."""
    found = {}
    for kind in ("nodes", "namespaces", "pods"):
        for raw in plane.items(f"api/v1/{kind}"):
            found[raw["metadata"]["uid"]] = json.dumps([raw["metadata"].get("labels"), raw.get("spec")], sort_keys=True)
    return found


def _fifty_pairs_agree(report: Mapping[str, Any]) -> None:
    assert report["strict"] == {"agree": 50, "false_positive": 0, "false_negative": 0, "no_answer": 0}, report
    assert (report["strict_gate_status"], report["pairs_total"], report["pods_evaluated"]) == ("pass", 50, 10)
    assert (report["nodes_evaluated"], report["nodes_total"], report["cordoned_nodes_skipped"]) == (5, 6, 1)


def test_pods_and_nodes_of_a_running_cluster_agree_with_another_ones_scheduler(
    busy: Plane, scratch: Plane, tmp_path: Path
) -> None:
    before = _versions(busy)
    busy.grant("reader", _rules(busy))
    record, junit = tmp_path / "v.jsonl", tmp_path / "j.xml"
    read = ("conform", "--kubeconfig", busy.kubeconfig("reader"), "--cluster", "live", *GATED, "--json")
    source = ("--scheduler", "cluster", "--scheduler-kubeconfig", scratch.kubeconfig())
    done = ksolver(*read, *source, "--record", record, "--junit", junit)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    _fifty_pairs_agree(report)
    assert report["scheduler"] == {"source": "cluster", "version": "v1.36.3", "judged_as": "1.36"}
    assert junit.read_text().count("<testcase") == 11
    assert _versions(busy) == before
    assert scratch.items("api/v1/nodes") == scratch.items("api/v1/pods") == []
    again = ksolver(*read, "--scheduler", f"replay:{record}")
    assert (again.returncode, json.loads(again.stdout)["strict"]) == (0, report["strict"])


def test_pods_and_nodes_of_a_running_cluster_agree_over_the_simulators_protocol(busy: Plane, oracle: Oracle) -> None:
    before = _versions(busy)
    with simulator(oracle) as (url, state):
        done = ksolver(
            *("conform", "--kubeconfig", busy.kubeconfig(), *GATED, "--json", "--dedup-nodes"),
            env={"KSOLVER_SCHEDULER_SIMULATOR_URL": url},
        )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    _fifty_pairs_agree(report)
    assert report["simulator_probes"] == len(state.imports) < 50
    assert _versions(busy) == before


def test_the_cluster_under_analysis_is_never_asked_for_verdicts(busy: Plane) -> None:
    before = _versions(busy)
    config = busy.kubeconfig()
    done = ksolver("conform", "--kubeconfig", config, "--scheduler", "cluster", "--scheduler-kubeconfig", config)
    assert (done.returncode, done.stdout) == (3, "")
    assert "nodes of its own" in done.stderr
    assert _versions(busy) == before


def test_pods_that_wait_in_a_cluster_without_nodes_keep_it_from_being_asked(clean_plane: Plane) -> None:
    clean_plane.apply(_deployment("web", 2, "1"))
    clean_plane.wait("two pods wait", lambda: len(clean_plane.items("api/v1/pods")) == 2)
    before = _versions(clean_plane)
    config = clean_plane.kubeconfig()
    done = ksolver("conform", "--kubeconfig", config, "--scheduler", "cluster", "--scheduler-kubeconfig", config)
    assert (done.returncode, done.stdout) == (3, "")
    assert "pods of its own (web-" in done.stderr
    assert _versions(clean_plane) == before


def test_few_rights_are_said_and_do_not_pass_a_gate(busy: Plane, scratch: Plane) -> None:
    source = ("--scheduler", "cluster", "--scheduler-kubeconfig", scratch.kubeconfig())
    none = ksolver("conform", "--kubeconfig", busy.kubeconfig("nobody"), *source, *GATED)
    assert (none.returncode, none.stdout) == (3, "")
    assert "neither nodes nor pods" in none.stderr
    busy.grant("limited", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}])
    half = ksolver("conform", "--kubeconfig", busy.kubeconfig("limited"), *source, *GATED)
    assert half.returncode == 1
    assert "strict-gate: empty" in half.stdout
    assert "gap: nodes: forbidden" in half.stderr


def test_one_namespace_is_compared_alone(busy: Plane, scratch: Plane) -> None:
    source = ("--scheduler", "cluster", "--scheduler-kubeconfig", scratch.kubeconfig())
    arguments = ("--pods", "all", "--json", "-n", "kube-system", "--fail-on-any-strict")
    done = ksolver("conform", "--kubeconfig", busy.kubeconfig(), *source, *arguments)
    assert (done.returncode, json.loads(done.stdout)["strict_gate_status"]) == (1, "empty")
