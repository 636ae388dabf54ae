"""`vram-observe` as it is typed: against a Prometheus over loopback HTTP."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from ksolver_cli.cli import vram_observe
from ksolver_cli.cli.common.guard import guarded
from tests.paths import DATA
from tests.unit.collect.prometheus_fake import Asked, FakePrometheus, Reply, fake_prometheus
from tests.unit.vram.gpu_pods import END, every_minute, exported, gpu_node, gpu_pod, kube_list
from tests.unit.vram.miniprom import MiniPrometheus

USED = "DCGM_FI_DEV_FB_USED"
TOKEN = "s3cr3t-t0ken"

app = typer.Typer()
app.command("vram-observe")(guarded(vram_observe.vram_observe))


@pytest.fixture
def prometheus() -> MiniPrometheus:
    made = MiniPrometheus()
    made.add(USED, exported("train-0"), every_minute(19_000))
    made.add(USED, exported("gone", "GPU-2"), every_minute(7_000))
    return made


@pytest.fixture
def fake(prometheus: MiniPrometheus) -> Iterator[FakePrometheus]:
    def answer(asked: Asked) -> object:
        return prometheus.document(asked.query, float(asked.parameters["time"]))

    with fake_prometheus(answer) as served:
        yield served


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    path = tmp_path / "pods.json"
    path.write_text(json.dumps(kube_list(gpu_pod("train-0"), gpu_node())))
    return path


def invoke(*arguments: object, env: Mapping[str, str] | None = None) -> Result:
    clean = {f"KSOLVER_PROMETHEUS_{name}": "" for name in ("URL", "USERNAME", "TOKEN", "TOKEN_FILE", "TENANT")}
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={**clean, **(env or {})})


def observe(fake: FakePrometheus, snapshot: Path, store: Path, *more: object) -> Result:
    return invoke(
        "--store", store, "--prometheus-url", fake.url, "--snapshot", snapshot, "--end", int(END), "--json", *more
    )


def test_two_runs_write_the_rows_once(fake: FakePrometheus, snapshot: Path, tmp_path: Path) -> None:
    store = tmp_path / "vram.jsonl"
    first = observe(fake, snapshot, store)
    assert first.exit_code == 0, first.output
    facts = json.loads(first.stdout)
    assert (facts["added"], facts["matched"], facts["shared"]) == (1, 1, 0)
    assert [entry["pod"] for entry in facts["unmatched"]] == ["ml/gone"]
    before = store.read_bytes()
    assert json.loads(before)["peak_mib"] == 19_000
    assert json.loads(observe(fake, snapshot, store).stdout)["unchanged"] == 1
    assert store.read_bytes() == before


def test_a_higher_peak_later_supersedes(
    fake: FakePrometheus, prometheus: MiniPrometheus, snapshot: Path, tmp_path: Path
) -> None:
    store = tmp_path / "vram.jsonl"
    observe(fake, snapshot, store)
    prometheus.add(USED, exported("train-0", "GPU-9"), every_minute(21_000))
    assert json.loads(observe(fake, snapshot, store).stdout)["raised"] == 1
    assert [json.loads(line)["peak_mib"] for line in store.read_text().splitlines()] == [19_000, 21_000]


def test_nothing_matched_writes_nothing_and_says_why(fake: FakePrometheus, tmp_path: Path) -> None:
    snapshot, store = tmp_path / "other.yaml", tmp_path / "vram.jsonl"
    snapshot.write_text("apiVersion: v1\nkind: Pod\nmetadata: {name: x, namespace: y}\nspec: {containers: []}\n")
    result = observe(fake, snapshot, store)
    assert result.exit_code == 0
    assert "could be joined" in json.loads(result.stdout)["reason"]
    assert not store.exists()
    table = invoke("--store", store, "--prometheus-url", fake.url, "--snapshot", snapshot, "--end", "2020-01-01")
    assert table.exit_code == 0
    assert "no series" in table.stdout
    assert not store.exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--window", "1y"], 2),
        (["--window", "0s"], 2),
        (["--end", "tomorrow"], 2),
        (["--prune", "soon"], 2),
        (["--prometheus-label", "=x"], 2),
        (["--prometheus-url", "prometheus:9090"], 2),
        (["--prometheus-url", f"http://me:{TOKEN}@h"], 2),
        (["--prometheus-token-file", "/nonexistent"], 2),
        (["--prometheus-ca-file", "/nonexistent"], 3),
        (["--snapshot", "/nonexistent"], 4),
    ],
)
def test_wrong_use_ends_in_two_lines(
    fake: FakePrometheus, snapshot: Path, tmp_path: Path, arguments: list[str], code: int
) -> None:
    result = observe(fake, snapshot, tmp_path / "s.jsonl", *arguments)
    assert result.exit_code == code
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 2
    assert TOKEN not in result.stderr
    assert not (tmp_path / "s.jsonl").exists()


def test_no_address_and_no_store_are_usage_errors(snapshot: Path, tmp_path: Path) -> None:
    assert invoke("--store", tmp_path / "s", "--snapshot", snapshot).exit_code == 2
    assert invoke("--snapshot", snapshot).exit_code == 2


def test_an_unreachable_server_is_exit_three(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    result = invoke("--store", tmp_path / "s", "--prometheus-url", "http://127.0.0.1:1", "--snapshot", snapshot)
    assert result.exit_code == 3
    assert "cannot reach http://127.0.0.1:1" in result.stderr


def test_an_unwritable_store_is_said(fake: FakePrometheus, snapshot: Path, tmp_path: Path) -> None:
    result = observe(fake, snapshot, tmp_path / "no" / "such" / "folder.jsonl")
    assert result.exit_code == 2
    assert "folder.jsonl" in result.stderr


@pytest.mark.parametrize("store", ["old.jsonl.gz", "no-such-folder/vram.jsonl", "."])
def test_a_store_that_cannot_grow_is_told_before_anyone_is_asked(store: str, snapshot: Path, tmp_path: Path) -> None:
    nobody = "http://127.0.0.1:9"
    done = invoke("--store", tmp_path / store, "--prometheus-url", nobody, "--snapshot", snapshot)
    assert done.exit_code == 2
    assert nobody not in done.stderr


def test_credentials_come_from_the_environment_and_are_never_shown(snapshot: Path, tmp_path: Path) -> None:
    with fake_prometheus(lambda _: Reply({"status": "error", "error": "no"}, status=403)) as fake:
        env = {
            "KSOLVER_PROMETHEUS_URL": f"{fake.url}/prometheus",
            "KSOLVER_PROMETHEUS_USERNAME": "me",
            "KSOLVER_PROMETHEUS_TOKEN": TOKEN,
        }
        result = invoke("--store", tmp_path / "s", "--snapshot", snapshot, env=env)
        assert result.exit_code == 3
        assert TOKEN not in result.output
        assert fake.asked[0].path == "/prometheus/api/v1/query"
        assert fake.asked[0].headers["Authorization"].startswith("Basic ")


def test_a_partial_answer_is_refused_unless_allowed(
    fake: FakePrometheus, prometheus: MiniPrometheus, snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = MiniPrometheus.document
    monkeypatch.setattr(MiniPrometheus, "document", lambda *asked: {**whole(*asked), "isPartial": True})
    store = tmp_path / "vram.jsonl"
    assert observe(fake, snapshot, store).exit_code == 3
    assert not store.exists()
    assert observe(fake, snapshot, store, "--allow-partial").exit_code == 0
    assert store.exists()


def test_prune_runs_alone_and_after_a_run(fake: FakePrometheus, snapshot: Path, tmp_path: Path) -> None:
    store = tmp_path / "vram.jsonl"
    observe(fake, snapshot, store)
    kept = invoke("--store", store, "--prune", "36500d")
    assert kept.exit_code == 2
    kept = invoke("--store", store, "--prune", "3650d", "-o", "json")
    assert json.loads(kept.stdout)["pruned"] == {"kept": 1, "expired": 0, "superseded": 0, "unreadable": 0}
    both = observe(fake, snapshot, store, "--prune", "1d")
    assert json.loads(both.stdout)["pruned"]["expired"] == 1
    assert store.read_bytes() == b""


def test_pruning_what_is_not_there_says_so_and_leaves_nothing_behind(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done = invoke("--store", tmp_path / "typo.jsonl", "--prune", "90d")
    assert done.exit_code == 0
    assert "no such store" in caplog.text
    assert list(tmp_path.iterdir()) == []


def test_a_torn_line_is_reported(
    fake: FakePrometheus, snapshot: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = tmp_path / "vram.jsonl"
    store.write_text('{"image": "i", "comm')
    assert observe(fake, snapshot, store).exit_code == 0
    assert "line 1" in caplog.text
    assert len(store.read_text().splitlines()) == 2


def test_series_of_several_clusters_are_warned_about(
    fake: FakePrometheus, prometheus: MiniPrometheus, snapshot: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for cluster in ("prod", "test"):
        prometheus.add(USED, exported("train-0", f"GPU-{cluster}", cluster=cluster), every_minute(5))
    observe(fake, snapshot, tmp_path / "a.jsonl")
    assert "several clusters (prod, test)" in caplog.text
    caplog.clear()
    observe(fake, snapshot, tmp_path / "b.jsonl", "--prometheus-label", "cluster=prod")
    assert "several clusters" not in caplog.text
    assert json.loads((tmp_path / "b.jsonl").read_text())["peak_mib"] == 5


def test_a_compressed_redacted_snapshot_joins_too(fake: FakePrometheus, tmp_path: Path) -> None:
    from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
    from ksolver_cli.domain.gpu_workload.kept import kept_facts

    pod = gpu_pod("train-0")
    spec = {
        "containers": [
            {"name": "main", "image": "registry.example/train:1", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
        ]
    }
    redacted = {
        "metadata": {"name": "train-0", "namespace": "ml", "uid": "u", "annotations": kept_facts(pod)},
        "spec": spec,
    }
    path, store = tmp_path / "snapshot.json.gz", tmp_path / "vram.jsonl"
    path.write_bytes(
        gzip.compress(json.dumps({"schema": "ksolver.snapshot/1", "objects": {"pods": [redacted]}}).encode())
    )
    assert observe(fake, path, store).exit_code == 0
    row = json.loads(store.read_text())
    whole = fingerprint(pod)
    assert whole is not None
    assert (row["command_hash"], row["hints"]) == (whole.command_hash, {"batch_size": 8.0})


@pytest.mark.parametrize("name", ["error_response.json", "empty_result.json"])
def test_recorded_answers_without_series(snapshot: Path, tmp_path: Path, name: str) -> None:
    path = DATA / "prom" / "prom_api" / name
    if not path.is_file():
        pytest.skip(f"no shared data at {path}")
    with fake_prometheus(lambda _: json.loads(path.read_text())) as fake:
        result = observe(fake, snapshot, tmp_path / "s.jsonl")
    assert result.exit_code == (3 if name.startswith("error") else 0)
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize(
    "name",
    ["range_honor_labels_false.json", "range_exporter_restart.json", "range_honor_labels_true.json",
     "range_idle_exporter_identity.json", "range_two_replica_prometheus.json", "range_gaps_and_stale.json"],
)  # fmt: skip
def test_recorded_answers_become_rows(tmp_path: Path, name: str) -> None:
    folder = DATA / "prom" / "prom_api"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}")
    expected = {
        entry["file"].rpartition("/")[2]: entry["expect"] for entry in json.loads((folder / "expect.json").read_text())
    }
    prometheus = MiniPrometheus()
    for entry in json.loads((folder / name).read_text())["data"]["result"]:
        prometheus.add(USED, entry["metric"], [(t, float(v)) for t, v in entry["values"]])
    peaks: dict[str, int] = expected[name]["pod_max_mib"]
    pods = [gpu_pod(pod.partition("/")[2], namespace=pod.partition("/")[0]) for pod in peaks]
    snapshot, store = tmp_path / "pods.json", tmp_path / "s.jsonl"
    snapshot.write_text(json.dumps(kube_list(*pods, gpu_node())))
    with fake_prometheus(lambda asked: prometheus.document(asked.query, float(asked.parameters["time"]))) as fake:
        for _ in range(2):
            assert observe(fake, snapshot, store, "--end", int(END) + 7_200).exit_code == 0
    lines = store.read_text().splitlines() if store.exists() else []
    rows = {f"{row['namespace']}/{row['pod']}": row["peak_mib"] for row in map(json.loads, lines)}
    assert rows == peaks
    assert len(lines) == len(peaks)
