"""The check of a snapshot file: does it hold to its schema, is it redacted, do its objects know one another."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ksolver_cli.snapshot.documents import parse
from ksolver_cli.snapshot.kinds import KINDS
from ksolver_cli.snapshot.migrate import is_snapshot
from ksolver_cli.snapshot.model import SCHEMA, SnapshotError
from ksolver_cli.snapshot.shape.table import OBJECTS
from ksolver_cli.snapshot.source import STDIN, read_bytes

_TEXTS = ("cluster_name", "server_version", "collected_at")
_FIELDS = {"schema", *_TEXTS, "gaps", "extras", "objects"}
_NAMESPACED = {kind.plural: kind.namespaced for kind in KINDS}
_OWNED = {kind.kind: kind.plural for kind in KINDS if kind.group in ("apps", "batch", "")}


@dataclass
class Findings:
    """What a check found. Faults make a file invalid; loose ends (references to objects that are not there) may be
    true of the cluster, since its kinds are read one after the other.
    """

    faults: list[str] = field(default_factory=list)
    loose_ends: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def verify(path: str) -> Findings:
    """Check a file; raises SnapshotError when it cannot be read at all or is no ksolver snapshot."""
    where = "stdin" if path == STDIN else path
    documents = list(parse(where, read_bytes(path)))
    if len(documents) != 1 or not is_snapshot(documents[0]):
        raise SnapshotError(f"{where}: is no ksolver snapshot", "make one with `ksolver snapshot --out FILE`")
    document = documents[0]
    findings = Findings()
    findings.faults += _header_faults(document)
    objects = document.get("objects")
    if isinstance(objects, Mapping):
        findings.counts = {str(key): len(items) for key, items in objects.items() if isinstance(items, list)}
        findings.faults += _object_faults(objects)
        findings.loose_ends += _loose_ends(objects)
    return findings


def _header_faults(document: Mapping[str, Any]) -> Iterator[str]:
    if document["schema"] != SCHEMA:
        yield f"schema: {document['schema']} is not {SCHEMA}"
    yield from (f"{name}: is missing" for name in sorted(_FIELDS - set(document)))
    yield from (f"{name}: is no field of a snapshot" for name in sorted(set(document) - _FIELDS))
    yield from (f"{name}: is not text" for name in _TEXTS if not isinstance(document.get(name, ""), str))
    if not isinstance(document.get("gaps", []), list):
        yield "gaps: is not a list"
    else:
        for number, gap in enumerate(document.get("gaps", [])):
            if not isinstance(gap, Mapping) or not all(
                isinstance(gap.get(f), str) for f in ("kind", "reason", "object")
            ):
                yield f"gaps[{number}]: needs kind, reason and object"
    for name in ("extras", "objects"):
        if not isinstance(document.get(name, {}), Mapping):
            yield f"{name}: is not an object"


def _object_faults(objects: Mapping[str, Any]) -> Iterator[str]:
    for plural, items in objects.items():
        if plural not in OBJECTS:
            yield f"objects.{plural}: is no kind of a snapshot"
        elif not isinstance(items, list):
            yield f"objects.{plural}: is not a list"
        else:
            yield from _item_faults(plural, items)


def _item_faults(plural: str, items: list[Any]) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for number, item in enumerate(items):
        place = f"objects.{plural}[{number}]"
        key = _key(item)
        if key is None or (_NAMESPACED[plural] and not key[0]):
            yield f"{place}: has no metadata with a name" + (" and namespace" if _NAMESPACED[plural] else "")
            continue
        if key in seen:
            yield f"{place}: {'/'.join(filter(None, key))} is there twice"
        seen.add(key)
        extra = _first_extra(item, OBJECTS[plural].keep(item))
        if extra:
            yield f"{place}: holds {extra}, which a snapshot never does"


def _key(item: Any) -> tuple[str, str] | None:
    metadata = _map(item.get("metadata")) if isinstance(item, Mapping) else {}
    name = metadata.get("name")
    return (str(metadata.get("namespace") or ""), name) if isinstance(name, str) and name else None


def _first_extra(item: Any, kept: Any, path: str = "") -> str:
    """The first field that redaction would have dropped."""
    if isinstance(item, Mapping) and isinstance(kept, Mapping):
        for key, value in item.items():
            place = f"{path}.{key}" if path else str(key)
            found = _first_extra(value, kept[key], place) if key in kept else place
            if found:
                return found
        return ""
    if isinstance(item, list) and isinstance(kept, list) and len(item) == len(kept):
        return next(filter(None, (_first_extra(a, b, path) for a, b in zip(item, kept, strict=True))), "")
    return "" if item == kept else path


def _loose_ends(objects: Mapping[str, Any]) -> Iterator[str]:
    names = {
        plural: {key for item in items if (key := _key(item)) is not None}
        for plural, items in objects.items()
        if isinstance(items, list)
    }
    for item in _dicts(objects.get("pods")):
        pod, spec = _key(item) or ("", ""), _map(item.get("spec"))
        node = spec.get("nodeName")
        if node and "nodes" in names and ("", node) not in names["nodes"]:
            yield f"pod {pod[0]}/{pod[1]}: its node {node} is not in the file"
        for volume in _dicts(spec.get("volumes")):
            claim = _map(volume.get("persistentVolumeClaim")).get("claimName")
            if claim and "persistentvolumeclaims" in names and (pod[0], claim) not in names["persistentvolumeclaims"]:
                yield f"pod {pod[0]}/{pod[1]}: its claim {claim} is not in the file"
        yield from _owners(item, pod, names)
    for item in _dicts(objects.get("persistentvolumeclaims")):
        claim_key, volume_name = _key(item) or ("", ""), _map(item.get("spec")).get("volumeName")
        if volume_name and "persistentvolumes" in names and ("", volume_name) not in names["persistentvolumes"]:
            yield f"claim {claim_key[0]}/{claim_key[1]}: its volume {volume_name} is not in the file"


def _owners(item: Mapping[str, Any], pod: tuple[str, str], names: Mapping[str, set[tuple[str, str]]]) -> Iterator[str]:
    for owner in _dicts(_map(item.get("metadata")).get("ownerReferences")):
        kind, name = str(owner.get("kind")), str(owner.get("name"))
        plural = _OWNED.get(kind, "")
        if plural in names and _NAMESPACED[plural] and (pod[0], name) not in names[plural]:
            yield f"pod {pod[0]}/{pod[1]}: its {kind} {name} is not in the file"


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _dicts(value: Any) -> Iterator[Mapping[str, Any]]:
    return (entry for entry in value if isinstance(entry, Mapping)) if isinstance(value, list) else iter(())
