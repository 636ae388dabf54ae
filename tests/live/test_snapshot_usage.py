"""Usage history from a real Prometheus and a real VictoriaMetrics that scrape real expositions, twice each."""

import gzip
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.live.plane import Plane
from tests.live.servers import Exporter, Target, exporter, prometheus, scrape_config, victoria_metrics, wait_for
from tests.live.test_snapshot import ksolver
from tests.paths import DATA

SERVERS = {"prometheus": prometheus, "victoria-metrics": victoria_metrics}
CORES = 0.25
SCRAPES = 20
_SAMPLE = re.compile(r"^(\w+)(\{.*\})? (\S+)(?: \d+)?$")


def _lines(path: Path) -> list[str]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt") as stream:
        return [line for line in stream.read().splitlines() if line and not line.startswith("#")]


def _at(lines: list[str], seconds: float) -> str:
    """The exposition so many seconds later, a quarter of a core used all along; without its old timestamps."""
    found = []
    for line in lines:
        match = _SAMPLE.match(line)
        if match is None or not match[1].startswith(("container_cpu_usage", "container_memory_working", "kube_")):
            continue
        value = float(match[3]) + CORES * seconds if match[1] == "container_cpu_usage_seconds_total" else match[3]
        found.append(f"{match[1]}{match[2] or ''} {value}")
    return "\n".join(found) + "\n"


@contextmanager
def _running(path: Path) -> Iterator[Exporter]:
    lines, begin, done = _lines(path), time.monotonic(), threading.Event()
    with exporter(_at(lines, 0)) as served:

        def tick() -> None:
            while not done.wait(0.2):
                served.exposition = _at(lines, time.monotonic() - begin)

        thread = threading.Thread(target=tick, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            done.set()
            thread.join()


@pytest.fixture
def cluster(clean_plane: Plane) -> Plane:
    """The namespaces of the expositions; their pods are gone, so that only kube-state-metrics knows their owners."""
    clean_plane.namespace("scraper")
    return clean_plane


def _usage(
    cluster: Plane, url: str, *more: str
) -> tuple[dict[tuple[str, str, str, str], dict[str, Any]], dict[str, Any]]:
    arguments = ("--prometheus-url", url, "--usage-window", "2m", "--usage-step", "5s", *more)
    done = ksolver("snapshot", "--out", "-", "--kubeconfig", cluster.kubeconfig(), *arguments)
    assert done.returncode == 0, done.stderr
    usage = json.loads(done.stdout)["extras"]["usage"]
    names = ("namespace", "kind", "name", "container")
    return {tuple(entry[name] for name in names): entry for entry in usage["containers"]}, usage


@pytest.mark.parametrize("honor_labels", [True, False])
@pytest.mark.parametrize("server", SERVERS)
def test_usage_of_pods_that_are_gone_is_their_workloads(
    server: str, honor_labels: bool, cluster: Plane, tmp_path: Path
) -> None:
    if not (DATA / "prom").is_dir():
        pytest.skip(f"no shared data at {DATA}")
    with ExitStack() as stack:
        cadvisor = stack.enter_context(_running(DATA / "prom/cadvisor/cadvisor_1_35.prom.gz"))
        metrics = stack.enter_context(_running(DATA / "prom/ksm/ksm_1_35.prom"))
        own = {"namespace": "monitoring", "pod": "ksm-0", "container": "ksm"}
        targets = [
            Target("cadvisor", cadvisor, {"cluster": "one"}, honor_labels=True),
            Target("cadvisor-again", cadvisor, {"cluster": "one"}, honor_labels=True),
            Target("ksm", metrics, {"cluster": "one", **own}, honor_labels=honor_labels),
        ]
        url = stack.enter_context(SERVERS[server](tmp_path, scrape_config(targets)))
        wait_for(lambda: cadvisor.scrapes > 2 * SCRAPES and metrics.scrapes > SCRAPES, "scrapes")
        found, usage = _usage(cluster, url, "--prometheus-label", "cluster=one")
        elsewhere, other = _usage(cluster, url, "--prometheus-label", "cluster=two")
    assert (usage["source"], usage["point_in_time"]) == ("prometheus", False)
    web = found["scraper", "Deployment", "e2e-deployment", "compute-pi-digits"]
    assert web["pods"] == 2
    assert 0.8 * CORES * 1000 <= web["cpu"]["max_millicores"] <= 1.2 * CORES * 1000
    assert web["memory"]["max_bytes"] == _highest_memory("e2e-deployment")
    assert sum(count for _, count in web["memory"]["buckets"]) == web["memory"]["samples"]
    assert {key[:3] for key in found if key[3] == "compute-pi-digits"} == {
        ("scraper", "Deployment", "e2e-deployment"),
        ("scraper", "StatefulSet", "e2e-statefulset"),
        ("scraper", "DaemonSet", "e2e-daemonset"),
        ("scraper", "CronJob", "e2e-cronjob"),
    }
    assert not any(key[3] in ("", "POD") for key in found)
    assert usage["missing"] == []
    assert elsewhere == {}
    assert {entry["series"] for entry in other["missing"]} >= {"container_cpu_usage_seconds_total", "kube_pod_owner"}


def _highest_memory(prefix: str) -> int:
    lines = _lines(DATA / "prom/cadvisor/cadvisor_1_35.prom.gz")
    wanted = [li for li in lines if li.startswith("container_memory_working_set_bytes") and 'container="compute' in li]
    return int(max(float(_SAMPLE.match(li)[3]) for li in wanted if f'pod="{prefix}' in li))  # type: ignore[index]


def test_without_owners_usage_is_counted_as_unattributed(cluster: Plane, tmp_path: Path) -> None:
    if not (DATA / "prom").is_dir():
        pytest.skip(f"no shared data at {DATA}")
    with ExitStack() as stack:
        cadvisor = stack.enter_context(_running(DATA / "prom/cadvisor/cadvisor_1_31.prom.gz"))
        url = stack.enter_context(
            prometheus(tmp_path, scrape_config([Target("cadvisor", cadvisor, honor_labels=True)]))
        )
        wait_for(lambda: cadvisor.scrapes > SCRAPES, "scrapes")
        found, usage = _usage(cluster, url)
    assert found == {}
    assert usage["unattributed_series"] > 0
    assert {entry["series"] for entry in usage["missing"]} >= {"kube_pod_owner", "kube_replicaset_owner"}


def test_a_prometheus_that_is_away_costs_only_usage(cluster: Plane) -> None:
    done = ksolver(
        "snapshot", "--out", "-", "--kubeconfig", cluster.kubeconfig(), "--prometheus-url", "http://127.0.0.1:9"
    )
    # No node and no pod is there, but both kinds were read.
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert "usage" not in document["extras"]
    assert [gap["kind"] for gap in document["gaps"]] == ["usage"]
