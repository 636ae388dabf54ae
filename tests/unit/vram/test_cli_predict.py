"""`vram-predict` as it is typed."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ksolver_cli.cli import vram_predict
from ksolver_cli.cli.common.guard import guarded
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.vram.memory.models import known_models
from ksolver_cli.vram.observation import Observation, to_line
from tests.unit.vram.gpu_pods import gpu_node, gpu_pod, kube_list

app = typer.Typer()
app.command("vram-predict")(guarded(vram_predict.vram_predict))

REQUIRED = {"vram_mib", "source", "confidence", "missing", "fingerprint", "hard", "explanation"}


def invoke(*arguments: object, stdin: str | None = None) -> Result:
    return CliRunner().invoke(
        app, [str(argument) for argument in arguments], input=stdin, env={"KSOLVER_VRAM_STORE": ""}
    )


def predictions(*arguments: object, stdin: str | None = None) -> list[dict[str, object]]:
    result = invoke(*arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["predictions"]
    assert isinstance(found, list)
    return found


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    sidecar = gpu_pod("plain", resource="cpu", args=())
    known = gpu_pod("train-0")
    annotated = gpu_pod("told", namespace="other", annotations={"ksolver.dev/predicted-peak-vram-gib": "40"})
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(kube_list(known, annotated, sidecar, gpu_node())))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    found = fingerprint(gpu_pod("train-0"))
    assert found is not None
    path = tmp_path / "vram.jsonl"
    short = {"image": found.image, "command_hash": found.command_hash}
    path.write_text(
        "".join(json.dumps({**short, "peak_mib": peak}) + "\n" for peak in (10_000, 11_000, 12_000)) + '{"torn'
    )
    return path


def test_a_cluster_is_answered_pod_by_pod(cluster: Path, store: Path) -> None:
    found = {str(entry["name"]): entry for entry in predictions(cluster, "--store", store)}
    assert set(found) == {"train-0", "told"}
    assert found["train-0"].keys() >= REQUIRED
    first, second = found["train-0"], found["told"]
    assert (first["vram_mib"], first["source"], first["tier"], first["hard"]) == (11_900, "observations", 4, True)
    assert (second["vram_mib"], second["confidence"]) == (40_960, "authoritative")


def test_a_namespace_narrows_and_no_store_is_no_observation(cluster: Path) -> None:
    (only,) = predictions(cluster, "-n", "ml")
    assert (only["name"], only["vram_mib"], only["confidence"], only["hard"]) == ("train-0", None, "unknown", False)


def test_an_archived_store_is_read(cluster: Path, store: Path, tmp_path: Path) -> None:
    archive = tmp_path / "old.jsonl.gz"
    archive.write_bytes(gzip.compress(store.read_bytes()))
    assert predictions(cluster, "-n", "ml", "--store", archive)[0]["vram_mib"] == 11_900


def test_a_manifest_on_stdin_with_typed_hints() -> None:
    manifest = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"
    (found,) = predictions(
        "-", "--model-parameters-billions", "7", "--batch-size", "1", "--precision", "fp32", stdin=manifest
    )
    assert found["source"] == "hints"
    assert isinstance(found["vram_mib"], int)
    assert found["vram_mib"] >= 7e9 * 16 / 2**20
    (hard,) = predictions("-f", "-", "--model", "gpt2-xl", "--hard-admit", stdin=manifest)
    assert hard["hard"] is True


def test_what_was_read_from_a_manifest_is_in_the_json() -> None:
    """Image, world size and hints, so that a person can see what an answer rests on."""
    manifest = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: p}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 4
      template:
        spec:
          containers:
          - {name: side, image: side:1}
          - name: main
            image: train:1
            command: [torchrun, train.py, --bf16]
            env: [{name: BATCH_SIZE, value: "2"}, {name: KEY, valueFrom: {secretKeyRef: {name: s, key: k}}}]
            resources: {limits: {nvidia.com/gpu: 8}}
"""
    (found,) = predictions("-", stdin=manifest)
    assert (found["image"], found["replicas"], found["processes"]) == ("train:1", 4, 32)
    assert found["hints"] == {"batch_size": 2, "precision": "bf16", "engine": "torchrun"}
    assert str(found["fingerprint"]).startswith("train:1|")


def test_nodes_known_to_be_too_small_are_ruled_out_and_unknown_ones_stay_eligible(tmp_path: Path) -> None:
    nodes = [
        gpu_node("large", **{"nvidia.com/gpu.memory": "81559"}),
        gpu_node("small", **{"nvidia.com/gpu.product": "Tesla-T4"}),
        {"kind": "Node", "metadata": {"name": "odd"}, "status": {"allocatable": {"nvidia.com/gpu": "4"}}},
        {"kind": "Node", "metadata": {"name": "plain"}, "status": {"allocatable": {"cpu": "4"}}},
    ]
    annotations = {"ksolver.dev/predicted-peak-vram-gib": "40"}
    mig = gpu_pod("m", resource="nvidia.com/mig-1g.10gb", annotations=annotations)
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(kube_list(gpu_pod("p", annotations=annotations), gpu_pod("u"), mig, *nodes)))
    found = {entry["name"]: entry["gpu_nodes"] for entry in predictions(path)}
    assert found == {"p": {"large_enough": 1, "too_small": 1, "unknown": 1}, "u": None, "m": None}
    table = invoke(path).stdout
    assert "1 large enough, 1 too small and ruled out, 1 of unknown memory and eligible" in table
    softer = gpu_pod("s", args=("--model-parameters-billions", "2", "--batch-size", "1"))
    path.write_text(json.dumps(kube_list(softer, *nodes)))
    assert "too small and advised against" in invoke(path).stdout


