"""`ksolver plan next`: what is done, what is left, and the commands of the next wave."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ksolver_cli.cli.main import app

ZONE = {"topology.kubernetes.io/zone": "us-east-1a", "topology.kubernetes.io/region": "us-east-1"}


def node(name: str, *, cordoned: bool = False) -> dict[str, Any]:
    labels = ZONE | {"kubernetes.io/hostname": name, "node.kubernetes.io/instance-type": "m5.xlarge"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": cordoned, "providerID": f"aws:///us-east-1a/i-{name}"},
        "status": {"allocatable": {"cpu": "4", "memory": "16Gi", "pods": "58"}},
    }


def pod(name: str, on: str, cpu: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{name}-0", "namespace": "default", "labels": {"app": name}, "ownerReferences": [owner]},
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running"},
    }


def run(folder: Path, planned: object, items: list[dict[str, Any]], *flags: str) -> Any:
    (folder / "plan.json").write_text(json.dumps(planned))
    (folder / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    files = [str(folder / "plan.json"), str(folder / "cluster.json")]
    return CliRunner().invoke(app, ["plan", "next", *files, "--complete", "--effort", "0.05", *flags])


PLAN = {"plan": {"waves": [{"nodes": ["n1"], "evictions": []}, {"nodes": ["n2"], "evictions": []}]}}


def test_goes_on_with_what_is_left(tmp_path: Path) -> None:
    """n1 is gone, its pod is on n3; n2 is cordoned and its turn has come."""
    items = [node("n2", cordoned=True), node("n3"), pod("a", "n3", "1"), pod("b", "n2", "1"), pod("c", "n3", "1")]
    result = run(tmp_path, PLAN, items)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "# nodes of the plan that are gone: 1, left: 1"
    assert "kubectl cordon n2" in lines
    assert any(line.startswith("kubectl drain n2 --pod-selector=app=b") for line in lines)
    assert "kubectl delete node n2" in lines


def test_gives_back_a_node_whose_pods_find_no_place_any_more(tmp_path: Path) -> None:
    items = [node("n2", cordoned=True), node("n3"), pod("a", "n3", "3"), pod("b", "n2", "3")]
    result = run(tmp_path, PLAN, items, "--json")
    facts = json.loads(result.stdout)
    assert facts["given_back"] == ["n2"]
    assert facts["plan"]["waves"] == []
    assert [c["argv"] for c in facts["commands"]] == [["kubectl", "uncordon", "n2"]]


def test_says_when_nothing_is_left(tmp_path: Path) -> None:
    result = run(tmp_path, PLAN, [node("n3"), pod("a", "n3", "3")])
    assert result.exit_code == 0
    assert "# nothing is left to remove" in result.stdout


@pytest.mark.parametrize("broken", [{}, {"plan": 3}, {"waves": [{"nodes": "n1"}]}, []])
def test_refuses_what_is_no_plan(tmp_path: Path, broken: object) -> None:
    result = run(tmp_path, broken, [node("n3")])
    assert result.exit_code == 2
    assert "holds no plan" in result.stderr
    assert result.stdout == ""
