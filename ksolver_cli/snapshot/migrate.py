"""Versions of our own file: which is read as it is, which is brought up to date, which is refused."""

from collections.abc import Callable, Iterator
from typing import Any

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.importers import Found, require_mapping
from ksolver_cli.snapshot.kinds import by_plural
from ksolver_cli.snapshot.model import SCHEMA, SnapshotError

Migration = Callable[[dict[str, Any]], dict[str, Any]]

MIGRATIONS: dict[str, Migration] = {}
"""Old schema to the function that brings a document one version up; empty while there is only one version."""

_PREFIX = "ksolver.snapshot/"


def is_snapshot(document: Any) -> bool:
    """Whether a document says that it is a ksolver snapshot, of any version."""
    return isinstance(document, dict) and str(document.get("schema", "")).startswith(_PREFIX)


def migrate(where: str, document: dict[str, Any]) -> dict[str, Any]:
    """The document in the current schema; raises SnapshotError for a version that this ksolver does not know."""
    while document["schema"] != SCHEMA:
        step = MIGRATIONS.get(document["schema"])
        if step is None:
            raise SnapshotError(
                f"{where}: schema {document['schema']} is not known to this version (it reads {SCHEMA})",
                "use the ksolver version that wrote it, or a newer one",
            )
        document = step(document)
    return document


def own_objects(where: str, document: dict[str, Any]) -> Iterator[Found]:
    """The objects of a snapshot document; kinds that are present and empty are said too."""
    for plural, items in require_mapping(where, document.get("objects"), "objects").items():
        kind = by_plural(plural)
        if kind is None:
            yield Gap(str(plural), "this kind is not used", where)
            continue
        if not isinstance(items, list):
            yield Gap(kind.plural, "is not a list", where)
            continue
        yield kind, None
        for number, item in enumerate(items):
            yield (
                (kind, item) if isinstance(item, dict) else Gap("object", f"{plural}[{number}] is not an object", where)
            )
