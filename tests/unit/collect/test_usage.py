"""Usage history: histograms that keep their word, queries within limits, and every sample at its workload once."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.collect.access.credentials import TokenFile
from ksolver_cli.collect.access.settings import Access, Connection
from ksolver_cli.collect.errors import CollectError
from ksolver_cli.collect.live import read
from ksolver_cli.collect.prometheus import MAX_POINTS, PrometheusClient
from ksolver_cli.collect.prometheus_settings import PrometheusSettings
from ksolver_cli.collect.usage import find, queries
from ksolver_cli.collect.usage.find import ProxyTransport, find_prometheus
from ksolver_cli.collect.usage.gather import UsageRequest, add_usage
from ksolver_cli.collect.usage.histogram import RATIO, Histogram, bucket_of
from ksolver_cli.collect.usage.history import Historian, History
from ksolver_cli.collect.usage.owners import Owners
from ksolver_cli.collect.usage.queries import Window
from ksolver_cli.snapshot.shape.usage import EXTRAS
from tests.paths import ROOT
from tests.unit.collect.apiserver import ApiServer, named, pods

Result = list[dict[str, Any]]
WINDOW = Window(0, 3600, 60)


@given(st.floats(0, 1e15), st.floats(0.5, 1e7))
def test_a_bucket_holds_its_value(value: float, first: float) -> None:
    bucket = bucket_of(value, first)
    if bucket == 0:
        assert value < first
    else:
        assert first * RATIO ** (bucket - 1) <= value < first * RATIO**bucket


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=200), st.floats(0.01, 1))
def test_percentiles_read_from_buckets_are_off_by_less_than_a_twentieth(values: list[float], share: float) -> None:
    histogram = Histogram(first=1.0)
    histogram.add(values)
    rank = math.ceil(share * len(values))
    exact = sorted(values)[rank - 1]
    seen = 0
    for bucket in sorted(histogram.counts):
        seen += histogram.counts[bucket]
        if seen >= rank:
            break
    upper = RATIO**bucket
    assert exact <= upper
    assert exact < 1 or upper <= exact * RATIO * 1.0001
    assert histogram.record("highest")["highest"] == math.ceil(max(values))


def test_what_is_no_amount_is_no_sample() -> None:
    histogram = Histogram(first=1.0)
    histogram.add([-1.0, math.inf, 5.0])
    assert histogram.samples == 1


@given(
    st.dictionaries(
        st.from_regex(r"[a-z]([a-z0-9.-]{0,60}[a-z0-9])?", fullmatch=True), st.integers(0, 3000), max_size=60
    )
)
def test_batches_hold_every_namespace_once_and_stay_short(weights: dict[str, int]) -> None:
    groups = list(queries.batches(weights, 4033))
    assert [name for group in groups for name in group] == sorted(weights)
    for group in groups:
        query = queries.cpu(queries.matchers(['cluster="prod"'], group, containers=True), 300)
        assert len(query) <= queries.LONGEST_QUERY
        weight = sum(weights[name] for name in group)
        assert len(group) == 1 or weight * 4033 <= queries.MOST_SAMPLES


@given(st.integers(0, 2_000_000), st.integers(1, 3600), st.integers(0, 200_000))
def test_pieces_cover_the_window_once_within_the_limits(seconds: int, step: int, weight: int) -> None:
    window = Window(0, seconds // step * step, step)
    moments = [at for start, end in queries.pieces(window, weight) for at in range(start, end + 1, step)]
    assert moments == list(range(0, window.end + 1, step))
    for start, end in queries.pieces(window, weight):
        points = (end - start) // step + 1
        assert points <= MAX_POINTS
        assert points == 1 or points * max(1, weight) <= queries.MOST_SAMPLES


def test_names_are_matched_literally() -> None:
    assert queries.matchers((), ["a.b", "c"]) == '{namespace=~"a\\\\.b|c"}'


def _prometheus(answer: Callable[[str], Result], asked: list[str] | None = None) -> PrometheusClient:
    def handle(request: httpx.Request) -> httpx.Response:
        query = request.url.params["query"]
        if asked is not None:
            asked.append(query)
        kind = "matrix" if request.url.path.endswith("range") else "vector"
        return httpx.Response(200, json={"status": "success", "data": {"resultType": kind, "result": answer(query)}})

    return PrometheusClient(PrometheusSettings("http://p.test"), transport=httpx.MockTransport(handle))


def _answers(**by_series: Result) -> Callable[[str], Result]:
    def answer(query: str) -> Result:
        if "exported_pod" in query:
            return []
        if query.startswith("count("):
            return [{"metric": {}, "value": [0, "1"]}] if any(name in query for name in by_series) else []
        return next((result for name, result in by_series.items() if name in query), [])

    return answer


def _range(pod: str, *values: float, container: str = "c") -> dict[str, Any]:
    labels = {"namespace": "default", "pod": pod, "container": container}
    return {"metric": labels, "values": [[60 * i, str(value)] for i, value in enumerate(values)]}


def _owner(pod: str, kind: str, name: str) -> dict[str, Any]:
    labels = {"namespace": "default", "pod": pod, "owner_kind": kind, "owner_name": name}
    return {"metric": labels, "value": [0, "1"]}


def _history(client: PrometheusClient, owners: Owners | None = None) -> History:
    return Historian(client, WINDOW, owners or Owners(), {"default": 1}).history()


def test_pods_that_are_gone_belong_to_their_deployment() -> None:
    replica_set = {
        "metric": {"namespace": "default", "replicaset": "web-1", "owner_kind": "Deployment", "owner_name": "web"},
        "value": [0, "1"],
    }
    answers = _answers(
        container_cpu_usage_seconds_total=[_range("web-1-a", 0.1, 0.2), _range("web-1-b", 0.4)],
        container_memory_working_set_bytes=[_range("web-1-a", 5e6, 7e6)],
        kube_pod_owner=[_owner("web-1-a", "ReplicaSet", "web-1"), _owner("web-1-b", "ReplicaSet", "web-1")],
        kube_replicaset_owner=[replica_set],
    )
    found = _history(_prometheus(answers))
    (key,) = found.containers
    assert key == ("default", "Deployment", "web", "c")
    (record,) = found.record()["containers"]  # type: ignore[misc]
    assert record["pods"] == 2
    assert (record["cpu"]["samples"], record["cpu"]["max_millicores"]) == (3, 400)
    assert (record["memory"]["samples"], record["memory"]["max_bytes"]) == (2, 7_000_000)
    assert {entry["series"] for entry in found.record()["missing"]} == {  # type: ignore[attr-defined]
        "kube_job_owner",
        "kube_pod_container_status_restarts_total",
        "kube_pod_container_status_last_terminated_reason",
    }


def test_objects_outrank_series_and_static_pods_are_their_own() -> None:
    owners = Owners()
    owners.take_objects("Pod", named("pods", "bare"))
    owners.pods["default", "etcd-n1"] = ("Node", "n1")
    answers = _answers(
        container_cpu_usage_seconds_total=[_range("bare", 0.1), _range("etcd-n1", 0.1), _range("nobody", 0.1)],
        kube_pod_owner=[_owner("bare", "ReplicaSet", "wrong")],
    )
    found = _history(_prometheus(answers), owners)
    assert set(found.containers) == {("default", "Pod", "bare", "c"), ("default", "Pod", "etcd-n1", "c")}
    assert found.unattributed == {("default", "nobody")}


def test_a_series_that_fails_is_named_and_costs_no_other() -> None:
    def answer(query: str) -> Result:
        if query.startswith("max by (namespace,pod,container) (rate("):
            raise httpx.ReadTimeout("slow")
        return _answers(
            container_cpu_usage_seconds_total=[],
            container_memory_working_set_bytes=[_range("bare", 5e6)],
        )(query)

    client = _prometheus(answer)
    client._pause = lambda seconds: None
    owners = Owners()
    owners.take_objects("Pod", named("pods", "bare"))
    found = _history(client, owners)
    assert "no answer in time" in found.missing["container_cpu_usage_seconds_total"]
    (usage,) = found.containers.values()
    assert (usage.cpu.samples, usage.memory.samples) == (0, 1)


def test_every_query_carries_the_cluster_label() -> None:
    asked: list[str] = []
    client = _prometheus(_answers(container_cpu_usage_seconds_total=[], kube_pod_owner=[]), asked)
    Historian(client, WINDOW, Owners(), {"default": 1}, fixed=['cluster="prod"']).history()
    assert asked
    assert all('cluster="prod"' in query for query in asked)


def test_the_metrics_api_gives_a_point_in_time() -> None:
    server = ApiServer({"nodes": named("nodes", "n1"), "pods": pods(1)})
    server.groups = {**server.groups, "metrics.k8s.io": "v1beta1"}
    metrics = named("podmetrics", "p000000")[0]
    server.objects["podmetrics"] = [
        {**metrics, "containers": [{"name": "c", "usage": {"cpu": "12345678n", "memory": "10Mi"}}]}
    ]
    client = server.client()
    reading = read(client, Connection())
    add_usage(reading, client, UsageRequest(clock=lambda: 1000.0), lambda kind, done, total: None)
    usage = json.loads(json.dumps(reading.extras["usage"]))
    assert (usage["source"], usage["point_in_time"]) == ("metrics.k8s.io", True)
    (entry,) = usage["containers"]
    assert (entry["kind"], entry["cpu"]["max_millicores"], entry["memory"]["max_bytes"]) == ("Pod", 13, 10 * 2**20)


def test_objects_without_a_name_cost_nothing_but_themselves() -> None:
    server = ApiServer({"nodes": named("nodes", "n1"), "pods": [{}, {"metadata": None}, *pods(1)], "namespaces": [{}]})
    client = server.client()
    reading = read(client, Connection())
    settings = PrometheusSettings("http://127.0.0.1:9", attempts=1)
    add_usage(reading, client, UsageRequest(settings, clock=lambda: 1000.0), lambda kind, done, total: None)
    assert [gap.kind for gap in reading.gaps] == ["usage"]


def _service(name: str, namespace: str = "monitoring", **ports: int) -> dict[str, Any]:
    listed = [{"name": port, "port": number} for port, number in ports.items()]
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"ports": listed}}


@pytest.mark.parametrize(
    ("services", "found"),
    [
        ([_service("prometheus-k8s", web=9090)], ("prometheus-k8s", 9090, "")),
        (
            [_service("kube-prometheus-stack-prometheus", reloader=8080, web=9090)],
            ("kube-prometheus-stack-prometheus", 9090, ""),
        ),
        (
            [_service("prometheus-server", http=80), _service("thanos-query", grpc=10901, http=9090)],
            ("thanos-query", 9090, ""),
        ),
        ([_service("vmselect-vm", http=8481)], ("vmselect-vm", 8481, "/select/0/prometheus")),
        ([_service("mimir-query-frontend", grpc=9095, http=8080)], ("mimir-query-frontend", 8080, "/prometheus")),
    ],
)
def test_a_prometheus_is_found_by_its_service(services: list[dict[str, Any]], found: tuple[str, int, str]) -> None:
    server = ApiServer(
        {"services": [_service("web", http=80), _service("prometheus-alertmanager", web=9093), *services]}
    )
    place = find_prometheus(server.client())
    assert (place.name, place.port, place.path) == found


def test_no_prometheus_is_said() -> None:
    with pytest.raises(CollectError, match="looks like a Prometheus"):
        find_prometheus(ApiServer({"services": [_service("web", http=80)]}).client())


def test_the_proxy_of_the_api_server_gets_reads_only() -> None:
    transport = ProxyTransport(ApiServer().client().access)
    with pytest.raises(httpx.UnsupportedProtocol):
        transport.handle_request(httpx.Request("POST", "http://api.test/x"))


def test_the_proxy_of_the_api_server_renews_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("old")
    access = Access("http://api.test", "c", TokenFile(tmp_path / "token"))
    answer = httpx.Response(429, headers=[("Retry-After", b"\xb2"), ("Set-Cookie", "x")], content=b"{}")

    def handle(request: httpx.Request) -> httpx.Response:
        if request.headers["Authorization"] == "Bearer new":
            return answer
        (tmp_path / "token").write_text("new")
        return httpx.Response(401)

    monkeypatch.setattr(find, "http_client", lambda access: httpx.Client(transport=httpx.MockTransport(handle)))
    given = ProxyTransport(access).handle_request(httpx.Request("GET", "http://api.test/x"))
    assert (given.status_code, given.headers.raw[0]) == (429, (b"Retry-After", b"\xb2"))
    assert "Set-Cookie" not in given.headers


def test_usage_holds_to_the_schema_and_to_the_allow_list() -> None:
    schema = json.loads((ROOT / "docs/reference/snapshot.schema.json").read_text())
    owners = Owners()
    owners.take_objects("Pod", named("pods", "bare"))
    answers = _answers(container_cpu_usage_seconds_total=[_range("bare", 0.1)], kube_pod_owner=[])
    record = json.loads(json.dumps(_history(_prometheus(answers), owners).record()))
    jsonschema.validate(record, {**schema["$defs"]["usage"], "$defs": schema["$defs"]})
    assert EXTRAS.keep({"usage": record}) == {"usage": record}


def test_mimir_gets_its_tenant_and_its_prefix_and_thanos_says_what_it_lacks() -> None:
    """By their protocol alone: no Mimir and no Thanos runs here."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        data = {"resultType": "vector", "result": [{"metric": {}, "value": [0, "1"]}]}
        return httpx.Response(
            200, json={"status": "success", "data": data, "isPartial": "count" not in str(request.url)}
        )

    settings = PrometheusSettings("http://mimir.test/prometheus", tenant="team-a")
    client = PrometheusClient(settings, transport=httpx.MockTransport(handle))
    found = Historian(client, WINDOW, Owners(), {"default": 1}).history()
    assert {request.headers["X-Scope-OrgID"] for request in seen} == {"team-a"}
    assert all(request.url.path.startswith("/prometheus/api/v1/query") for request in seen)
    assert found.missing["kube_replicaset_owner"] == "answered in part only"
    assert "answered in part only" in found.missing["container_cpu_usage_seconds_total"]
