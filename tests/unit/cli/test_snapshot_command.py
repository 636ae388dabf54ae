"""`ksolver snapshot` as a person types it: refusals before the work, files that are not overwritten, clean streams."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
from typer.testing import CliRunner

from ksolver_cli.cli import doctor, rbac, snapshot
from ksolver_cli.cli.cluster import taking
from ksolver_cli.cli.common.guard import guarded
from ksolver_cli.snapshot.read import read_snapshot
from tests.paths import ROOT
from tests.unit.collect.apiserver import ApiServer, named, on, pods, status
from tests.unit.collect.sockets import serve

app = typer.Typer()
app.command("snapshot")(guarded(snapshot.snapshot))
app.command("rbac")(guarded(rbac.rbac))
app.command("doctor")(guarded(doctor.doctor))


def _run(*arguments: str | Path) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def _kubeconfig(folder: Path, server: str) -> Path:
    config = {
        "current-context": "x",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "contexts": [{"name": "x", "context": {"cluster": "c"}}],
    }
    (folder / "kubeconfig").write_text(json.dumps(config))
    return folder / "kubeconfig"


@pytest.fixture
def api() -> ApiServer:
    team = {"kubernetes.io/hostname": "n1", "team": "payments"}
    return ApiServer({"nodes": [{"metadata": {"name": "n1", "labels": team}}], "pods": pods(3)})


@pytest.mark.parametrize("name", ["cluster.json", "cluster.json.gz", "cluster.json.zst"])
def test_a_snapshot_is_written_checked_and_read_again(name: str, api: ApiServer, tmp_path: Path) -> None:
    with serve(api) as server:
        done = _run("snapshot", "--out", tmp_path / name, "--kubeconfig", _kubeconfig(tmp_path, server))
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert "1 nodes, 3 pods" in done.stderr
    found = read_snapshot([tmp_path / name])
    assert (found.count("pods"), found.cluster_name) == (3, "c")
    assert found.objects["nodes"][0]["metadata"]["labels"] == {"kubernetes.io/hostname": "n1"}
    checked = _run("snapshot", "--verify", tmp_path / name)
    assert checked.exit_code == 0
    assert "valid" in checked.stdout


def test_a_file_that_is_there_is_refused_before_anything_is_asked(api: ApiServer, tmp_path: Path) -> None:
    out = tmp_path / "cluster.json"
    out.write_text("precious")
    with serve(api) as server:
        config = _kubeconfig(tmp_path, server)
        refused = _run("snapshot", "--out", out, "--kubeconfig", config)
        assert (refused.exit_code, api.requests, out.read_text()) == (2, [], "precious")
        assert "--force" in refused.stderr
        assert _run("snapshot", "--out", out, "--kubeconfig", config, "--force").exit_code == 0
    assert read_snapshot([out]).count("pods") == 3


@pytest.mark.parametrize("out", ["gone/cluster.json", "."])
def test_places_that_cannot_be_written_to_are_refused(out: str, tmp_path: Path) -> None:
    done = _run("snapshot", "--out", tmp_path / out, "--kubeconfig", _kubeconfig(tmp_path, "http://127.0.0.1:9"))
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 2


def test_a_stream_is_json_and_nothing_else(api: ApiServer, tmp_path: Path) -> None:
    with serve(api) as server:
        done = _run("snapshot", "--out", "-", "--kubeconfig", _kubeconfig(tmp_path, server), "--keep-label", "team")
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads((ROOT / "docs/reference/snapshot.schema.json").read_text()))
    assert document["objects"]["nodes"][0]["metadata"]["labels"]["team"] == "payments"
    assert len(document["objects"]["pods"]) == 3


def test_anonymous_files_keep_their_map_apart(api: ApiServer, tmp_path: Path) -> None:
    out = tmp_path / "cluster.json"
    with serve(api) as server:
        config = _kubeconfig(tmp_path, server)
        refused = _run("snapshot", "--out", "-", "--anonymize", "--kubeconfig", config)
        assert (refused.exit_code, "--names" in refused.stderr) == (2, True)
        done = _run("snapshot", "--out", out, "--anonymize", "--kubeconfig", config)
    assert done.exit_code == 0, done.output
    assert "p000000" not in out.read_text()
    names = tmp_path / "cluster.json.names.json"
    assert os.stat(names).st_mode & 0o777 == 0o600
    other = json.loads(names.read_text())["p000000"]
    assert other in [pod["metadata"]["name"] for pod in read_snapshot([out]).objects["pods"]]


def test_flags_that_contradict_each_other(tmp_path: Path) -> None:
    done = _run("snapshot", "--out", tmp_path / "x", "-A", "-n", "a")
    assert (done.exit_code, "contradict" in done.stderr) == (2, True)
    assert _run("snapshot").exit_code == 2
    assert _run("snapshot", "--out", "x", "--usage-window", "5 parsecs").exit_code == 2
    assert _run("snapshot", "--out", "x", "--prometheus-url", "http://a", "--prometheus-label", "x").exit_code == 2
    assert _run("rbac", "--service-account", "x").exit_code == 2


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"schema": "ksolver.snapshot/1"}, "is missing"),
        (
            {
                "objects": {
                    "pods": [
                        {"metadata": {"name": "p", "namespace": "d"}},
                        {"metadata": {"name": "p", "namespace": "d"}},
                    ]
                }
            },
            "there twice",
        ),
        ({"objects": {"pods": [{"metadata": {"name": "p"}}]}}, "name and namespace"),
        (
            {
                "objects": {
                    "pods": [{"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{"env": []}]}}]
                }
            },
            "holds spec.containers.env",
        ),
        ({"objects": {"secrets": []}}, "no kind of a snapshot"),
        ({"objects": []}, "objects: is not an object"),
        ({"gaps": [{}]}, "needs kind, reason and object"),
        ({"more": 1}, "more: is no field"),
    ],
)
def test_verify_says_what_is_wrong(document: dict[str, Any], word: str, tmp_path: Path) -> None:
    whole = {
        "schema": "ksolver.snapshot/1",
        "cluster_name": "",
        "server_version": "",
        "collected_at": "",
        "gaps": [],
        "extras": {},
        "objects": {},
    }
    path = tmp_path / "x.json"
    path.write_text(json.dumps(document if "schema" in document else whole | document))
    done = _run("snapshot", "--verify", path)
    assert done.exit_code == 4
    assert word in done.stderr
    assert str(path) in done.stderr


def test_verify_names_references_that_lead_nowhere(tmp_path: Path) -> None:
    pod = {
        "metadata": {
            "name": "p",
            "namespace": "d",
            "ownerReferences": [{"kind": "ReplicaSet", "name": "gone", "controller": True}],
        },
        "spec": {"nodeName": "gone", "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]},
    }
    objects = {"pods": [pod], "nodes": [], "replicasets": [], "persistentvolumeclaims": []}
    whole = {
        "schema": "ksolver.snapshot/1",
        "cluster_name": "",
        "server_version": "",
        "collected_at": "",
        "gaps": [],
        "extras": {},
        "objects": objects,
    }
    (tmp_path / "x.json").write_text(json.dumps(whole))
    done = _run("snapshot", "--verify", tmp_path / "x.json")
    assert done.exit_code == 0
    assert "3 loose ends" in done.stdout
    assert all(word in done.stderr for word in ("node gone", "claim gone", "ReplicaSet gone"))


def test_verify_refuses_what_is_no_snapshot(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps({"kind": "List", "items": named("nodes", "n")}))
    assert _run("snapshot", "--verify", tmp_path / "list.json").exit_code == 4


def test_doctor_exits_by_what_it_found(api: ApiServer, tmp_path: Path) -> None:
    with serve(api) as server:
        config = _kubeconfig(tmp_path, server)
        good = _run("doctor", "--json", "--kubeconfig", config)
        assert good.exit_code == 1, "the socket stand-in answers no reviews: rights cannot be asked for"
        api.faults = [on("/version", status(401))]
        assert _run("doctor", "--kubeconfig", config).exit_code == 3
    assert _run("doctor", "-o", "xml").exit_code == 2


def test_without_the_snapshot_there_is_no_map_of_names(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "cluster.json")

    monkeypatch.setattr(taking, "write_file", full)
    with serve(api) as server:
        config = _kubeconfig(tmp_path, server)
        done = _run("snapshot", "--out", tmp_path / "x.json", "--anonymize", "--kubeconfig", config)
    assert (done.exit_code, os.listdir(tmp_path)) == (2, ["kubeconfig"])
    assert "No space left" in done.stderr


@pytest.mark.parametrize("names", ["x.json", "-"])
def test_the_map_of_names_has_a_file_of_its_own(names: str, api: ApiServer, tmp_path: Path) -> None:
    with serve(api) as server, contextlib.chdir(tmp_path):
        config = _kubeconfig(tmp_path, server)
        done = _run("snapshot", "--out", "x.json", "--anonymize", "--names", names, "--force", "--kubeconfig", config)
    assert (done.exit_code, os.listdir(tmp_path), api.requests) == (2, ["kubeconfig"], [])
    assert f"--names {names}" in done.stderr


@pytest.mark.parametrize("namespace", ["", "../x", "a b", "Shop", "-", "x" * 64])
def test_what_no_namespace_can_be_called_is_refused(namespace: str, api: ApiServer, tmp_path: Path) -> None:
    with serve(api) as server:
        config = _kubeconfig(tmp_path, server)
        done = _run("snapshot", "--out", "-", f"--namespace={namespace}", "--kubeconfig", config)
    assert (done.exit_code, done.stdout, api.requests) == (2, "", [])
    assert len(done.stderr.splitlines()) == 2


def test_what_servers_say_does_not_get_into_an_anonymous_file(
    api: ApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ksolver_cli.collect.prometheus._FIRST_PAUSE_SECONDS", 0.001)
    canary = "canary.example"
    html = (200, {"Content-Type": f"text/{canary}"}, b"<html>")
    api.groups = {**api.groups, "metrics.k8s.io": "v1beta1"}
    api.faults = [
        on("/api/v1/services", status(400, f"webhook {canary} says no")),
        on("/api/v1/persistentvolumes", html),
        on("/apis/metrics.k8s.io/v1beta1", status(404, f"no {canary}")),
    ]
    with serve(api) as server:
        arguments = ("--anonymize", "--names", tmp_path / "names", "--kubeconfig", _kubeconfig(tmp_path, server))
        url = f"http://127.0.0.1:9/{canary}"
        done = _run("snapshot", "--out", "-", *arguments, "--prometheus-url", url)
    assert done.exit_code == 0, done.stderr
    gaps = {gap["kind"]: gap["reason"] for gap in json.loads(done.stdout)["gaps"]}
    assert {"services", "persistentvolumes", "podmetrics", "usage"} <= set(gaps)
    assert all(gaps.values())
    assert canary not in done.stdout
    assert canary in done.stderr
