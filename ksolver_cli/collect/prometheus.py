"""A client of the Prometheus HTTP API: Prometheus, Thanos, Mimir, Cortex, VictoriaMetrics.

Reads only (`/api/v1/query`, `/api/v1/query_range`). Long queries go by POST; ranges beyond the server's 11,000 points a
series are asked for in pieces; what may pass by itself (429, 502, 503, 504, a lost connection) is tried again.
"""

import logging
import ssl
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self

import httpx
import orjson

from ksolver_cli.collect.api.client import asked_pause
from ksolver_cli.collect.prometheus_answer import Answer, PrometheusError, merge_answers, read_answer
from ksolver_cli.collect.prometheus_settings import PrometheusSettings, SettingsError

log = logging.getLogger(__name__)

MAX_POINTS = 11_000
"""Points a series that Prometheus answers at most (`exceeded maximum resolution of 11,000 points per timeseries`)."""

_LONGEST_GET = 1_800
_TRY_AGAIN = frozenset({429, 502, 503, 504})
_TOO_LONG = frozenset({413, 414, 431})
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 20.0


class PrometheusClient:
    """Asks one server; use as a context manager. Every method raises PrometheusError."""

    def __init__(
        self,
        settings: PrometheusSettings,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] | None = None,
    ) -> None:
        self._settings = settings
        self._pause = pause or time.sleep
        self._http = httpx.Client(
            timeout=httpx.Timeout(settings.timeout_seconds, connect=min(10.0, settings.timeout_seconds)),
            verify=_trust(settings),
            headers={"Accept": "application/json", "User-Agent": "ksolver"},
            follow_redirects=True,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def query(self, promql: str, at: float | None = None) -> Answer:
        """Evaluate an expression at one moment (Unix seconds; the server's now when absent)."""
        moment = {} if at is None else {"time": _seconds(at)}
        return self._ask("query", {"query": promql, **moment})

    def query_range(self, promql: str, start: float, end: float, step: float) -> Answer:
        """Evaluate an expression every `step` seconds from start to end, both included, in as many pieces as needed."""
        pieces = []
        while start <= end:
            last = min(end, start + (MAX_POINTS - 1) * step)
            bounds = {"start": _seconds(start), "end": _seconds(last), "step": _seconds(step)}
            pieces.append(self._ask("query_range", {"query": promql, **bounds}))
            start += MAX_POINTS * step
        return merge_answers(pieces)

    def _ask(self, endpoint: str, parameters: Mapping[str, str]) -> Answer:
        if not self._settings.partial_answers:
            # Thanos' and VictoriaMetrics' words; others pass over what they do not know.
            parameters = {**parameters, "partial_response": "false", "deny_partial_response": "1"}
        response = self._send(endpoint, parameters)
        document = _decoded(response)
        if response.status_code in {401, 403}:
            raise PrometheusError(f"{self._settings.url} refused the credentials (HTTP {response.status_code})")
        if document is None:
            hint = "is the path prefix right, and does a login page stand before it?"
            raise PrometheusError(f"{self._settings.url} answered HTTP {response.status_code} without JSON; {hint}")
        if response.is_error and not _is_error_payload(document):
            raise PrometheusError(f"{self._settings.url} answered HTTP {response.status_code}")
        return read_answer(document)

    def _send(self, endpoint: str, parameters: Mapping[str, str]) -> httpx.Response:
        by_post = sum(map(len, parameters.values())) > _LONGEST_GET
        for attempt in range(1, self._settings.attempts + 1):
            try:
                response = self._once(endpoint, parameters, by_post=by_post)
            except httpx.TransportError as error:
                if attempt == self._settings.attempts or isinstance(error, httpx.UnsupportedProtocol):
                    raise PrometheusError(f"cannot reach {self._settings.url}: {_reason(error)}") from error
                self._wait(attempt, None, _reason(error))
                continue
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise PrometheusError(f"cannot read {self._settings.url}: {_reason(error)}") from error
            # GET first: read-only proxies refuse POST. A server or proxy that finds the URL too long gets the body.
            if response.status_code in _TOO_LONG and not by_post:
                by_post = True
            elif response.status_code not in _TRY_AGAIN:
                return response
            else:
                self._wait(attempt, response.headers.get("Retry-After"), f"HTTP {response.status_code}")
        return response

    def _once(self, endpoint: str, parameters: Mapping[str, str], *, by_post: bool) -> httpx.Response:
        url = f"{self._settings.url}/api/v1/{endpoint}"
        headers, auth = self._credentials()
        payload = dict(parameters)
        if by_post:
            return self._http.request("POST", url, data=payload, headers=headers, auth=auth)
        return self._http.request("GET", url, params=payload, headers=headers, auth=auth)

    def _credentials(self) -> tuple[dict[str, str], httpx.Auth | None]:
        settings = self._settings
        headers = {"X-Scope-OrgID": settings.tenant} if settings.tenant else {}
        try:
            secret = settings.secret.reveal() if settings.secret is not None else ""
        except SettingsError as error:
            raise PrometheusError(str(error)) from error
        if settings.username is not None:
            return headers, httpx.BasicAuth(settings.username, secret)
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        return headers, None

    def _wait(self, attempt: int, retry_after: str | None, reason: str) -> None:
        if attempt == self._settings.attempts:
            return
        pause = max(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1), asked_pause(retry_after))
        pause = min(pause, _LONGEST_PAUSE_SECONDS)
        log.info("%s: %s; trying again in %.1f s", self._settings.url, reason, pause)
        self._pause(pause)


def _trust(settings: PrometheusSettings) -> ssl.SSLContext:
    try:
        # The system's store and SSL_CERT_FILE count, for that is where private authorities are installed.
        context = ssl.create_default_context(cafile=str(settings.ca_file) if settings.ca_file else None)
        if settings.ca_file is not None:
            context.load_default_certs()
    except (OSError, ssl.SSLError) as error:
        raise PrometheusError(f"cannot read the CA file {settings.ca_file}: {error}") from error
    if settings.insecure_skip_tls_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _decoded(response: httpx.Response) -> object:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None


def _is_error_payload(document: object) -> bool:
    return isinstance(document, dict) and document.get("status") == "error"


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    return str(error) or type(error).__name__


def _seconds(moment: float) -> str:
    return f"{moment:.3f}".rstrip("0").rstrip(".")
