"""Requests to an API server: reads, and the one question about one's own rights. Nothing else can be sent.

What may pass by itself (429, 5xx, a lost connection) is tried again with growing pauses or after `Retry-After`; refused
credentials are renewed once.
"""

import email.utils
import json
import logging
import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import httpx
import orjson

from ksolver_cli.collect.access.settings import Access
from ksolver_cli.collect.api.connect import http_client
from ksolver_cli.collect.errors import ApiError, Failure

log = logging.getLogger(__name__)

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
ATTEMPTS = 5
_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 30.0
_SHOWN = 200
_BY_STATUS = {
    401: Failure.UNAUTHORIZED,
    403: Failure.FORBIDDEN,
    404: Failure.NOT_FOUND,
    405: Failure.NOT_FOUND,
    410: Failure.GONE,
}

Query = Mapping[str, str]


class ApiClient:
    """Reads from one API server; use as a context manager. Methods raise ApiError; credentials raise CollectError."""

    def __init__(
        self,
        access: Access,
        *,
        seconds: float = 60.0,
        pause: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.access = access
        self._seconds = seconds
        self._pause = pause
        self._transport = transport
        self._http: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        if self._http is not None:
            self._http.close()
            self._http = None

    def get(self, path: str, query: Query | None = None, deadline: float | None = None) -> object:
        """Return the decoded JSON at a path. `deadline` is a moment of the monotonic clock that ends all attempts."""
        return _decoded(self._send("GET", path, query or {}, None, deadline))

    def get_raw(self, path: str, query: Query | None = None) -> bytes:
        """Return the bytes at a path, for what is no API object (`/readyz`, another server behind the API server)."""
        return self._send("GET", path, query or {}, None, None).content

    def review(self, attributes: Mapping[str, str]) -> bool:
        """Return whether we may do what `attributes` (verb, group, resource, namespace) say. Creates nothing: the
        server answers and forgets a SelfSubjectAccessReview.
        """
        question = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": dict(attributes)},
        }
        answer = _decoded(self._send("POST", REVIEWS, {}, json.dumps(question).encode(), None))
        status = answer.get("status") if isinstance(answer, dict) else None
        return isinstance(status, dict) and status.get("allowed") is True

    def _send(self, method: str, path: str, query: Query, body: bytes | None, deadline: float | None) -> httpx.Response:
        renewed = False
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self._once(method, path, query, body, deadline)
            except ApiError as error:
                if attempt == ATTEMPTS or error.failure in (Failure.UNTRUSTED, Failure.NOT_JSON):
                    raise
                self._wait(attempt, None, deadline, error)
                continue
            if response.status_code == 401 and not renewed and self.access.credentials.renew():
                renewed = True
                self.close()
                continue
            if response.is_success:
                return response
            refusal = _refusal(response)
            if response.status_code not in _TRY_AGAIN or attempt == ATTEMPTS:
                raise refusal
            self._wait(attempt, response.headers.get("Retry-After"), deadline, refusal)
        raise ApiError(Failure.UNAUTHORIZED, "also after renewing them")

    def _once(self, method: str, path: str, query: Query, body: bytes | None, deadline: float | None) -> httpx.Response:
        if self._http is None:
            self._http = http_client(self.access, self._transport)
        header = self.access.credentials.header()
        headers = {"Authorization": header} if header is not None else {}
        if body is not None:
            headers["Content-Type"] = "application/json"
        name = self.access.trust.server_name
        with _failures_told():
            return self._http.request(
                method,
                f"{self.access.server}{path}",
                params=dict(query),
                content=body,
                headers=headers,
                timeout=self._timeout(deadline),
                extensions={"sni_hostname": name} if name else None,
            )

    def _timeout(self, deadline: float | None) -> httpx.Timeout:
        seconds = self._seconds if deadline is None else min(self._seconds, deadline - time.monotonic())
        if seconds <= 0:
            raise ApiError(Failure.TIMEOUT)
        return httpx.Timeout(seconds, connect=min(15.0, seconds))

    def _wait(self, attempt: int, retry_after: str | None, deadline: float | None, error: ApiError) -> None:
        pause = _FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)  # noqa: S311 - spreads clients out
        pause = min(max(pause, asked_pause(retry_after)), _LONGEST_PAUSE_SECONDS)
        if deadline is not None and time.monotonic() + pause >= deadline:
            raise error
        log.info("%s; trying again in %.1f s", error, pause)
        self._pause(pause)


@contextmanager
def _failures_told() -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException as error:
        raise ApiError(Failure.TIMEOUT) from error
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError) as error:
        raise ApiError(Failure.CUT_SHORT, _short(str(error))) from error
    except httpx.TransportError as error:
        failure = Failure.UNTRUSTED if _is_certificate_error(error) else Failure.UNREACHABLE
        raise ApiError(failure, _short(str(error) or type(error).__name__)) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ApiError(Failure.UNREACHABLE, _short(str(error))) from error


def _is_certificate_error(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def asked_pause(retry_after: str | None) -> float:
    """Seconds that a Retry-After header asks for: a number, or the moment until which to wait; 0 for anything else."""
    try:
        return float(int(retry_after or "0"))
    except ValueError:
        pass
    try:
        return email.utils.parsedate_to_datetime(retry_after or "").timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0


def _decoded(response: httpx.Response) -> object:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError as error:
        kind = response.headers.get("Content-Type", "no content type").split(";")[0]
        detail = f"{_short(kind)} from {response.url.host}; a login page or a proxy stands before the API server?"
        raise ApiError(Failure.NOT_JSON, detail, response.status_code) from error


def _refusal(response: httpx.Response) -> ApiError:
    if response.has_redirect_location:
        detail = f"it sends us elsewhere (HTTP {response.status_code}); a login page or a proxy before the API server?"
        return ApiError(Failure.NOT_JSON, detail, response.status_code)
    try:
        document = orjson.loads(response.content)
    except orjson.JSONDecodeError:
        document = None
    said = document.get("message") if isinstance(document, dict) else None
    failure = _BY_STATUS.get(response.status_code, Failure.SERVER)
    detail = _short(said) if isinstance(said, str) else f"HTTP {response.status_code}"
    return ApiError(failure, detail, response.status_code)


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"
