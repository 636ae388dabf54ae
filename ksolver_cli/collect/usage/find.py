"""A Prometheus found among the Services of a cluster, and reached: by its name in the cluster, else through the API
server's proxy (GET only, with the rights to `services/proxy`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import httpx

from ksolver_cli.collect.access.settings import Access
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.connect import http_client
from ksolver_cli.collect.api.discovery import Served
from ksolver_cli.collect.api.listing import Lists
from ksolver_cli.collect.errors import ApiError, CollectError
from ksolver_cli.snapshot.kinds import KINDS

_SERVICES = next(kind for kind in KINDS if kind.plural == "services")
_PATTERNS: tuple[tuple[str, str], ...] = (
    (r"(?:.*-)?thanos-(?:query-frontend|query|querier)", ""),
    (r"(?:.*-)?vmselect(?:-.*)?", "/select/0/prometheus"),
    (r"(?:.*-)?(?:vmsingle|victoria-metrics(?:-single)?)(?:-.*)?", ""),
    (r"(?:.*-)?mimir(?:-.*)?-(?:query-frontend|gateway|nginx)", "/prometheus"),
    (
        r"prometheus-k8s|prometheus-server|prometheus|prometheus-operated|(?:.*-)?kube-prometheus(?:-stack)?-prometheus",
        "",
    ),
    (r".*-prometheus(?:-server)?", ""),
)
"""Names that charts and operators give, the widest view first, and the path under which they serve the API."""
_KEPT = (b"content-type", b"retry-after")
_PORTS = ("http-web", "web", "http", "http-query", "server", "http-metrics")


@dataclass(frozen=True, slots=True)
class Place:
    """A Service that looks like a Prometheus."""

    namespace: str
    name: str
    port: int
    path: str

    def url(self, access: Access) -> str:
        """Return its address as seen from here."""
        if access.in_cluster:
            return f"http://{self.name}.{self.namespace}.svc:{self.port}{self.path}"
        proxy = f"/api/v1/namespaces/{self.namespace}/services/http:{self.name}:{self.port}/proxy"
        return f"{access.server}{proxy}{self.path}"


def find_prometheus(client: ApiClient) -> Place:
    """Return the likeliest Prometheus of a cluster; raises CollectError when there is none, or Services are hidden."""
    try:
        pages = list(Lists(client, 120.0).pages(Served(_SERVICES, "v1")))
    except ApiError as error:
        raise CollectError(f"services cannot be listed ({error})", "give --prometheus-url instead") from error
    found = sorted(_candidates(item for page in pages for item in page.items), key=lambda ranked: ranked[0])
    if not found:
        raise CollectError("no service of this cluster looks like a Prometheus", "give --prometheus-url")
    return found[0][1]


def _candidates(services: Iterable[Mapping[str, object]]) -> Iterator[tuple[tuple[int, str, str], Place]]:
    for service in services:
        metadata, spec = service.get("metadata"), service.get("spec")
        if not isinstance(metadata, Mapping) or not isinstance(spec, Mapping):
            continue
        name, namespace = str(metadata.get("name") or ""), str(metadata.get("namespace") or "")
        port = _port(spec.get("ports"))
        for rank, (pattern, path) in enumerate(_PATTERNS):
            if port is not None and re.fullmatch(pattern, name):
                yield (rank, namespace, name), Place(namespace, name, port, path)
                break


def _port(ports: object) -> int | None:
    entries = [entry for entry in ports if isinstance(entry, Mapping)] if isinstance(ports, list) else []
    by_name = {str(entry.get("name") or ""): entry.get("port") for entry in entries}
    chosen = next((by_name[name] for name in _PORTS if name in by_name), None)
    first = entries[0].get("port") if entries else None
    port = chosen if chosen is not None else first
    return port if isinstance(port, int) else None


class ProxyTransport(httpx.BaseTransport):
    """Sends through the API server, as whom we are there. Anything but GET is refused: it would be a write."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._http = http_client(access)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request."""
        if request.method != "GET":
            raise httpx.UnsupportedProtocol("only GET goes through the API server")
        answer = self._get(request.url)
        if answer.status_code == httpx.codes.UNAUTHORIZED and self._access.credentials.renew():
            answer = self._get(request.url)
        kept = [(name, value) for name, value in answer.headers.raw if name.lower() in _KEPT]
        return httpx.Response(answer.status_code, headers=kept, content=answer.content)

    def _get(self, url: httpx.URL) -> httpx.Response:
        header = self._access.credentials.header()
        headers = {"Authorization": header} if header is not None else {}
        name = self._access.trust.server_name
        return self._http.get(url, headers=headers, extensions={"sni_hostname": name} if name else None)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()