def test_the_table_tells_everything_a_person_needs(cluster: Path, store: Path) -> None:
    result = invoke(cluster, "--store", store)
    assert result.exit_code == 0
    assert "Pod/ml/train-0" in result.stdout
    assert "11.6 GiB (11900 MiB)" in result.stdout
    assert "95th percentile of 3 observations" in result.stdout


def test_what_is_said_of_many_is_said_once(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(kube_list(*(gpu_pod(f"p-{n}") for n in range(50)))))
    lines = invoke(path).stdout.splitlines()
    assert len(lines) == 1 + 50 + 1 + 1
    assert lines[-1].startswith("Pod/ml/p-0 and 49 more: no tier answers")


def test_a_result_can_go_to_a_file(cluster: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = invoke(cluster, "--json", "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert len(json.loads(out.read_text())["predictions"]) == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["a", "-f", "b"], 2),
        (["CLUSTER", "--batch-size", "0"], 2),
        (["CLUSTER", "--model-parameters-billions", "-3"], 2),
        (["CLUSTER", "--gpu-memory-gib", "0"], 2),
        (["--calibrate"], 2),
        (["/nonexistent"], 4),
        (["CLUSTER", "--store", "/nonexistent"], 4),
        (["CLUSTER", "-o", "yaml"], 2),
        (["CLUSTER", "--precision", "int3"], 2),
        (["CLUSTER", "--model", "acme/secret-model"], 2),
        (["CLUSTER", "--calibrate", "--right-class"], 2),
    ],
)
def test_wrong_use_is_told(cluster: Path, arguments: list[str], code: int) -> None:
    result = invoke(*(str(cluster) if argument == "CLUSTER" else argument for argument in arguments))
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr


def test_a_typed_model_replaces_the_one_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "pod.json"
    path.write_text(json.dumps(gpu_pod("p", args=("--model", "meta-llama/Llama-3.1-8B", "--batch-size", "1"))))
    (small,) = predictions(path, "--model", "gpt2")
    assert "0.124 billion parameters" in str(small["explanation"])


def test_a_catalog_with_a_wrong_row_is_told(cluster: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.csv").write_text("id,title,retrieved,note\n")
    (tmp_path / "models.csv").write_text("name,family,parameters\nmine,decoder,7B\n")
    monkeypatch.setenv("KSOLVER_CATALOGS", str(tmp_path))
    known_models.cache_clear()
    result = invoke(cluster, "--model", "mine")
    known_models.cache_clear()
    assert result.exit_code == 2
    assert "models.csv, line 2" in result.stderr


def test_calibration_of_a_small_store_says_what_is_missing(store: Path) -> None:
    result = invoke("--calibrate", "--store", store, "-o", "json")
    facts = json.loads(result.stdout)
    assert (facts["rows"], facts["predicted_rows"], facts["mae_mib"]) == (3, 0, None)
    assert facts["advisory"] == {"justified": False, "missing": ["3 of 200 rows", "0 of 10 rows at 90 % of the card"]}
    assert len(facts["hard"]["missing"]) == 5
    table = invoke("--calibrate", "--store", store)
    assert "not justified; there are only 3 of 200 rows" in table.stdout
    assert "no error is known" in table.stdout


def test_engines_that_fill_their_card_justify_nothing(tmp_path: Path) -> None:
    hints = {"gpu_memory_utilization": 0.92, "preallocates": 1.0, "model_parameters_billions": 8.0}
    rows = [
        Observation("i", f"h{n % 60}", 75_000, gpu_model="H100", capacity_mib=81_559, pod_uid=f"u{n}", hints=hints)
        for n in range(300)
    ]
    path = tmp_path / "vram.jsonl"
    path.write_bytes(b"".join(map(to_line, rows)))
    facts = json.loads(invoke("--calibrate", "--store", path, "--json").stdout)
    assert (facts["rows"], facts["preallocating_rows"], facts["mae_mib"]) == (0, 300, None)
    assert not facts["advisory"]["justified"]
    assert "left out: 300 rows" in invoke("--calibrate", "--store", path).stdout


def test_calibration_of_a_rich_store_justifies_both_uses(tmp_path: Path) -> None:
    base = Observation("i", "h", 1, gpu_model="H100", capacity_mib=81_559)
    rows = []
    for number in range(240):
        hints = {"model_parameters_billions": 0.5 + number % 60, "batch_size": 1.0, "sequence_length": 512.0}
        row = replace(base, command_hash=f"h{number % 60}", hints=hints, peak_mib=20_000 + number, pod_uid=f"u{number}")
        rows.append(replace(row, peak_mib=80_000, oom=number == 3, gpu_model="A100") if number < 12 else row)
    path = tmp_path / "vram.jsonl"
    path.write_bytes(b"".join(map(to_line, rows)))
    facts = json.loads(invoke("--calibrate", "--store", path, "--json").stdout)
    assert facts["advisory"]["justified"]
    assert facts["hard"]["justified"]
    assert facts["predicted_rows"] == 240
    assert 0 <= facts["under_prediction_rate"] <= 1
    assert facts["p95_mib"] >= 0
    assert "hard use: justified" in invoke("--calibrate", "--store", path).stdout
