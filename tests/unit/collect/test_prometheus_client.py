"""The client: credentials, retries, long queries, split ranges, and what it says when things go wrong."""

import logging
from pathlib import Path

import httpx
import pytest

from ksolver_cli.collect.prometheus import MAX_POINTS, PrometheusClient
from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.collect.prometheus_settings import (
    PrometheusFlags,
    PrometheusSettings,
    Secret,
    SettingsError,
    settings_from,
    split_url,
)
from tests.unit.collect.prometheus_fake import Asked, FakePrometheus, Reply, fake_prometheus, vector

SECRET = "s3cr3t-t0ken"


def client(fake: FakePrometheus, pauses: list[float] | None = None, **settings: object) -> PrometheusClient:
    made = PrometheusSettings(**{"url": fake.url, **settings})  # type: ignore[arg-type]
    return PrometheusClient(made, pause=(pauses if pauses is not None else []).append)


def test_an_instant_query_goes_by_get_with_its_time() -> None:
    with fake_prometheus(lambda _: vector(({"a": "b"}, 3))) as fake, client(fake) as prometheus:
        answer = prometheus.query("up", at=1764460800.25)
    assert [(series.labels, series.last) for series in answer.series] == [({"a": "b"}, 3.0)]
    (asked,) = fake.asked
    assert (asked.method, asked.path) == ("GET", "/api/v1/query")
    assert asked.parameters == {
        "query": "up",
        "time": "1764460800.25",
        "partial_response": "false",
        "deny_partial_response": "1",
    }
    assert "Authorization" not in asked.headers


def test_partial_answers_are_asked_for_only_when_wanted() -> None:
    with fake_prometheus(lambda _: vector()) as fake, client(fake, partial_answers=True) as prometheus:
        prometheus.query("up")
    assert fake.asked[0].parameters == {"query": "up"}


def test_a_long_query_goes_by_post() -> None:
    query = f'up{{pod=~"{"|".join(f"pod-{n}" for n in range(400))}"}}'
    with fake_prometheus(lambda _: vector()) as fake, client(fake) as prometheus:
        prometheus.query(query)
    assert [(asked.method, asked.query) for asked in fake.asked] == [("POST", query)]


def test_a_get_that_a_proxy_finds_too_long_goes_again_by_post() -> None:
    with (
        fake_prometheus(lambda asked: Reply(status=414, body=b"") if asked.method == "GET" else vector()) as fake,
        client(fake) as prometheus,
    ):
        prometheus.query("up")
    assert [asked.method for asked in fake.asked] == ["GET", "POST"]


def test_bearer_basic_tenant_and_path_prefix(tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    token_file.write_text(f"{SECRET}\n")
    with fake_prometheus(lambda _: vector()) as fake:
        with client(fake, url=f"{fake.url}/prometheus", secret=Secret(file=token_file), tenant="team-a") as prometheus:
            prometheus.query("up")
            token_file.write_text("rotated")
            prometheus.query("up")
        with client(fake, secret=Secret("pw"), username="me") as prometheus:
            prometheus.query("up")
    first, second, third = fake.asked
    assert first.path == "/prometheus/api/v1/query"
    assert (first.headers["Authorization"], first.headers["X-Scope-OrgID"]) == (f"Bearer {SECRET}", "team-a")
    assert second.headers["Authorization"] == "Bearer rotated"
    assert third.headers["Authorization"] == "Basic bWU6cHc="


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_may_pass_is_tried_again_with_growing_pauses(status: int) -> None:
    pauses: list[float] = []
    replies = [Reply(status=status, body=b"busy"), Reply(status=status, body=b"busy"), Reply(vector(({}, 1)))]
    with fake_prometheus(lambda _: replies.pop(0)) as fake, client(fake, pauses) as prometheus:
        assert prometheus.query("up").series[0].last == 1
    assert pauses == [0.5, 1.0]


def test_retry_after_is_honoured_within_reason() -> None:
    pauses: list[float] = []
    replies = [Reply(status=429, headers={"Retry-After": value}) for value in ("3", "86400", "soon")]
    with fake_prometheus(lambda _: replies.pop(0) if replies else vector()) as fake, client(fake, pauses) as prometheus:
        prometheus.query("up")
    assert pauses == [3.0, 20.0, 2.0]


def test_it_gives_up_after_its_attempts() -> None:
    with (
        fake_prometheus(lambda _: Reply(status=503, body=b"down")) as fake,
        client(fake, attempts=3) as prometheus,
        pytest.raises(PrometheusError, match="HTTP 503"),
    ):
        prometheus.query("up")
    assert len(fake.asked) == 3


def test_an_error_payload_is_not_tried_again_and_keeps_its_words() -> None:
    error = {"status": "error", "errorType": "bad_data", "error": "parse error"}
    with (
        fake_prometheus(lambda _: Reply(error, status=400)) as fake,
        client(fake) as prometheus,
        pytest.raises(PrometheusError, match="bad_data: parse error"),
    ):
        prometheus.query("up{")
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(body=b"<html>login</html>"), "path prefix"),
        (Reply(status=404, body=b"not found"), "HTTP 404"),
        (Reply(status=401, body=b"no"), "refused the credentials"),
        (Reply({"error": "denied"}, status=403), "refused the credentials"),
        (Reply({"message": "odd"}, status=500), "HTTP 500"),
        (Reply([1, 2]), "not a Prometheus API object"),
        (Reply({"status": "success"}), "not a Prometheus API object"),
    ],
)
def test_what_is_no_answer_is_an_error(reply: Reply, words: str) -> None:
    with (
        fake_prometheus(lambda _: reply) as fake,
        client(fake) as prometheus,
        pytest.raises(PrometheusError, match=words),
    ):
        prometheus.query("up")


