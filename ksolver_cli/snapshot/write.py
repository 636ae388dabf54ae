"""Writing a snapshot: one object a line, atomically, compressed by the file's name."""

import contextlib
import gzip
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

import orjson
import zstandard

from ksolver_cli.snapshot.model import SCHEMA, Snapshot


def encode(snapshot: Snapshot) -> Iterator[bytes]:
    """The file's bytes, piece by piece; the same snapshot gives the same bytes."""
    header = {
        "schema": SCHEMA,
        "cluster_name": snapshot.cluster_name,
        "server_version": snapshot.server_version,
        "collected_at": snapshot.collected_at,
        "gaps": [{"kind": g.kind, "reason": g.reason, "object": g.object} for g in snapshot.gaps],
        "extras": dict(snapshot.extras),
    }
    yield orjson.dumps(header, option=orjson.OPT_SORT_KEYS)[:-1] + b',"objects":{'
    for position, plural in enumerate(sorted(snapshot.objects)):
        yield (b",\n" if position else b"\n") + orjson.dumps(plural) + b":["
        for number, item in enumerate(snapshot.objects[plural]):
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
        with zstandard.ZstdCompressor(level=9).stream_writer(raw, closefd=False) as stream:
            yield stream
    else:
        yield raw


def _write_all(stream: IO[bytes], snapshot: Snapshot) -> None:
    for piece in encode(snapshot):
        stream.write(piece)


def write_snapshot(snapshot: Snapshot, path: Path) -> None:
    """Write to a temporary file beside `path`, flush it to disk, then rename: no reader ever sees half a file.

    Raises OSError as the system gives it; the temporary file is removed then.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as raw:
            with _compressed(raw, path.name) as stream:
                _write_all(stream, snapshot)
            raw.flush()
            os.fsync(raw.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def to_bytes(snapshot: Snapshot, name: str = "") -> bytes:
    """The whole file in memory, compressed as `name` says."""
    buffer = io.BytesIO()
    with _compressed(buffer, name) as stream:
        _write_all(stream, snapshot)
    return buffer.getvalue()
