"""Documents of every accepted shape to objects by kind.

Accepted: our own snapshot; a List of one or several kinds; one object; an array of objects; a mapping of plurals to
lists (simulator exports, hand-made bundles).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.kinds import NEVER, Kind, by_api, by_plural
from ksolver_cli.snapshot.model import RawObject, SnapshotError

Found = tuple[Kind, RawObject | None] | Gap
"""An object with its kind; a kind that is present with no object in it; or something that was left out, and why."""


def import_document(where: str, document: Any, hint: Kind | None) -> Iterator[Found]:
    """Every object in a document. `hint` is the kind that the file's name suggests, for lists that do not say."""
    if isinstance(document, list):
        yield from _items(where, document, hint)
    elif not isinstance(document, Mapping):
        yield Gap("file", "holds no Kubernetes object", where)
    elif isinstance(document.get("items"), list):
        yield from _list(where, document, hint)
    elif document.get("kind"):
        yield from _items(where, [document], hint)
    else:
        yield from _bundle(where, document)


def _list(where: str, document: Mapping[str, Any], hint: Kind | None) -> Iterator[Found]:
    list_kind = str(document.get("kind") or "")
    stated = by_api(str(document.get("apiVersion") or ""), list_kind.removesuffix("List")) if list_kind else None
    kind = stated or hint
    if kind is not None and not document["items"]:
        yield kind, None
    yield from _items(where, document["items"], kind)


def _items(where: str, items: list[Any], default: Kind | None) -> Iterator[Found]:
    for number, item in enumerate(items):
        if not isinstance(item, Mapping):
            yield Gap("object", f"item {number} is not an object", where)
            continue
        if isinstance(item.get("items"), list):
            yield from _list(where, item, default)
            continue
        yield _object(where, number, item, default)


def _object(where: str, number: int, item: Mapping[str, Any], default: Kind | None) -> Found:
    kind_name = str(item.get("kind") or "")
    if not isinstance(item.get("metadata"), Mapping):
        return Gap(kind_name or "object", f"item {number} has no metadata", where)
    kind = by_api(str(item.get("apiVersion") or ""), kind_name) if kind_name else default
    if kind is not None:
        return kind, item
    if kind_name:
        return Gap(kind_name, "this kind is not used", where)
    return Gap("object", f"item {number} says no kind", where)


def _bundle(where: str, document: Mapping[str, Any]) -> Iterator[Found]:
    found_any = False
    for key, value in document.items():
        kind = by_plural(key)
        if kind is None or str(key).lower() in NEVER:
            continue
        items = value.get("items") if isinstance(value, Mapping) else value
        if items is None:
            items = []
        if not isinstance(items, list):
            yield Gap(kind.plural, "is not a list", where)
            continue
        if items and not any(isinstance(item, Mapping) and isinstance(item.get("metadata"), Mapping) for item in items):
            # Kubelet summaries and the like use the same words for things that are no objects.
            continue
        found_any = True
        yield kind, None
        yield from _items(where, items, kind)
    if not found_any:
        yield Gap("file", "holds no Kubernetes object", where)


def require_mapping(where: str, value: Any, field: str) -> Mapping[str, Any]:
    """`value` as a mapping, or the error that names the field."""
    if isinstance(value, Mapping):
        return value
    raise SnapshotError(f"{where}: {field} is not an object", "take the snapshot again with `ksolver snapshot`")
