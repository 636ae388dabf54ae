"""Pod specs from the live API: pods, nodes and what makes pods, read once and kept redacted."""

import logging
from collections.abc import Iterator

from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.discovery import Served
from ksolver_cli.collect.api.listing import Lists
from ksolver_cli.collect.errors import ApiError, CollectError, Failure
from ksolver_cli.domain.gpu_workload.raw import RawObject
from ksolver_cli.snapshot.kinds import Kind, by_plural
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.vram.join.source import ObjectSource

log = logging.getLogger(__name__)

NEEDED = "pods"
HELPFUL = ("nodes", "replicasets", "jobs")
"""Without these, sharing shows only in the series, and finished pods cannot be joined through their owners."""

_VERSION = "v1"


def live_source(connection: Connection) -> ObjectSource:
    """Return a source over the live cluster; raises CollectError when its pods cannot be read.

    What RBAC hides of the rest is warned about. Command lines and env values are dropped as they come in.
    """
    with ApiClient(find_access(connection), seconds=connection.request_seconds) as client:
        lists = Lists(client, connection.kind_seconds)
        try:
            found = {NEEDED: _read(lists, NEEDED, connection.namespaces)}
        except ApiError as error:
            raise CollectError(f"pods of {client.access.server}: {error}", _hint(error)) from error
        for plural in HELPFUL:
            try:
                found[plural] = _read(lists, plural, connection.namespaces)
            except ApiError as error:
                log.warning("went on without %s: %s", plural, error)
    return ObjectSource(found)


def _hint(error: ApiError) -> str:
    if error.failure is Failure.FORBIDDEN:
        return "let the account list pods (deploy/vram-observe-cronjob.yaml has the role), or give -n NAMESPACE"
    return "check the kubeconfig and the network; `kubectl get pods -A` uses the same access"


def _read(lists: Lists, plural: str, namespaces: tuple[str, ...]) -> list[RawObject]:
    kind = by_plural(plural)
    if kind is None:
        return []
    places: tuple[str | None, ...] = namespaces if kind.namespaced and namespaces else (None,)
    return [obj for place in places for obj in _objects(lists, kind, place)]


def _objects(lists: Lists, kind: Kind, place: str | None) -> Iterator[RawObject]:
    kept: list[RawObject] = []
    for page in lists.pages(Served(kind, _VERSION), place):
        # The list may begin anew when its continue token expires.
        if page.first:
            kept.clear()
        kept.extend(prune(kind.plural, {"kind": kind.kind, **item}) for item in page.items)
    yield from kept
