"""A snapshot of a real control plane: whole for who may read, with named gaps for who may not."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import yaml

from ksolver_cli.snapshot.kinds import KINDS
from ksolver_cli.snapshot.read import read_snapshot
from tests.live.plane import Plane
from tests.live.process import ServerError
from tests.paths import ROOT


def ksolver(*args: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a person would."""
    command = [sys.executable, "-c", "from ksolver_cli.cli.main import main; main()", *map(str, args)]
    base = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "COLUMNS": "60", **(env or {})}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=180, env=base)


def _node(name: str, **more: object) -> dict[str, object]:
    size = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "node.kubernetes.io/instance-type": "m5.xlarge"},
        },
        "status": {"allocatable": size, "capacity": size},
        **more,
    }


def _deployment(namespace: str, name: str, replicas: int) -> dict[str, object]:
    container = {
        "name": "app",
        "image": "registry.example/app:1",
        "env": [{"name": "PASSWORD", "value": "s3cr3t-canary"}],
        "args": ["--token", "s3cr3t-canary"],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": {"note": "s3cr3t-canary"}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}},
        },
    }


@pytest.fixture
def busy(clean_plane: Plane) -> Plane:
    """Two namespaces with running pods on three nodes, one of them cordoned."""
    clean_plane.add_nodes(_node("a"), _node("b"), _node("c", spec={"unschedulable": True}))
    for namespace, replicas in (("snap-one", 3), ("snap-two", 2)):
        clean_plane.namespace(namespace)
        clean_plane.apply(_deployment(namespace, "web", replicas))
    clean_plane.wait(
        "five pods run",
        lambda: sum(p["status"].get("phase") == "Running" for p in clean_plane.items("api/v1/pods")) == 5,
    )
    return clean_plane


def _rules(plane: Plane, *extra: str) -> Sequence[Mapping[str, object]]:
    printed = ksolver("rbac", *extra)
    assert printed.returncode == 0, printed.stderr
    roles = [entry for entry in yaml.safe_load_all(printed.stdout) if entry["kind"] == "ClusterRole"]
    return [rule for role in roles for rule in role["rules"]]


def test_an_administrator_gets_everything(busy: Plane, tmp_path: Path) -> None:
    out = tmp_path / "cluster.json.zst"
    done = ksolver("snapshot", "--out", out, "--kubeconfig", busy.kubeconfig())
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    snapshot = read_snapshot([out])
    assert (snapshot.count("nodes"), snapshot.count("pods"), snapshot.count("deployments")) == (3, 5, 2)
    assert snapshot.server_version == "v1.36.3"
    assert snapshot.cluster_name == "live"
    assert snapshot.gaps == ()
    served = {
        k.plural for k in KINDS if k.group in {"", "apps", "batch", "policy", "storage.k8s.io", "resource.k8s.io"}
    }
    assert served - set(snapshot.objects) <= {"devicetaintrules"}
    checked = ksolver("snapshot", "--verify", out)
    assert checked.returncode == 0, checked.stderr
    assert "0 loose ends" in checked.stdout


def test_no_canary_gets_into_the_file(busy: Plane, tmp_path: Path) -> None:
    assert "s3cr3t-canary" in busy.admin.get("/api/v1/pods").text
    done = ksolver("snapshot", "--out", "-", "--kubeconfig", busy.kubeconfig())
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert len(document["objects"]["pods"]) == 5
    assert "s3cr3t-canary" not in done.stdout
    assert "managedFields" not in done.stdout


def test_who_has_what_rbac_prints_needs_no_more(busy: Plane, tmp_path: Path) -> None:
    busy.grant("reader", _rules(busy))
    out = tmp_path / "cluster.json"
    done = ksolver("snapshot", "--out", out, "--kubeconfig", busy.kubeconfig("reader"))
    assert done.returncode == 0, done.stderr
    assert read_snapshot([out]).gaps == ()
    admin = json.loads(ksolver("snapshot", "--out", "-", "--kubeconfig", busy.kubeconfig()).stdout)["objects"]
    reader = json.loads(out.read_text())["objects"]
    assert {kind: len(items) for kind, items in reader.items()} == {kind: len(items) for kind, items in admin.items()}


def test_few_rights_give_gaps_by_name(busy: Plane, tmp_path: Path) -> None:
    busy.grant("limited", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}])
    out = tmp_path / "cluster.json"
    done = ksolver("snapshot", "--out", out, "--kubeconfig", busy.kubeconfig("limited"))
    assert done.returncode == 0, done.stderr
    snapshot = read_snapshot([out])
    assert snapshot.count("pods") == 5
    assert "nodes" not in snapshot.objects
    assert {gap.kind: gap.reason for gap in snapshot.gaps}["nodes"] == "forbidden"
    assert "gap: nodes: forbidden" in done.stderr


def test_no_rights_are_an_error_with_exit_3(busy: Plane, tmp_path: Path) -> None:
    done = ksolver("snapshot", "--out", tmp_path / "x.json", "--kubeconfig", busy.kubeconfig("nobody"))
    assert done.returncode == 3
    assert "neither nodes nor pods" in done.stderr
    assert "ksolver rbac" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_rights_in_one_namespace_read_that_namespace(busy: Plane, tmp_path: Path) -> None:
    (role,) = [e for e in yaml.safe_load_all(ksolver("rbac", "-n", "snap-one").stdout) if e["kind"] == "Role"]
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "snap-nobody", "namespace": "snap-one"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role["metadata"]["name"]},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "nobody"}],
    }
    busy.apply(role, binding)
    out = tmp_path / "one.json"
    done = ksolver("snapshot", "-n", "snap-one", "--out", out, "--kubeconfig", busy.kubeconfig("nobody"))
    busy.kubectl("delete", "rolebinding", "-n", "snap-one", "snap-nobody")
    assert done.returncode == 0, done.stderr
    snapshot = read_snapshot([out])
    assert snapshot.count("pods") == 3
    reasons = {gap.kind: (gap.reason, gap.object) for gap in snapshot.gaps}
    assert reasons["pods"] == ("only of some namespaces", "snap-one")
    assert reasons["nodes"] == ("forbidden", "")


