"""kube-scheduler-simulator as a source of verdicts, over its HTTP API (`/api/v1/reset`, `/export`, `/import`).

One node and one pod are imported at a time, so that Filter alone decides: a bound pod passed it, and a pod with the
condition PodScheduled=False/Unschedulable did not. Everything else is no answer.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self

import httpx
import orjson

from ksolver_cli.collect.access.proxies import proxy_for
from ksolver_cli.collect.access.settings import Trust
from ksolver_cli.collect.api.connect import ssl_context
from ksolver_cli.collect.schedulers.exchange import (
    DEFAULT_SCHEDULER,
    Answer,
    Question,
    Said,
    SchedulerUnusableError,
    Stop,
    unanswered,
    verdict_of,
)
from ksolver_cli.collect.schedulers.filter_result import filter_result
from ksolver_cli.snapshot.model import RawObject

log = logging.getLogger(__name__)

KINDS: Mapping[str, str] = {
    "priorityclasses": "priorityClasses",
    "namespaces": "namespaces",
    "storageclasses": "storageClasses",
    "persistentvolumeclaims": "pvcs",
    "persistentvolumes": "pvs",
}
"""Kinds that the import carries beside nodes and pods, in the order in which they have to exist, and their keys."""

_ATTEMPTS = 3
_HOPELESS_AFTER = 3
"""Pairs in a row without contact after which each further pair is tried only once."""


@dataclass(frozen=True)
class SimulatorOptions:
    """Where the simulator is, how long one pair may take, and how long a refusal must stand that may be too early."""

    url: str
    seconds: float = 10.0
    settle_seconds: float = 3.0
    poll_seconds: float = 0.05
    retry_pause_seconds: float = 0.5


class _NoContactError(Exception):
    """A request got no usable reply, after all attempts."""


class Simulator:
    """Asks one simulator; use as a context manager. It is emptied before every question."""

    source = "simulator"
    version = ""

    def __init__(
        self,
        options: SimulatorOptions,
        *,
        stop: Stop = lambda: False,
        pause: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._options = options
        self._stop = stop
        self._pause = pause
        self._lost = 0
        self._config: Mapping[str, Any] | None = None
        self._http = _client(options, transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def prepare(self, question: Question) -> Question:
        """The world that the import can carry: no devices, no CSI facts of nodes."""
        return question.only(KINDS)

    def ask(self, question: Question) -> Answer:
        """Put one question; a failed request is tried again, then there is no answer."""
        try:
            self._empty()
            self._send("POST", "/api/v1/import", self._import_of(self.prepare(question)))
            answer = self._wait_for(question)
        except _NoContactError as error:
            self._lost += 1
            return Answer(Said.NO_ANSWER, str(error))
        self._lost = 0
        return answer

    def _empty(self) -> None:
        self._send("PUT", "/api/v1/reset")
        deadline = time.monotonic() + self._options.seconds
        while True:
            state = self._export()
            if not state.get("pods") and not state.get("nodes"):
                config = state.get("schedulerConfig")
                self._config = config if isinstance(config, Mapping) else None
                return
            if time.monotonic() > deadline or self._stop():
                raise _NoContactError("the simulator was not empty in time after a reset")
            self._pause(self._options.poll_seconds)

    def _import_of(self, question: Question) -> dict[str, object]:
        body: dict[str, object] = {key: list(question.beside.get(kind, ())) for kind, key in KINDS.items()}
        spec = {**question.pod["spec"], "schedulerName": self._scheduler_name()}
        body["nodes"] = [question.node]
        body["pods"] = [{**question.pod, "spec": spec}]
        body["schedulerConfig"] = self._config
        return body

    def _scheduler_name(self) -> str:
        profiles = self._config.get("profiles") if self._config else None
        first = profiles[0] if isinstance(profiles, list) and profiles else None
        name = first.get("schedulerName") if isinstance(first, Mapping) else None
        return str(name or DEFAULT_SCHEDULER)

    def _wait_for(self, question: Question) -> Answer:
        """Poll until the pod has a verdict.

        A pod with claims may be refused before its volumes are there; such a refusal counts once it stood for a while.
        """
        settle = self._options.settle_seconds if question.has_claims else 0.0
        deadline = time.monotonic() + max(self._options.seconds, settle)
        refused_at: float | None = None
        pod: RawObject = {}
        while True:
            pod = _pod_in(self._export(), question) or pod
            answer = _with_reason(verdict_of(pod, question.node_name), pod, question.node_name)
            now = time.monotonic()
            if answer is not None and answer.said is Said.PASS:
                return answer
            refused_at = None if answer is None else refused_at or now
            if answer is not None and refused_at is not None and now - refused_at >= settle:
                return answer
            if now > deadline or self._stop():
                return _in_the_end(pod, question.node_name)
            self._pause(self._options.poll_seconds)

    def _export(self) -> Mapping[str, Any]:
        reply = self._send("GET", "/api/v1/export")
        try:
            document = orjson.loads(reply.content)
        except orjson.JSONDecodeError as error:
            raise _NoContactError("GET /api/v1/export: the answer is no JSON") from error
        if not isinstance(document, dict):
            raise _NoContactError("GET /api/v1/export: the answer is no object")
        return document

    def _send(self, method: str, path: str, body: object = None) -> httpx.Response:
        content = None if body is None else orjson.dumps(body)
        headers = {"Content-Type": "application/json"} if content is not None else {}
        attempts = 1 if self._lost >= _HOPELESS_AFTER else _ATTEMPTS
        trouble = ""
        for attempt in range(attempts):
            if attempt:
                self._pause(self._options.retry_pause_seconds * 2 ** (attempt - 1))
            try:
                reply = self._http.request(method, path, content=content, headers=headers)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                trouble = f"{method} {path}: {str(error) or type(error).__name__}"
            else:
                if reply.is_success:
                    return reply
                trouble = f"{method} {path}: HTTP {reply.status_code}"
            log.info("simulator: %s", trouble)
            if self._stop():
                break
        raise _NoContactError(trouble)


def _client(options: SimulatorOptions, transport: httpx.BaseTransport | None) -> httpx.Client:
    """An HTTP client that goes through a proxy where one leads to the simulator; raises SchedulerUnusableError."""
    proxy = proxy_for(options.url, os.environ) if transport is None else None
    try:
        return httpx.Client(
            base_url=options.url.rstrip("/").removesuffix("/api/v1"),
            timeout=httpx.Timeout(max(options.seconds, 1.0), connect=min(5.0, max(options.seconds, 1.0))),
            headers={"User-Agent": "ksolver"},
            verify=ssl_context(Trust(), None),
            proxy=proxy,
            transport=transport,
            trust_env=False,
        )
    except (ValueError, ImportError, httpx.InvalidURL) as error:
        what = "the proxy to the simulator cannot be used"
        hint = "give an http:// or https:// proxy (HTTP_PROXY, HTTPS_PROXY), or name the host in NO_PROXY"
        raise SchedulerUnusableError(what, hint) from error


def _pod_in(state: Mapping[str, Any], question: Question) -> RawObject | None:
    pods = state.get("pods")
    for pod in pods if isinstance(pods, list) else ():
        metadata = pod.get("metadata") if isinstance(pod, Mapping) else None
        if not isinstance(metadata, Mapping) or metadata.get("name") != question.pod_name:
            continue
        if (metadata.get("namespace") or "default") == question.namespace:
            return dict(pod)
    return None


def _with_reason(answer: Answer | None, pod: RawObject, node_name: str) -> Answer | None:
    if answer is None or answer.said is Said.PASS:
        return answer
    objections = filter_result(pod, node_name)
    return replace(answer, reason="; ".join(objections)) if objections else answer


def _in_the_end(pod: RawObject, node_name: str) -> Answer:
    """What a pod says that was neither bound nor refused: the Filter phase itself may have been recorded."""
    if filter_result(pod, node_name) == ():
        return Answer(Said.PASS, "every Filter plugin passed; the pod was not bound")
    return unanswered(pod) if pod else Answer(Said.NO_ANSWER, "the pod did not appear in the export")
