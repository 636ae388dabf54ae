"""A whole cluster, read once: every kind the server has and we may see, pruned as it comes in; the rest is gaps."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.discovery import Found, Served, discover
from ksolver_cli.collect.api.listing import Item, Lists, Page
from ksolver_cli.collect.errors import ApiError, CollectError, Failure
from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.model import RawObject, Snapshot
from ksolver_cli.snapshot.naming.publish import look
from ksolver_cli.snapshot.naming.selected import Selected
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.snapshot.spool import Spool, tidy

Progress = Callable[[str, int, int | None], None]
"""Told how many objects of a kind are read, and how many there are if known. A kind that is done has both equal."""

PARTIAL = "only of some namespaces"
"""Reason of the gap of a kind that was read, but not of every namespace; the gap's object names those that were."""

_NEEDED = ("nodes", "pods")
_HINTS = {
    Failure.UNREACHABLE: "check the server's address, the network and the proxy (proxy-url, HTTPS_PROXY, NO_PROXY)",
    Failure.UNTRUSTED: "correct certificate-authority in the kubeconfig, or set SSL_CERT_FILE",
    Failure.UNAUTHORIZED: "log in again; `kubectl auth whoami` uses the same credentials",
    Failure.FORBIDDEN: "apply what `ksolver rbac` prints, or read single namespaces with -n",
    Failure.TIMEOUT: "try again, or give a longer --request-timeout",
    Failure.NOT_JSON: "check the server's URL in the kubeconfig",
}


@dataclass
class Reading:
    """What was read so far."""

    spool: Spool = field(default_factory=Spool)
    gaps: list[Gap] = field(default_factory=list)
    server_version: str = ""
    cluster_name: str = ""
    collected_at: str = ""
    extras: dict[str, object] = field(default_factory=dict)
    selected: Selected = field(default_factory=Selected)

    def snapshot(self) -> Snapshot:
        """Everything as a snapshot in memory."""
        return Snapshot(
            objects={plural: tuple(self.spool.objects(plural)) for plural in self.spool.kinds()},
            gaps=tuple(self.gaps),
            server_version=self.server_version,
            cluster_name=self.cluster_name,
            collected_at=self.collected_at,
            extras=self.extras,
        )


def silent(kind: str, done: int, total: int | None) -> None:
    """Tell nobody about progress."""


def read_cluster(connection: Connection, progress: Progress = silent) -> Snapshot:
    """Return the cluster that a connection leads to, in memory; raises CollectError when there is nothing to read."""
    with ApiClient(find_access(connection), seconds=connection.request_seconds) as client:
        return read(client, connection, progress).snapshot()


def read(client: ApiClient, connection: Connection, progress: Progress = silent) -> Reading:
    """Read everything that may be seen. Raises CollectError when the server cannot be reached, refuses the credentials,
    or shows neither nodes nor pods.
    """
    reading = Reading(cluster_name=client.access.name, collected_at=_now())
    found = _discovered(client)
    reading.server_version = found.version
    reading.gaps += found.gaps
    lists = Lists(client, connection.kind_seconds)
    for served in found.served:
        _read_kind(lists, served, connection.namespaces, reading, progress)
    if not any(plural in reading.spool.kinds() for plural in _NEEDED):
        raise _nothing(reading.gaps)
    reading.gaps[:0] = _unknown_namespaces(reading, connection.namespaces)
    return reading


def _unknown_namespaces(reading: Reading, wanted: tuple[str, ...]) -> list[Gap]:
    """The namespaces that were asked for and are not there: the server gives empty lists for them."""
    if not wanted or "namespaces" not in reading.spool.kinds():
        return []
    there = {_name(raw) for raw in reading.spool.objects("namespaces")}
    return [Gap("namespaces", "there is no such namespace", name) for name in wanted if name not in there]


def _name(raw: RawObject) -> object:
    metadata = raw.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _discovered(client: ApiClient) -> Found:
    try:
        return discover(client)
    except ApiError as error:
        raise unusable(client, error) from error


def unusable(client: ApiClient, error: ApiError) -> CollectError:
    """Return the error for people of a server that cannot be used at all."""
    name = f"cluster {client.access.name}" if client.access.name else "the cluster"
    return CollectError(f"{name} at {client.access.server}: {error}", _HINTS.get(error.failure, "try again later"))


def _read_kind(lists: Lists, served: Served, namespaces: tuple[str, ...], reading: Reading, progress: Progress) -> None:
    plural = served.kind.plural
    reading.spool.begin(plural)
    places: tuple[str | None, ...] = namespaces if served.kind.namespaced and namespaces else (None,)
    read_any = False
    for place in places:
        try:
            _read_list(lists, served, place, reading, progress)
            read_any = True
        except ApiError as error:
            if error.failure is Failure.UNAUTHORIZED:
                raise CollectError(f"reading {plural}: {error}", _HINTS[Failure.UNAUTHORIZED]) from error
            reading.gaps.append(Gap(plural, _reason(error), place or ""))
    if not read_any:
        reading.spool.drop(plural)
    elif places != (None,):
        reading.gaps.append(Gap(plural, PARTIAL, ", ".join(namespaces)))
    progress(plural, reading.spool.count(plural), reading.spool.count(plural))


def _reason(error: ApiError) -> str:
    if error.failure is Failure.FORBIDDEN:
        return "forbidden"
    return str(error)


def _read_list(lists: Lists, served: Served, place: str | None, reading: Reading, progress: Progress) -> None:
    """Read one list into the spool; what a list that began anew had brought is forgotten."""
    plural, pages = served.kind.plural, Spool()
    pages.begin(plural)
    for page in lists.pages(served, place):
        if page.first:
            pages.begin(plural)
        kept = [prune(plural, _named(item, served)) for item in page.items]
        for entry in kept:
            look(plural, entry, reading.selected)
        pages.add(plural, kept)
        tidy()
        progress(plural, reading.spool.count(plural) + pages.count(plural), _total(page, reading, plural))
    reading.spool.take(pages, plural)


def _total(page: Page, reading: Reading, plural: str) -> int | None:
    return None if page.total is None else page.total + reading.spool.count(plural)


def _named(item: Item, served: Served) -> Item:
    # Items of a list do not repeat what the list says of them.
    return {"apiVersion": served.api_version, "kind": served.kind.kind, **item}


def _nothing(gaps: Iterable[Gap]) -> CollectError:
    reasons = {gap.kind: gap.reason for gap in gaps}
    told = "; ".join(f"{plural}: {reasons.get(plural, 'not served')}" for plural in _NEEDED)
    return CollectError(f"neither nodes nor pods can be read ({told})", _HINTS[Failure.FORBIDDEN])
