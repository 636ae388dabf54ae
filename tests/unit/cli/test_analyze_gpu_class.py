"""`analyze --vram-store`: advice on GPUs that are larger than the measured peak needs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from ksolver_cli.vram.observation import to_line
from tests.unit.vram.gpu_pods import gpu_pod, kube_list
from tests.unit.vram.test_right_class import node, rows


def invoke(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_small_peak_on_a_large_card_is_told_in_text_and_json(tmp_path: Path) -> None:
    pod = gpu_pod("p")
    cluster, store = tmp_path / "cluster.json", tmp_path / "vram.jsonl"
    cluster.write_text(json.dumps(kube_list(pod, node())))
    store.write_bytes(b"".join(map(to_line, rows(pod, 19_000, 19_100, 19_200))))
    told = json.loads(invoke("analyze", str(cluster), "--vram-store", str(store), "--json").stdout)
    (advice,) = told["gpu_classes"]
    assert advice["peak_mib"] == 19_200
    assert advice["fits_memory_mib"] >= 19_200
    assert advice["less_micros"] > 0
    assert told["plan"] is None or told["plan"]["cost_after_micros"] == told["plan"]["cost_before_micros"]
    text = invoke("analyze", str(cluster), "--vram-store", str(store)).stdout
    assert "GPUs of the wrong class: 1" in text


def test_a_torn_line_is_told_and_the_rest_counts(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pod = gpu_pod("p")
    cluster, store = tmp_path / "cluster.json", tmp_path / "vram.jsonl"
    cluster.write_text(json.dumps(kube_list(pod, node())))
    store.write_bytes(b"".join(map(to_line, rows(pod, 19_000, 19_100, 19_200))) + b'{"torn')
    done = invoke("analyze", str(cluster), "--vram-store", str(store))
    assert "GPUs of the wrong class: 1" in done.stdout
    assert "line 4: not a whole JSON object; passed over" in caplog.text


def test_a_store_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "cluster.json").write_text(json.dumps(kube_list(gpu_pod("p"), node())))
    done = invoke("analyze", str(tmp_path / "cluster.json"), "--vram-store", str(tmp_path / "absent.jsonl"))
    assert done.exit_code == 2
    assert "no such file" in done.stderr
