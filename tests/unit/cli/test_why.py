"""`ksolver why`: which pod, in what, judged how."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app

PLACE = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}}
TAINT = {"key": "gpu", "effect": "NoSchedule"}


def node(name: str, **spec: object) -> dict:
    labels = {"kubernetes.io/hostname": name}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": PLACE,
    }


def pod(name: str, cpu: str = "1", status: dict | None = None, **spec: object) -> dict:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status or {}}


RUNNING, PENDING = {"phase": "Running"}, {"phase": "Pending"}
CLUSTER = [
    node("n1"),
    node("n2", taints=[TAINT]),
    pod("web", "1500m", RUNNING, nodeName="n1"),
    pod("asks", "1", PENDING, nodeName="n2"),
    pod("starting", "0", {**PENDING, "startTime": "2026-01-01T00:00:00Z"}, nodeName="n2"),
    pod("claims", "0", PENDING, volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]),
    pod("gated", "0", PENDING, schedulingGates=[{"name": "example.com/wait"}], schedulerName="other"),
]


@pytest.fixture
def snapshot(tmp_path: Path) -> str:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": CLUSTER}))
    return str(path)


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(app, ["why", *arguments], input=stdin)


def verdicts(*arguments: str, stdin: str | None = None) -> dict[str, list[str]]:
    """Node to the plugins that object, with a mark on those that do not know."""
    result = run(*arguments, "-o", "json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return {
        found["node"]: [r["plugin"] for r in found["rejections"]] + [u["plugin"] + "?" for u in found["unknown"]]
        for found in json.loads(result.stdout)["nodes"]
    }


def test_a_bound_pod_is_judged_as_if_just_evicted(snapshot: str) -> None:
    assert verdicts("default/web", snapshot) == {"n1": [], "n2": ["TaintToleration", "NodeResourcesFit"]}


def test_a_pending_pod_keeps_the_node_it_names(snapshot: str) -> None:
    assert verdicts("default/asks", snapshot) == {"n1": ["NodeName", "NodeResourcesFit"], "n2": ["TaintToleration"]}


def test_a_pod_that_a_kubelet_has_taken_up_is_bound_though_pending(snapshot: str) -> None:
    assert "NodeName" not in verdicts("default/starting", snapshot)["n1"]


def test_a_missing_kind_is_unknown_until_the_input_is_said_to_be_complete(snapshot: str) -> None:
    families = ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"]
    blind, whole = verdicts("claims", snapshot), verdicts("claims", snapshot, "--complete")
    assert sorted(blind["n1"]) == sorted(f"{family}?" for family in families)
    assert sorted(whole["n1"]) == sorted(families)
    record = json.loads(run("claims", snapshot, "--json").stdout)
    assert [found["verdict"] for found in record["nodes"]] == ["unknown", "fail"]


def test_a_namespace_may_be_given_beside_the_name(snapshot: str) -> None:
    assert verdicts("web", snapshot, "-n", "default") == verdicts("default/web", snapshot)
    assert run("web", snapshot, "-n", "other").exit_code == 2


def test_a_list_may_come_from_stdin() -> None:
    text = json.dumps({"kind": "List", "apiVersion": "v1", "items": CLUSTER})
    assert verdicts("web", "-", stdin=text)["n1"] == []


def test_a_manifest_is_completed_as_the_api_server_would_and_keeps_its_node(snapshot: str, tmp_path: Path) -> None:
    template = {"spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}}}], "nodeName": "n2"}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "new"},
        "spec": {"template": template},
    }
    path = tmp_path / "deployment.yaml"
    path.write_text(json.dumps(deployment))
    assert verdicts("-f", str(path), snapshot) == {"n1": ["NodeName", "NodeResourcesFit"], "n2": ["TaintToleration"]}


WORKLOADS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_the_manifest_of_any_workload_is_its_pod_template(kind: str, snapshot: str, tmp_path: Path) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    spec: dict[str, object] = {"template": {"spec": {"containers": [container], "nodeName": "n2"}}}
    if kind == "CronJob":
        spec = {"schedule": "@daily", "jobTemplate": {"spec": spec}}
    raw = {"apiVersion": WORKLOADS[kind], "kind": kind, "metadata": {"name": "new", "namespace": "shop"}, "spec": spec}
    path = tmp_path / "workload.yaml"
    path.write_text(json.dumps(raw))
    found = verdicts("-f", str(path), snapshot)
    assert found["n1"] == ["NodeName", "NodeResourcesFit"]


def test_json_names_the_first_objection_first_with_code_words_and_object(snapshot: str) -> None:
    record = json.loads(run("default/asks", snapshot, "--json", "--kubernetes-version", "1.35").stdout)
    assert (record["pod"], record["kubernetes_version"], record["evicted_from"]) == ("default/asks", "1.35", None)
    first = record["nodes"][0]["rejections"][0]
    assert first == {
        "plugin": "NodeName",
        "family": "NodeName",
        "stage": "Filter",
        "code": "UnschedulableAndUnresolvable",
        "reason": "node(s) didn't match the requested node name",
        "reasons": ["node(s) didn't match the requested node name"],
        "object": {"kind": "Pod", "name": "default/asks", "detail": "nodeName"},
    }


def test_text_fits_eighty_columns_and_says_what_is_special(snapshot: str) -> None:
    result = run("default/gated", snapshot)
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    assert "example.com/wait" in result.stdout
    assert "scheduler is other" in result.stdout
    assert re.search(r"1 pass, 1 fail", result.stdout)
    assert "Judged as if just evicted from n1" in run("default/web", snapshot).stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["default/nobody"], 2, "is not in the input"),
        (["default/web", "--kubernetes-version", "new"], 2, "not a version"),
        (["-f", "missing.yaml"], 4, "missing.yaml"),
        (["default/web", "--context", "other"], 2, "give one of them"),
        (["default/web", "-o", "xml"], 2, "formats are text, json"),
    ],
)
def test_errors_are_two_lines(snapshot: str, arguments: list[str], code: int, words: str) -> None:
    result = run(*arguments, snapshot)
    assert result.exit_code == code
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 2
    assert not result.stdout


def test_a_pod_that_cannot_be_read_is_said_to_be_so(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text(json.dumps({"nodes": [node("n1")], "pods": [pod("bad", "lots")]}))
    result = run("default/bad", str(path))
    assert result.exit_code == 4
    assert "cannot be read" in result.stderr


def test_nodes_without_any_pods_in_the_input_are_not_called_empty(tmp_path: Path) -> None:
    nodes, manifest = tmp_path / "nodes.json", tmp_path / "pod.json"
    nodes.write_text(json.dumps({"nodes": [node("n1")]}))
    manifest.write_text(json.dumps(pod("new")))
    assert verdicts("-f", str(manifest), str(nodes)) == {"n1": ["NodeResourcesFit?"]}
    assert verdicts("-f", str(manifest), str(nodes), "--complete") == {"n1": []}
