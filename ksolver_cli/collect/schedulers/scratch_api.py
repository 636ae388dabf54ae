"""Requests to a control plane named by a kubeconfig: small, synchronous, tried again where that can help."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.access.settings import Access, Connection
from ksolver_cli.collect.api.connect import http_client
from ksolver_cli.collect.errors import CollectError
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

    def __init__(self, access: Access, http: httpx.Client, pause: Callable[[float], None] = time.sleep) -> None:
        self._access = access
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
        path = object_path(plural, raw)
        return self._send("PATCH", f"{path}/{part}" if part else path, change)

    def delete(self, plural: str, raw: RawObject) -> None:
        """Delete an object now, whatever finalizers it has; one that is gone is fine."""
        path = object_path(plural, raw)
        try:
            self._send("DELETE", path, NOW)
            self._send("PATCH", path, {"metadata": {"finalizers": None}})
        except ApiRefusedError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise

    def _send(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        content = None if body is None else orjson.dumps(body)
        trouble = ApiRefusedError(f"{method} {path}")
        for attempt in range(_ATTEMPTS):
            if attempt:
                self._pause(_PAUSE_SECONDS * 2 ** (attempt - 1))
            try:
                reply = self._once(method, path, content)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                trouble = ApiRefusedError(f"{method} {path}: {str(error) or type(error).__name__}")
                continue
            if reply.is_success:
                return _document(reply, f"{method} {path}")
            trouble = ApiRefusedError(f"{method} {path}: {_message(reply)}", reply.status_code)
            if reply.status_code not in _TRY_AGAIN:
                break
        raise trouble

    def _once(self, method: str, path: str, content: bytes | None) -> httpx.Response:
        reply = self._request(method, path, content)
        if reply.status_code == httpx.codes.UNAUTHORIZED and self._access.credentials.renew():
            reply = self._request(method, path, content)
        return reply

    def _request(self, method: str, path: str, content: bytes | None) -> httpx.Response:
        headers = {"Content-Type": MERGE_PATCH if method == "PATCH" else "application/json"}
        try:
            header = self._access.credentials.header()
        except CollectError as error:
            raise ApiRefusedError(error.what) from error
        if header is not None:
            headers["Authorization"] = header
        name = self._access.trust.server_name
        extensions = {"sni_hostname": name} if name else None
        url = f"{self._access.server}{path}"
        return self._http.request(method, url, content=content, headers=headers, extensions=extensions)


def _document(reply: httpx.Response, what: str) -> dict[str, Any]:
    try:
        document = orjson.loads(reply.content or b"{}")
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise ApiRefusedError(f"{what}: the answer is no JSON object; is it an API server?")
    return document


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


def object_path(plural: str, raw: RawObject) -> str:
    """Path of an object, whatever characters its name has."""
    return f"{collection(plural, raw)}/{quote(str(raw['metadata']['name']), safe='')}"


def connect(kubeconfig: Path, context: str | None, seconds: float) -> ScratchApi:
    """Reach the server of a kubeconfig's context (its current one by default); raises SchedulerUnusableError."""
    try:
        access = find_access(Connection(kubeconfig=str(kubeconfig), context=context))
        http = http_client(access)
    except CollectError as error:
        hint = error.hint.replace("--kubeconfig", "--scheduler-kubeconfig").replace("--context", "--scheduler-context")
        raise SchedulerUnusableError(f"--scheduler-kubeconfig: {error.what}", hint) from error
    http.timeout = httpx.Timeout(max(seconds, 5.0), connect=5.0)
    return ScratchApi(access, http)
