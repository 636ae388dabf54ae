"""Reading inputs: files, directories, stdin, in any accepted shape, into one Snapshot."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.documents import parse
from ksolver_cli.snapshot.files.long_lists import HEAD_BYTES, NotALongListError, batches, is_long_list
from ksolver_cli.snapshot.importers import Found, import_document
from ksolver_cli.snapshot.kinds import Kind, by_plural
from ksolver_cli.snapshot.migrate import is_snapshot, migrate, own_objects
from ksolver_cli.snapshot.model import Snapshot, SnapshotError
from ksolver_cli.snapshot.prune import prune
from ksolver_cli.snapshot.source import STDIN, read_bounded, read_bytes, read_chunks
from ksolver_cli.snapshot.spool import many_objects

_SUFFIXES = re.compile(r"\.(json|ya?ml)(\.(gz|zst))?$", re.IGNORECASE)

T = TypeVar("T")


class Part:
    """What a file holds, or several together; at most one of our own snapshots is among it."""

    def __init__(self, where: str = "") -> None:
        self.where = where
        self.objects: dict[str, list[dict[str, Any]]] = {}
        self.gaps: list[Gap] = []
        self.header: dict[str, str] = {}
        self.extras: dict[str, Any] = {}
        self.own = ""
        """Where our own snapshot came from, if there is one."""

    def take(self, found: Iterable[Found]) -> None:
        """Take in objects of an import."""
        for one in found:
            if isinstance(one, Gap):
                self.gaps.append(one)
                continue
            kind, raw = one
            bucket = self.objects.setdefault(kind.plural, [])
            if raw is not None:
                bucket.append(prune(kind.plural, raw))

    def add(self, other: "Part") -> None:
        """Take in another part; raises SnapshotError where both hold a snapshot of our own."""
        if self.own and other.own:
            raise SnapshotError(
                f"{other.own}: a second snapshot, after {self.own}",
                "give one snapshot; beside it only lists of kinds that it does not hold",
            )
        self.own = self.own or other.own
        for plural, items in other.objects.items():
            self.objects.setdefault(plural, []).extend(items)
        self.gaps += other.gaps
        self.header |= other.header
        self.extras |= other.extras

    def finished(self, names: str) -> Snapshot:
        """The part as a snapshot; raises SnapshotError, naming the inputs, where it holds no object."""
        if not any(self.objects.values()):
            seen = next((f" ({gap.kind}: {gap.reason})" for gap in self.gaps if gap.kind != "file"), "")
            raise SnapshotError(
                f"{names}: no Kubernetes object that ksolver uses is in the input{seen}",
                "give `kubectl get nodes,pods,… -A -o json` output, a directory of such files, or a snapshot",
            )
        return Snapshot(
            objects={plural: tuple(items) for plural, items in sorted(self.objects.items())},
            gaps=tuple(dict.fromkeys(self.gaps)),
            extras=self.extras,
            **self.header,
        )


def read_snapshot(paths: Sequence[str | Path]) -> Snapshot:
    """Everything the inputs hold, as one snapshot. `-` is stdin, a directory is all its JSON and YAML files.

    Raises SnapshotError when a file cannot be read or parsed, when nothing in the inputs is a Kubernetes object, or
    when two snapshots are given. In a directory, files that hold something else become gaps; hidden ones are left out.
    """
    whole = Part()
    with many_objects():
        for path in paths:
            for part in read_parts(path):
                whole.add(part)
    return whole.finished(", ".join(str(path) for path in paths))


def _own(where: str, document: dict[str, Any]) -> Part:
    part, current = Part(where), migrate(where, document)
    part.own = where
    part.header = {name: str(current.get(name) or "") for name in ("server_version", "cluster_name", "collected_at")}
    part.gaps = [
        Gap(str(g.get("kind", "")), str(g.get("reason", "")), str(g.get("object", "")))
        for g in _as(list, current.get("gaps"))
        if isinstance(g, dict)
    ]
    part.extras = dict(_as(dict, current.get("extras")))
    part.take(own_objects(where, current))
    return part


def read_parts(path: str | Path) -> Iterator[Part]:
    """The parts of a file or directory (`-` is stdin): each of our own snapshots is one, and all lists of a file."""
    for file in _files(path):
        yield from _read_file(file)


def _files(path: str | Path) -> Iterator[str]:
    folder = Path(path)
    if str(path) == STDIN or not folder.is_dir():
        yield str(path)
        return
    named = (file for file in folder.rglob("*") if _SUFFIXES.search(file.name))
    # A link that leads nowhere is among them: its content is missing, which must not go by unsaid.
    found = (file for file in named if file.is_file() or (file.is_symlink() and not file.exists()))
    names = sorted(str(f) for f in found if not any(part.startswith(".") for part in f.relative_to(folder).parts))
    if not names:
        raise SnapshotError(f"{path}: no .json or .yaml file in this directory", "check the path")
    yield from names


def _as(shape: type[T], value: object) -> T:
    """The value where it has this shape, an empty one where not."""
    return value if isinstance(value, shape) else shape()


def _hint(path: str) -> Kind | None:
    return by_plural(_SUFFIXES.sub("", Path(path).name)) if path != STDIN else None


def _read_file(path: str) -> Iterator[Part]:
    where = "stdin" if path == STDIN else path
    chunks = read_chunks(path)
    head = next(chunks, b"")
    if not is_long_list(head[:HEAD_BYTES]):
        yield from _whole(path, where, read_bounded(where, chain([head], chunks)))
        return
    found = Part(where)
    try:
        for group in batches(chain([head], chunks)):
            found.take(import_document(where, {"kind": "List", "items": group}, _hint(path)))
    except NotALongListError as error:
        if path == STDIN:
            raise SnapshotError("stdin: the list breaks off, or is not JSON", "write it to a file first") from error
        yield from _whole(path, where, read_bytes(path))
        return
    yield found


def _whole(path: str, where: str, data: bytes) -> Iterator[Part]:
    lists = Part(where)
    for document in parse(where, data):
        if is_snapshot(document):
            yield _own(where, document)
        else:
            lists.take(import_document(where, document, _hint(path)))
    yield lists
