"""`vram-observe` against a live API server, with the role that its CronJob gets and no more."""

import json
import time
from pathlib import Path

import pytest
import typer
import yaml
from typer.testing import CliRunner, Result

from ksolver_cli.cli import vram_observe
from ksolver_cli.cli.common.guard import guarded
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from tests.live.plane import Plane
from tests.live.test_plane import node
from tests.paths import ROOT
from tests.unit.collect.prometheus_fake import fake_prometheus
from tests.unit.vram.gpu_pods import every_minute, exported
from tests.unit.vram.miniprom import MiniPrometheus

MANIFEST = [*yaml.safe_load_all((ROOT / "deploy" / "vram-observe-cronjob.yaml").read_text())]
RULES = next(found["rules"] for found in MANIFEST if found["kind"] == "ClusterRole")
USER = "reader"
TEMPLATE = {
    "restartPolicy": "Never",
    "containers": [
        {
            "name": "main",
            "image": "registry.example/train:1",
            "command": ["python", "train.py"],
            "args": ["--batch-size", "4"],
            "env": [
                {"name": "EMPTY", "value": ""},
                {"name": "KEY", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ],
            "resources": {"limits": {"nvidia.com/gpu": "1"}},
        }
    ],
}

app = typer.Typer()
app.command("vram-observe")(guarded(vram_observe.vram_observe))


@pytest.fixture
def namespace(clean_plane: Plane) -> str:
    gpu = node("node-a")
    for place in ("allocatable", "capacity"):
        gpu["status"][place]["nvidia.com/gpu"] = "4"  # type: ignore[index]
    gpu["metadata"]["labels"]["nvidia.com/gpu.memory"] = "81559"  # type: ignore[index]
    clean_plane.add_nodes(gpu)
    return clean_plane.namespace("vram")


def observe(plane: Plane, user: str, prometheus: MiniPrometheus, store: Path, *more: str) -> Result:
    def answer(asked: object) -> object:
        return prometheus.document(asked.query, float(asked.parameters["time"]))  # type: ignore[attr-defined]

    with fake_prometheus(answer) as fake:
        arguments = ["--store", str(store), "--prometheus-url", fake.url, "--kubeconfig", str(plane.kubeconfig(user))]
        return CliRunner().invoke(app, [*arguments, "--json", *more])


def test_the_cronjobs_own_role_is_enough(clean_plane: Plane, namespace: str, tmp_path: Path) -> None:
    clean_plane.grant(USER, RULES)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "solo", "namespace": namespace}, "spec": TEMPLATE}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": namespace},
        "spec": {"suspend": True, "template": {"spec": TEMPLATE}},
    }
    clean_plane.apply(pod, job)
    time.sleep(2)
    now = float(int(time.time()))
    earlier = now - 7_200
    prometheus = MiniPrometheus()
    # The name `solo` stood for a pod before this one; only what came after its creation is its own.
    solo = [*every_minute(70_000, until=earlier), (now, 9_000.0)]
    prometheus.add("DCGM_FI_DEV_FB_USED", exported("solo", "GPU-1", namespace, modelName="Odd"), solo)
    gone = every_minute(11_000, until=earlier)
    prometheus.add("DCGM_FI_DEV_FB_USED", exported("train-gone", "GPU-2", namespace, modelName="Odd"), gone)
    base = {"namespace": namespace, "pod": "train-gone", "uid": "u-gone"}
    prometheus.add("kube_pod_info", base, every_minute(1, until=earlier))
    prometheus.add(
        "kube_pod_owner", {**base, "owner_kind": "Job", "owner_name": "train"}, every_minute(1, until=earlier)
    )
    store = tmp_path / "vram.jsonl"
    result = observe(clean_plane, USER, prometheus, store, "--end", str(now))
    assert result.exit_code == 0, result.output
    rows = {row["pod"]: row for row in map(json.loads, store.read_text().splitlines())}
    expected = fingerprint({"spec": TEMPLATE})
    assert expected is not None
    assert {name: (row["peak_mib"], row["workload"]) for name, row in rows.items()} == {
        "solo": (9_000, "Pod/solo"),
        "train-gone": (11_000, "Job/train"),
    }
    assert {(row["image"], row["command_hash"]) for row in rows.values()} == {(expected.image, expected.command_hash)}
    assert all(row["hints"] == {"batch_size": 4.0} for row in rows.values())
    assert rows["solo"]["capacity_mib"] == 81_559


def test_without_rights_on_pods_it_says_so(clean_plane: Plane, namespace: str, tmp_path: Path) -> None:
    clean_plane.grant("reader", [])
    refused = observe(clean_plane, "reader", MiniPrometheus(), tmp_path / "s.jsonl")
    assert refused.exit_code == 3
    assert "forbidden" in refused.stderr
    assert not (tmp_path / "s.jsonl").exists()


def test_the_manifest_is_accepted_by_the_server(clean_plane: Plane) -> None:
    clean_plane.namespace("ksolver")
    for found in MANIFEST:
        clean_plane.kubectl("apply", "--dry-run=server", "-f", "-", stdin=json.dumps(found))
