"""Requests to a control plane named by a kubeconfig: small, synchronous, tried again where that can help."""

import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import orjson
from kubernetes import config
from kubernetes.client import Configuration
from kubernetes.config import ConfigException

from ksolver_cli.collect.schedulers.exchange import SchedulerUnusableError
from ksolver_cli.snapshot.kinds import by_plural
from ksolver_cli.snapshot.model import RawObject

_ATTEMPTS = 3
_PAUSE_SECONDS = 0.5
_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})
MERGE_PATCH = "application/merge-patch+json"
NOW = {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0, "propagationPolicy": "Background"}


class ApiRefusedError(Exception):
    """A request failed for good: which one, and what the server said."""

    def __init__(self, what: str, status: int = 0) -> None:
        super().__init__(what)
        self.status = status


class ScratchApi:
    """One API server. Objects are plain JSON; paths come from an object's apiVersion and its plural kind."""

    def __init__(
        self,
        http: httpx.Client,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = http
        self._pause = pause

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, path: str) -> dict[str, Any]:
        """The object or list at a path."""
        return self._send("GET", path)

    def create(self, plural: str, raw: RawObject) -> dict[str, Any]:
        """Create an object; what the server made of it."""
        return self._send("POST", collection(plural, raw), raw)

    def patch(self, plural: str, raw: RawObject, change: RawObject, part: str = "") -> dict[str, Any]:
        """Merge a change into an object, or into a part of it such as its status."""
        path = f"{collection(plural, raw)}/{raw['metadata']['name']}"
        return self._send("PATCH", f"{path}/{part}" if part else path, change)

    def delete(self, plural: str, raw: RawObject) -> None:
        """Delete an object now, whatever finalizers it has; one that is gone is fine."""
        path = f"{collection(plural, raw)}/{raw['metadata']['name']}"
        try:
            self._send("DELETE", path, NOW)
            self._send("PATCH", path, {"metadata": {"finalizers": None}})
        except ApiRefusedError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise

    def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        content = None if body is None else orjson.dumps(body)
        headers = {"Content-Type": MERGE_PATCH if method == "PATCH" else "application/json"}
        trouble = ApiRefusedError(f"{method} {path}")
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._pause(_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                reply = self._http.request(method, path, content=content, headers=headers)
            except httpx.HTTPError as error:
                trouble = ApiRefusedError(f"{method} {path}: {str(error) or type(error).__name__}")
                continue
            if reply.is_success:
                document: dict[str, Any] = orjson.loads(reply.content) if reply.content else {}
                return document
            trouble = ApiRefusedError(f"{method} {path}: {_message(reply)}", reply.status_code)
            if reply.status_code not in _TRY_AGAIN:
                break
        raise trouble


def _message(reply: httpx.Response) -> str:
    try:
        document = orjson.loads(reply.content)
    except orjson.JSONDecodeError:
        document = None
    said = document.get("message") if isinstance(document, Mapping) else None
    return str(said or f"HTTP {reply.status_code}")


def collection(plural: str, raw: RawObject) -> str:
    """Path of the list that an object belongs to."""
    version = str(raw.get("apiVersion") or "v1")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    kind = by_plural(plural)
    space = raw["metadata"].get("namespace")
    return f"{root}/namespaces/{space}/{plural}" if space and (kind is None or kind.namespaced) else f"{root}/{plural}"


def connect(kubeconfig: Path, context: str | None, seconds: float) -> ScratchApi:
    """Reach the server of a kubeconfig's context (its current one by default); raises SchedulerUnusableError."""
    settings: Any = Configuration()
    try:
        load: Callable[..., None] = config.load_kube_config
        load(str(kubeconfig), context=context, client_configuration=settings)
    except (ConfigException, OSError, ValueError) as error:
        raise SchedulerUnusableError(
            f"{kubeconfig}: {error}", "give --scheduler-kubeconfig the file of a disposable control plane"
        ) from error
    key_pair = (settings.cert_file, settings.key_file) if settings.cert_file else None
    headers = {entry["key"]: entry["value"] for entry in settings.auth_settings().values() if entry.get("value")}
    http = httpx.Client(
        base_url=settings.host,
        headers={**headers, "Accept": "application/json", "User-Agent": "ksolver"},
        verify=_trust(settings, key_pair),
        timeout=httpx.Timeout(max(seconds, 5.0), connect=5.0),
        proxy=settings.proxy or None,
        trust_env=False,
    )
    return ScratchApi(http)


def _trust(settings: Any, key_pair: tuple[str, str] | None) -> ssl.SSLContext:
    # The client library has written what a kubeconfig holds inline to files of its own.
    context = ssl.create_default_context(cafile=settings.ssl_ca_cert)
    if not settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if key_pair is not None:
        context.load_cert_chain(*key_pair)
    return context