def test_impersonation_is_what_kubectl_calls_it(busy: Plane) -> None:
    done = ksolver("snapshot", "--out", "-", "--kubeconfig", busy.kubeconfig(), "--as", "nobody")
    assert done.returncode == 3
    assert "forbidden" in done.stderr


def test_analyze_without_a_file_reads_the_cluster(busy: Plane) -> None:
    done = ksolver("analyze", "--json", "--kubeconfig", busy.kubeconfig(), "--time-limit", "20")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == "ksolver.report/1"


def test_a_wrong_token_is_said_in_two_lines(busy: Plane, tmp_path: Path) -> None:
    config = json.loads(busy.kubeconfig().read_text())
    config["users"][0]["user"]["token"] = "expired-canary"
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    done = ksolver("snapshot", "--out", "-", "--kubeconfig", tmp_path / "kubeconfig")
    assert done.returncode == 3
    assert "credentials refused" in done.stderr
    assert "expired-canary" not in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_the_manifests_pass_the_servers_own_validation(plane: Plane) -> None:
    folder = ROOT / "deploy"
    plane.kubectl("apply", "-f", str(folder / "base.yaml"))
    plane.wait("the namespace can take pods", lambda: plane.can_take_pods("ksolver"))
    for name in ("base.yaml", "rbac.yaml", "snapshot-job.yaml", "snapshot-cronjob.yaml"):
        said = plane.kubectl(
            *("apply", "--dry-run=server", "--validate=strict", "--warnings-as-errors", "-f", str(folder / name))
        )
        assert "server dry run" in said


def test_the_account_of_the_manifests_can_take_a_snapshot_and_nothing_else(busy: Plane, tmp_path: Path) -> None:
    for name in ("base.yaml", "rbac.yaml"):
        busy.kubectl("apply", "-f", str(ROOT / "deploy" / name))
    token = busy.kubectl("create", "token", "ksolver", "-n", "ksolver").strip()
    (tmp_path / "token").write_text(token)
    config = json.loads(busy.kubeconfig().read_text())
    config["users"][0]["user"] = {"tokenFile": "token"}
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    done = ksolver("snapshot", "--out", tmp_path / "x.json", "--kubeconfig", tmp_path / "kubeconfig")
    assert done.returncode == 0, done.stderr
    assert read_snapshot([tmp_path / "x.json"]).gaps == ()
    account = "--as=system:serviceaccount:ksolver:ksolver"
    for verb, resource in (("get", "secrets"), ("list", "configmaps"), ("create", "pods"), ("delete", "nodes")):
        with pytest.raises(ServerError):
            busy.kubectl("auth", "can-i", verb, resource, account, "-A")


def test_doctor_says_what_is_missing_and_how_to_get_it(busy: Plane) -> None:
    good = ksolver("doctor", "--json", "--kubeconfig", busy.kubeconfig())
    assert good.returncode == 0, good.stdout
    states = {check["name"]: check["state"] for check in json.loads(good.stdout)["checks"]}
    assert states["rights"] == states["version"] == states["reach"] == "ok"
    busy.grant("limited", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}])
    poor = ksolver("doctor", "--kubeconfig", busy.kubeconfig("limited"))
    assert poor.returncode == 1
    assert "nodes" in poor.stdout
    assert "ksolver rbac | kubectl apply -f -" in poor.stdout
    away = ksolver("doctor", "--kubeconfig", busy.kubeconfig(), "--prometheus-url", "http://127.0.0.1:9")
    assert away.returncode == 1
    assert "127.0.0.1:9" in away.stdout


def test_doctor_of_an_unreachable_cluster_exits_3(busy: Plane, tmp_path: Path) -> None:
    config = json.loads(busy.kubeconfig().read_text())
    config["clusters"][0]["cluster"] = {"server": "https://127.0.0.1:9"}
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    done = ksolver("doctor", "--kubeconfig", tmp_path / "kubeconfig")
    assert done.returncode == 3
    assert "unreachable" in done.stdout


def test_a_credential_plugin_and_several_files_lead_to_the_cluster(busy: Plane, tmp_path: Path) -> None:
    busy.grant("reader", _rules(busy))
    plugin = tmp_path / "plugin"
    answer = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "reader-token"},
    }
    plugin.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    plugin.chmod(0o755)
    config = json.loads(busy.kubeconfig().read_text())
    execute = {"apiVersion": answer["apiVersion"], "command": "./plugin", "interactiveMode": "Never"}
    (tmp_path / "users").write_text(json.dumps({"users": [{"name": "admin", "user": {"exec": execute}}]}))
    (tmp_path / "rest").write_text(json.dumps(config))
    environment = {"KUBECONFIG": f"{tmp_path / 'users'}:{tmp_path / 'gone'}:{tmp_path / 'rest'}"}
    done = ksolver("snapshot", "--out", "-", env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["gaps"] == []
    busy.grant("reader", [])
    refused = ksolver("snapshot", "--out", "-", env=environment)
    assert refused.returncode == 3, "the plugin's user must be who is asked about"
