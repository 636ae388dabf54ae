"""A stand-in for an API server that speaks discovery, lists with continue tokens, and reviews of rights."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from ksolver_cli.collect.access.credentials import StaticCredentials
from ksolver_cli.collect.access.settings import Access, Credentials
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.discovery import ALSO
from ksolver_cli.snapshot.kinds import KINDS, by_plural

Answer = tuple[int, dict[str, str], bytes]
Fault = Callable[["Request"], Answer | None]
JSON = {"Content-Type": "application/json"}
VERSIONS = {"": "v1", "apps": "v1", "batch": "v1", "autoscaling": "v2", "policy": "v1", "karpenter.sh": "v1"}


@dataclass(frozen=True)
class Request:
    """What was asked."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


def status(code: int, message: str = "no", **headers: str) -> Answer:
    """An API server's refusal."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code}
    return code, {**JSON, **headers}, json.dumps(body).encode()


def answer(document: object) -> Answer:
    """A good answer."""
    return 200, dict(JSON), json.dumps(document).encode()


@dataclass
class ApiServer:
    """Objects by our plural kind; kinds that are no key are served empty, unless their group is not in `groups`."""

    objects: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=lambda: dict(VERSIONS))
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    version: str = "v1.36.3"

    def respond(self, request: Request) -> Answer:
        """Answer a request; the first fault that has an answer wins."""
        self.requests.append(request)
        for fault in self.faults:
            given = fault(request)
            if given is not None:
                return given
        if request.method == "POST" and request.path.endswith("/selfsubjectaccessreviews"):
            return 201, dict(JSON), json.dumps({"status": {"allowed": True}}).encode()
        if request.method != "GET":
            return status(405)
        return self._get(request)

    def _get(self, request: Request) -> Answer:
        if request.path == "/version":
            return answer({"gitVersion": self.version})
        if request.path == "/apis":
            groups = [
                {"name": g, "versions": [{"version": v}], "preferredVersion": {"version": v}}
                for g, v in self.groups.items()
                if g
            ]
            return answer({"kind": "APIGroupList", "groups": groups})
        parts = request.path.strip("/").split("/")
        group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
        if self.groups.get(group) != version:
            return status(404)
        if not rest:
            return answer({"kind": "APIResourceList", "resources": self._resources(group)})
        namespace = rest[1] if rest[0] == "namespaces" and len(rest) == 3 else None
        return self._list(group, rest[-1], namespace, request.query)

    def _resources(self, group: str) -> list[dict[str, object]]:
        kinds = (kind for kind in KINDS if kind.group == group)
        return [
            {"name": ALSO.get(k.plural, k.plural), "namespaced": k.namespaced, "verbs": ["get", "list"]} for k in kinds
        ]

    def _list(self, group: str, plural: str, namespace: str | None, query: Mapping[str, str]) -> Answer:
        kind = next((k for k in KINDS if k.group == group and ALSO.get(k.plural, k.plural) == plural), None)
        if kind is None:
            return status(404)
        items = self.objects.get(kind.plural, [])
        if namespace is not None:
            items = [item for item in items if item["metadata"].get("namespace") == namespace]
        start, limit = int(query.get("continue", "0") or 0), int(query.get("limit", "0") or 0)
        page = items[start : start + limit] if limit else items
        left = len(items) - start - len(page)
        metadata: dict[str, object] = {"resourceVersion": "1"}
        if left:
            metadata |= {"continue": str(start + len(page)), "remainingItemCount": left}
        return answer({"kind": f"{kind.kind}List", "apiVersion": "v1", "metadata": metadata, "items": page})

    def transport(self) -> httpx.MockTransport:
        """The server without a socket."""

        def handle(request: httpx.Request) -> httpx.Response:
            parts = urlsplit(str(request.url))
            query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
            asked = Request(request.method, parts.path, query, dict(request.headers), request.content)
            code, headers, body = self.respond(asked)
            raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
            return httpx.Response(code, headers=raw, content=body)

        return httpx.MockTransport(handle)

    def client(self, credentials: Credentials | None = None, pauses: list[float] | None = None) -> ApiClient:
        """A client of it; pauses are noted and not waited for."""
        noted = pauses if pauses is not None else []
        access = Access("http://api.test", "test", credentials or StaticCredentials())
        return ApiClient(access, pause=noted.append, transport=self.transport())

    def asked(self, path: str) -> list[Request]:
        """The requests for a path."""
        return [request for request in self.requests if request.path == path]


def once(fault: Fault) -> Fault:
    """A fault that strikes only the first time it would."""
    struck: list[bool] = []

    def strike(request: Request) -> Answer | None:
        given = None if struck else fault(request)
        if given is not None:
            struck.append(True)
        return given

    return strike


def on(path: str, given: Answer, where: Callable[[Request], bool] = lambda request: True) -> Fault:
    """A fault on one path."""
    return lambda request: given if request.path == path and where(request) else None


def named(plural: str, *names: str, namespace: str = "default") -> list[dict[str, Any]]:
    """Bare objects of a kind."""
    kind = by_plural(plural)
    place = {"namespace": namespace} if kind is not None and kind.namespaced else {}
    return [{"metadata": {"name": name, **place}} for name in names]


def pods(count: int, namespaces: Iterable[str] = ("default",)) -> list[dict[str, Any]]:
    """Many small pods."""
    places = tuple(namespaces)
    return [
        {
            "metadata": {"name": f"p{number:06d}", "namespace": places[number % len(places)]},
            "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "app:1", "command": ["run"]}]},
            "status": {"phase": "Running"},
        }
        for number in range(count)
    ]
