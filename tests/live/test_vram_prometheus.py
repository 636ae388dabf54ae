"""`vram-observe` against real servers that scrape exporters in both label modes: every row once, and no other."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ksolver_cli.cli import vram_observe
from ksolver_cli.cli.common.guard import guarded
from tests.live.servers import (
    Exporter,
    Target,
    exporter,
    prometheus,
    scrape_config,
    victoria_metrics,
    wait_for,
)
from tests.paths import DATA
from tests.unit.vram.gpu_pods import TARGET, gpu_node, gpu_pod, kube_list

pytestmark = pytest.mark.live

FOLDER = DATA / "prom" / "dcgm"
SCRAPES = 4
SERVERS = {"prometheus": prometheus, "victoria-metrics": victoria_metrics}
# namespace/pod → peak MiB, shared, MIG profile: all that the expositions hold.
EXPECTED = {
    "ml/train-0": (39_000, False, None),
    "default/gpu-workload-0": (9_216, True, None),
    "default/gpu-workload-1": (9_216, True, None),
    "default/gpu-workload-2": (9_216, True, None),
    "default/dra-pod": (2_210, False, "1g.5gb"),
    "default/first": (11_000, False, None),
    "default/second": (5_000, False, None),
}
NEVER = ("model-stg/text-embedding-predictor-0", "model-stg/tts-predictor-0", "ai-1/d85np-t6mdg")

app = typer.Typer()
app.command("vram-observe")(guarded(vram_observe.vram_observe))


def one_card(pod: str, used: int) -> str:
    """A card that one pod holds."""
    owner = f'container="c",namespace="default",pod="{pod}"' if pod else 'container="",namespace="",pod=""'
    labels = f'gpu="0",UUID="GPU-turns",device="nvidia0",modelName="NVIDIA A10",Hostname="node-t",{owner}'
    return f"# TYPE DCGM_FI_DEV_FB_USED gauge\nDCGM_FI_DEV_FB_USED{{{labels}}} {used}\n"


def scraped(exporters: list[Exporter], times: int) -> None:
    """Wait until each exporter was scraped some times more."""
    goals = [served.scrapes + times for served in exporters]
    wait_for(lambda: all(s.scrapes >= goal for s, goal in zip(exporters, goals, strict=True)), "scrapes")


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Every pod that any label names, the exporters' own among them."""
    names = [*EXPECTED, *NEVER]
    pods = [gpu_pod(name.partition("/")[2], namespace=name.partition("/")[0], uid=f"uid-{name}") for name in names]
    own = gpu_pod(TARGET["pod"], namespace=TARGET["namespace"], owner=("DaemonSet", "dcgm-exporter"), resource="cpu")
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(kube_list(*pods, own, gpu_node())))
    return path


@pytest.fixture
def exporters() -> Iterator[dict[str, Exporter]]:
    """One exporter an exposition file, and one whose card changes hands."""
    if not FOLDER.is_dir():
        pytest.skip(f"no shared data at {FOLDER}")
    with ExitStack() as stack:
        served = {path.stem: stack.enter_context(exporter(path.read_text())) for path in sorted(FOLDER.glob("*.prom"))}
        served["turns"] = stack.enter_context(exporter(one_card("first", 11_000)))
        yield served


def observe(url: str, snapshot: Path, store: Path) -> dict[str, object]:
    arguments = ["--store", store, "--prometheus-url", url, "--snapshot", snapshot, "--window", "30m", "--json"]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def rows(store: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in store.read_text().splitlines()]


@pytest.mark.parametrize("honor_labels", [False, True], ids=["rename", "honour"])
@pytest.mark.parametrize("server", sorted(SERVERS))
def test_every_row_once(
    server: str, honor_labels: bool, exporters: dict[str, Exporter], snapshot: Path, tmp_path: Path
) -> None:
    start: Callable[[Path, str], AbstractContextManager[str]] = SERVERS[server]
    target_labels = {name: TARGET[name] for name in ("namespace", "pod", "container")}
    targets = [Target(name, served, target_labels, honor_labels) for name, served in exporters.items()]
    store = tmp_path / "vram.jsonl"
    with start(tmp_path, scrape_config(targets)) as url:
        scraped(list(exporters.values()), SCRAPES)
        exporters["turns"].exposition = one_card("", 0)
        scraped([exporters["turns"]], 2)
        exporters["turns"].exposition = one_card("second", 5_000)
        scraped(list(exporters.values()), SCRAPES)
        time.sleep(1.5)
        first = observe(url, snapshot, store)
        assert (first["added"], first["matched"]) == (len(EXPECTED), len(EXPECTED))
        found = {f"{r['namespace']}/{r['pod']}": (r["peak_mib"], r["shared"], r["mig_profile"]) for r in rows(store)}
        assert found == EXPECTED
        before = store.read_bytes()
        second = observe(url, snapshot, store)
        assert (second["added"], second["raised"], second["unchanged"]) == (0, 0, len(EXPECTED))
        assert store.read_bytes() == before

        exporters["turns"].exposition = None
        scraped([exporters["turns"]], 2)
        exporters["turns"].exposition = one_card("second", 6_000)
        scraped([exporters["turns"]], 3)
        time.sleep(1.5)
        assert observe(url, snapshot, store)["raised"] == 1
        (last,) = rows(store)[len(EXPECTED) :]
        assert (last["pod"], last["peak_mib"], last["shared"]) == ("second", 6_000, False)
    capacity = {row["pod"]: row["capacity_mib"] for row in rows(store)}
    assert (capacity["train-0"], capacity["gpu-workload-0"]) == (40_000, 15_360)
    assert all(isinstance(row["samples"], int) and row["samples"] >= SCRAPES - 1 for row in rows(store))


def test_a_server_without_gpus_gives_nothing_and_the_reason(snapshot: Path, tmp_path: Path) -> None:
    store = tmp_path / "vram.jsonl"
    with exporter("up_and_well 1\n") as served, prometheus(tmp_path, scrape_config([Target("other", served)])) as url:
        scraped([served], 2)
        summary = observe(url, snapshot, store)
    assert "no series of DCGM_FI_DEV_FB_USED" in str(summary["reason"])
    assert not store.exists()


def test_a_bad_query_is_told_in_the_servers_words(snapshot: Path, tmp_path: Path) -> None:
    with exporter("x 1\n") as served, prometheus(tmp_path, scrape_config([Target("other", served)])) as url:
        arguments = ["--store", tmp_path / "s", "--prometheus-url", url, "--snapshot", snapshot, "--window", "10000w"]
        assert CliRunner().invoke(app, [str(argument) for argument in arguments]).exit_code == 2
        wrong = [*arguments[:3], url.removesuffix("/prometheus"), *arguments[4:-1], "1h"]
        result = CliRunner().invoke(app, [str(argument) for argument in wrong])
    assert result.exit_code == 3
    assert "path prefix" in result.stderr
