"""Pod specs from the live API: pods, nodes and what makes pods, read once and kept redacted."""

import json
import logging
from collections.abc import Iterator, Mapping

from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.api.discovery import Served
from ksolver_cli.collect.api.listing import Lists
from ksolver_cli.collect.errors import ApiError, CollectError, Failure
from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu, gpu_container
from ksolver_cli.domain.gpu_workload.kept import HINTS_ANNOTATION, noted_facts
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, at, mapping
from ksolver_cli.snapshot.kinds import Kind, by_plural
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.vram.facts import as_numbers, workload_hints
from ksolver_cli.vram.join.source import ObjectSource

log = logging.getLogger(__name__)

NEEDED = "pods"
HELPFUL = ("nodes", "replicasets", "jobs")
"""Without these, sharing shows only in the series, and finished pods cannot be joined through their owners."""

_VERSION = "v1"
_NAMING = ("name", "namespace", "uid", "creationTimestamp", "generateName", "ownerReferences", "labels")


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
        kept.extend(kept_for_join(kind.plural, {"kind": kind.kind, **item}) for item in page.items)
    yield from kept


def kept_for_join(plural: str, whole: RawObject) -> RawObject:
    """Return an object without command lines; of a pod that asks for no GPU only what a join needs.

    Those are most of a cluster's pods, and an exporter may still tie a card to one of them: its resource may have a
    name of its own.
    """
    kept: RawObject = prune(plural, whole)
    if plural == "pods":
        return _noted(kept, whole) if asks_for_gpu(whole) else _slim(kept, _facts(whole))
    template, left = at(whole, "spec", "template"), at(kept, "spec", "template")
    if isinstance(template, dict) and isinstance(left, dict):
        return {**kept, "spec": {**mapping(kept.get("spec")), "template": _noted(left, template)}}
    return kept


def _noted(kept: RawObject, whole: RawObject) -> RawObject:
    metadata = mapping(kept.get("metadata"))
    return {**kept, "metadata": {**metadata, "annotations": {**annotations_of(kept), **_facts(whole)}}}


def _facts(whole: RawObject) -> dict[str, str]:
    """What the store will hold of the command line, with the shape of a known model in place of its name."""
    numbers = as_numbers(workload_hints(whole))
    noted = noted_facts(whole)
    return {**noted, HINTS_ANNOTATION: json.dumps(numbers)} if numbers else noted


def _slim(pod: RawObject, facts: Mapping[str, str]) -> RawObject:
    metadata = mapping(pod.get("metadata"))
    named = {key: metadata[key] for key in _NAMING if key in metadata}
    container = gpu_container(pod)
    return {
        "kind": "Pod",
        "metadata": {**named, "annotations": facts},
        "spec": {
            "nodeName": at(pod, "spec", "nodeName"),
            "containers": [{"image": container.get("image")}] if container is not None else [],
        },
    }
