"""From what was read to what a file shows: labels cut down, credentials replaced, or every name replaced."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.kinds import KINDS
from ksolver_cli.snapshot.model import RawObject
from ksolver_cli.snapshot.naming.anonymous import Anonymous, Collected
from ksolver_cli.snapshot.naming.redact import Redacted
from ksolver_cli.snapshot.naming.selected import Selected
from ksolver_cli.snapshot.shape.table import OBJECTS
from ksolver_cli.snapshot.shape.usage import EXTRAS
from ksolver_cli.snapshot.shape.vocabulary import Names
from ksolver_cli.snapshot.spool import Spool

_ROLES = {kind.plural: kind.kind.lower() for kind in KINDS}
_FIRST = ("nodes", "namespaces", "pods")
"""Kinds whose word a shared name gets, in this order, before all others."""

_HASHES = ("pod-template-hash", "rollouts-pod-template-hash")


@dataclass
class Draft:
    """Everything a file will hold, still as it was read."""

    spool: Spool
    gaps: Sequence[Gap] = ()
    server_version: str = ""
    cluster_name: str = ""
    collected_at: str = ""
    extras: dict[str, Any] = field(default_factory=dict)
    selected: Selected | None = None
    """What selects by labels, where somebody has looked already."""


@dataclass(frozen=True)
class Document:
    """A file about to be written: its header, and its objects as often as they are asked for."""

    header: Draft
    objects: Callable[[str], Iterator[RawObject]]
    names: dict[str, str] | None = None
    """Every name that was replaced and by what; None where none was."""


def redacted(draft: Draft, keep_labels: Sequence[str] = ()) -> Document:
    """The draft without labels that nobody looks at; patterns of `keep_labels` (`team`, `acme.com/*`) stay."""
    names = Redacted(draft.selected or _selected(draft), keep_labels)
    extras = {**draft.extras, "redaction": {"anonymous": False, "kept_labels": list(keep_labels)}}
    header = Draft(draft.spool, tuple(draft.gaps), draft.server_version, draft.cluster_name, draft.collected_at, extras)
    return Document(header, lambda plural: _changed(draft.spool.objects(plural), plural, names))


def anonymized(draft: Draft, keep_labels: Sequence[str] = ()) -> Document:
    """The draft redacted, and with every name that is the cluster's own replaced."""
    plain = redacted(draft, keep_labels)
    collected = Collected()
    derived: list[tuple[str, str]] = []
    for plural in _by_priority(draft.spool):
        shape = OBJECTS[plural]
        for entry in plain.objects(plural):
            shape.change(entry, collected)
            collected.note_role(_name(entry), _ROLES[plural])
            derived += [*_ephemeral_claims(entry), *_replica_sets(entry)] if plural == "pods" else []
    for part in (part for pair in derived for part in pair):
        collected.name(part)
    EXTRAS.change(draft.extras, collected)
    names = Anonymous(collected, derived)
    extras = {**EXTRAS.change(draft.extras, names), "redaction": {"anonymous": True, "kept_labels": list(keep_labels)}}
    # What a gap names is a namespace or an object of this cluster; behind a colon come a server's words, with any name.
    gaps = tuple(dict.fromkeys(Gap(gap.kind, gap.reason.partition(": ")[0]) for gap in draft.gaps))
    header = Draft(draft.spool, gaps, draft.server_version, "", draft.collected_at, extras)
    return Document(header, lambda plural: _changed(plain.objects(plural), plural, names), names.map)


def look(plural: str, entry: RawObject, found: Selected) -> None:
    """Note what a kept object selects by."""
    OBJECTS[plural].change(entry, found)


def _selected(draft: Draft) -> Selected:
    found = Selected()
    for plural in draft.spool.kinds():
        for entry in draft.spool.objects(plural):
            look(plural, entry, found)
    return found


def _changed(entries: Iterator[RawObject], plural: str, names: Names) -> Iterator[RawObject]:
    shape = OBJECTS[plural]
    for entry in entries:
        yield shape.change(entry, names)


def _by_priority(spool: Spool) -> list[str]:
    return sorted(spool.kinds(), key=lambda plural: _FIRST.index(plural) if plural in _FIRST else len(_FIRST))


def _name(entry: RawObject) -> str:
    metadata = entry.get("metadata")
    return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""


def _ephemeral_claims(pod: RawObject) -> list[tuple[str, str]]:
    spec = pod.get("spec")
    volumes = spec.get("volumes") if isinstance(spec, dict) else None
    return [
        (_name(pod), str(volume.get("name") or ""))
        for volume in (volumes if isinstance(volumes, list) else [])
        if isinstance(volume, dict) and "ephemeral" in volume
    ]


def _replica_sets(pod: RawObject) -> list[tuple[str, str]]:
    """The name of a pod's ReplicaSet in its parts, the Deployment's and a hash: where the ReplicaSet is not in the
    file, its Deployment is told from them.
    """
    metadata = pod.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    owners = metadata.get("ownerReferences") if isinstance(metadata, dict) else None
    hashes = [labels[key] for key in _HASHES if key in labels] if isinstance(labels, dict) else []
    names = [owner.get("name") for owner in owners if isinstance(owner, dict)] if isinstance(owners, list) else []
    return [
        (name.removesuffix(f"-{ending}"), ending)
        for name in names
        for ending in hashes
        if isinstance(name, str) and isinstance(ending, str) and ending and name.endswith(f"-{ending}")
    ]
