"""Writing a snapshot: one object a line, whole or not at all, compressed by the file's name."""

import contextlib
import gzip
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

import orjson
import zstandard

from ksolver_cli.snapshot.files.atomic import whole_file
from ksolver_cli.snapshot.model import SCHEMA, RawObject, Snapshot
from ksolver_cli.snapshot.naming.publish import Document, Draft

_LEVEL = 9


Contents = Iterable[tuple[str, Iterable[RawObject]]]


def encode(snapshot: Snapshot) -> Iterator[bytes]:
    """The file's bytes, piece by piece; the same snapshot gives the same bytes."""
    return _encode(snapshot, ((plural, snapshot.objects[plural]) for plural in sorted(snapshot.objects)))


def encode_document(document: Document) -> Iterator[bytes]:
    """The bytes of a file whose objects are made while it is written."""
    kinds = document.header.spool.kinds()
    return _encode(document.header, ((plural, document.objects(plural)) for plural in kinds))


def _encode(header: Snapshot | Draft, contents: Contents) -> Iterator[bytes]:
    fields = {
        "schema": SCHEMA,
        "cluster_name": header.cluster_name,
        "server_version": header.server_version,
        "collected_at": header.collected_at,
        "gaps": [{"kind": g.kind, "reason": g.reason, "object": g.object} for g in header.gaps],
        "extras": dict(header.extras),
    }
    yield orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)[:-1] + b',"objects":{'
    for position, (plural, items) in enumerate(contents):
        yield (b",\n" if position else b"\n") + orjson.dumps(plural) + b":["
        for number, item in enumerate(items):
            yield (b",\n" if number else b"\n") + orjson.dumps(item, option=orjson.OPT_SORT_KEYS)
        yield b"\n]"
    yield b"\n}}\n"


@contextlib.contextmanager
def _compressed(raw: IO[bytes], name: str) -> Iterator[IO[bytes]]:
    if name.endswith(".gz"):
        # No name and no time in the header: equal snapshots are equal files.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream:
            yield cast(IO[bytes], stream)
    elif name.endswith(".zst"):
        with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw


def write_pieces(pieces: Iterable[bytes], stream: IO[bytes], name: str = "") -> None:
    """Write to an open stream, compressed as `name` says."""
    with _compressed(stream, name) as packed:
        for piece in pieces:
            packed.write(piece)


def write_file(pieces: Iterable[bytes], path: Path, *, replace: bool = True) -> None:
    """Write a file that appears whole or not at all, readable by its owner alone.

    Raises FileExistsError where there is one already and `replace` is off, else OSError as the system gives it.
    """
    with whole_file(path, replace=replace) as raw:
        write_pieces(pieces, raw, path.name)


def write_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Write a snapshot held in memory to a file; see `write_file`."""
    write_file(encode(snapshot), path)


def to_bytes(snapshot: Snapshot, name: str = "") -> bytes:
    """The whole file in memory, compressed as `name` says."""
    buffer = io.BytesIO()
    write_pieces(encode(snapshot), buffer, name)
    return buffer.getvalue()
