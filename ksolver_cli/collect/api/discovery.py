"""What the server has: for each kind of a snapshot, in which version it is served, if at all.

Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#unaggregated-discovery-api-endpoint. One request a
group and version, so that an aggregated API that is down (metrics.k8s.io) costs only itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.errors import ApiError, Failure
from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.kinds import KINDS, Kind

ALSO = {"volcanopodgroups": "podgroups", "nodemetrics": "nodes", "podmetrics": "pods"}
"""Our plural → the server's, where they differ because two groups use one word."""

_ALWAYS = {
    "": "v1",
    "apps": "v1",
    "batch": "v1",
    "autoscaling": "v2",
    "policy": "v1",
    "scheduling.k8s.io": "v1",
    "node.k8s.io": "v1",
    "storage.k8s.io": "v1",
}
"""Versions that every supported server has, for users who may not look at what there is."""


@dataclass(frozen=True, slots=True)
class Served:
    """A kind as this server has it."""

    kind: Kind
    version: str

    @property
    def resource(self) -> str:
        """The server's plural."""
        return ALSO.get(self.kind.plural, self.kind.plural)

    @property
    def api_version(self) -> str:
        """As objects spell it: `v1`, `apps/v1`."""
        return f"{self.kind.group}/{self.version}" if self.kind.group else self.version

    def path(self, namespace: str | None = None) -> str:
        """The list's path: of one namespace, or of all."""
        root = f"/apis/{self.api_version}" if self.kind.group else f"/api/{self.version}"
        inside = f"/namespaces/{namespace}" if namespace is not None else ""
        return f"{root}{inside}/{self.resource}"


@dataclass
class Found:
    """What discovery found."""

    served: list[Served] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    version: str = ""


def discover(client: ApiClient) -> Found:
    """Ask the server what it has. Raises ApiError when it cannot be asked at all (not when it only says no)."""
    found = Found(version=server_version(client))
    groups = _groups(client)
    if groups is None:
        found.served = [Served(kind, _ALWAYS[kind.group]) for kind in KINDS if kind.group in _ALWAYS]
        found.gaps.append(Gap("discovery", "forbidden: only the kinds that every server has were looked for"))
        return found
    for group in dict.fromkeys(kind.group for kind in KINDS):
        wanted = [kind for kind in KINDS if kind.group == group]
        _discover_group(client, wanted, groups.get(group, ()), found)
    found.served.sort(key=lambda served: KINDS.index(served.kind))
    return found


def server_version(client: ApiClient) -> str:
    """Return `gitVersion` of `/version`; empty where that is hidden from us."""
    try:
        document = client.get("/version")
    except ApiError as error:
        if error.failure in (Failure.FORBIDDEN, Failure.NOT_FOUND):
            return ""
        raise
    return str(document.get("gitVersion") or "") if isinstance(document, dict) else ""


def _groups(client: ApiClient) -> dict[str, tuple[str, ...]] | None:
    """Group to versions, the preferred first; None when we may not ask."""
    try:
        document = client.get("/apis")
    except ApiError as error:
        if error.failure is Failure.FORBIDDEN:
            return None
        raise
    groups: dict[str, tuple[str, ...]] = {"": ("v1",)}
    for group in _entries(document, "groups"):
        preferred = group.get("preferredVersion")
        first = preferred.get("version") if isinstance(preferred, Mapping) else None
        versions = [str(entry.get("version")) for entry in _entries(group, "versions")]
        ordered = [version for version in versions if version == first] + [v for v in versions if v != first]
        groups[str(group.get("name"))] = tuple(ordered)
    return groups


def _discover_group(client: ApiClient, wanted: list[Kind], versions: Iterable[str], found: Found) -> None:
    missing = list(wanted)
    for version in versions:
        if not missing:
            return
        try:
            names = _resources(client, wanted[0].group, version)
        except ApiError as error:
            found.gaps += [Gap(kind.plural, f"its API {kind.group}/{version} is down: {error}") for kind in missing]
            return
        found.served += [served for kind in missing if (served := Served(kind, version)).resource in names]
        missing = [kind for kind in missing if Served(kind, version).resource not in names]


def _resources(client: ApiClient, group: str, version: str) -> frozenset[str]:
    path = f"/apis/{group}/{version}" if group else f"/api/{version}"
    entries = _entries(client.get(path), "resources")
    return frozenset(str(entry.get("name")) for entry in entries if "list" in _words(entry.get("verbs")))


def _words(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _entries(document: object, key: str) -> list[Mapping[str, object]]:
    listed = document.get(key) if isinstance(document, Mapping) else None
    return [entry for entry in _words(listed) if isinstance(entry, Mapping)]