def test_a_dead_address_is_an_error_after_tries() -> None:
    pauses: list[float] = []
    settings = PrometheusSettings("http://127.0.0.1:1", attempts=2)
    with (
        PrometheusClient(settings, pause=pauses.append) as prometheus,
        pytest.raises(PrometheusError, match="cannot reach"),
    ):
        prometheus.query("up")
    assert pauses == [0.5]


def test_a_slow_server_is_no_answer_in_time() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("slow", request=request)

    settings = PrometheusSettings("http://p", attempts=1)
    with (
        PrometheusClient(settings, transport=httpx.MockTransport(slow)) as prometheus,
        pytest.raises(PrometheusError, match="no answer in time"),
    ):
        prometheus.query("up")


@pytest.mark.parametrize("points", [1, MAX_POINTS, MAX_POINTS + 1, 3 * MAX_POINTS])
def test_a_range_is_split_so_that_every_step_is_asked_once(points: int) -> None:
    step, start = 15.0, 1_764_460_800.0

    def answer(asked: Asked) -> object:
        first, last = float(asked.parameters["start"]), float(asked.parameters["end"])
        count = int((last - first) / step) + 1
        assert count <= MAX_POINTS
        values = [[first + step * n, str(n)] for n in range(count)]
        return {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}, "values": values}]}}

    with fake_prometheus(answer) as fake, client(fake) as prometheus:
        found = prometheus.query_range("up", start, start + (points - 1) * step, step)
    times = [time for time, _ in found.series[0].samples]
    assert times == [start + step * n for n in range(points)]
    assert len(fake.asked) == -(-points // MAX_POINTS)


def test_secrets_are_in_no_repr_log_or_error(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    env = {"KSOLVER_PROMETHEUS_URL": f"http://me:{SECRET}@127.0.0.1:1/x"}
    settings = settings_from(PrometheusFlags(), env)
    assert settings.secret is not None
    assert settings.secret.reveal() == SECRET
    with (
        PrometheusClient(settings, pause=lambda _: None) as prometheus,
        pytest.raises(PrometheusError) as caught,
    ):
        prometheus.query("up")
    assert SECRET not in f"{settings!r}{caught.value}{caplog.text}"


@pytest.mark.parametrize("bad", ["line\nbreak", "ümlaut", "  "])
def test_a_token_no_header_can_carry_is_refused_without_being_shown(bad: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Secret(bad).reveal()
    assert bad.strip() == "" or bad not in str(caught.value)


def test_flags_win_over_the_environment(tmp_path: Path) -> None:
    env = {
        "KSOLVER_PROMETHEUS_URL": "http://env:9090",
        "KSOLVER_PROMETHEUS_USERNAME": "env",
        "KSOLVER_PROMETHEUS_TOKEN": "token",
        "KSOLVER_PROMETHEUS_TENANT": "t",
        "KSOLVER_PROMETHEUS_INSECURE_SKIP_TLS_VERIFY": "true",
    }
    from_env = settings_from(PrometheusFlags(), env)
    assert (from_env.url, from_env.username, from_env.tenant) == ("http://env:9090", "env", "t")
    assert from_env.insecure_skip_tls_verify
    file = tmp_path / "f"
    flags = PrometheusFlags(url="https://flag/p/", username="me", token_file=file, timeout_seconds=5)
    from_flags = settings_from(flags, env)
    assert (from_flags.url, from_flags.username, from_flags.timeout_seconds) == ("https://flag/p", "me", 5)
    assert from_flags.secret == Secret(file=file)


@pytest.mark.parametrize("url", ["", "prometheus:9090", "ftp://h", "http://", "http://h:port"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(SettingsError):
        settings_from(PrometheusFlags(url=url), {})


def test_a_password_in_the_flag_is_refused() -> None:
    with pytest.raises(SettingsError, match="KSOLVER_PROMETHEUS_TOKEN"):
        settings_from(PrometheusFlags(url=f"http://me:{SECRET}@h"), {})


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://h:9090/", "http://h:9090"),
        ("https://h/prometheus/api/v1/query", "https://h/prometheus"),
        ("http://[::1]:9090/select/0/prometheus/", "http://[::1]:9090/select/0/prometheus"),
        ("http://h/p?x=1#y", "http://h/p"),
    ],
)
def test_the_base_of_an_address(url: str, base: str) -> None:
    assert split_url(url)[0] == base


def test_an_unreadable_ca_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(PrometheusError, match="CA file"):
        PrometheusClient(PrometheusSettings("https://h", ca_file=tmp_path / "none.pem"))
