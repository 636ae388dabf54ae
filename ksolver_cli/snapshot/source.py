"""Bytes of an input file: stdin, plain, gzip or zstandard, never more than a stated size."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

import zstandard

from ksolver_cli.snapshot.model import SnapshotError

MAX_BYTES = 4 << 30
"""Largest input after decompression that is parsed as a whole."""

MAX_LIST_BYTES = 16 << 30
"""Largest list after decompression that is read object by object: 5,000 nodes and 150,000 pods with managedFields,
as kubectl prints them, are a quarter of it.
"""

STDIN = "-"
_CHUNK = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk


def _unzstd(stream: IO[bytes]) -> Iterator[bytes]:
    frame = zstandard.ZstdDecompressor().decompressobj()
    for chunk in _chunks(stream):
        rest = chunk
        while rest:
            if frame.eof:
                frame = zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(rest)
            rest = frame.unused_data
    if not frame.eof:
        # The library ends quietly here; half a snapshot must not pass for a whole one.
        raise EOFError("the last frame is incomplete")


def _plain(raw: IO[bytes], head: bytes) -> Iterator[bytes]:
    if head.startswith(_GZIP_MAGIC):
        return _chunks(cast(IO[bytes], gzip.GzipFile(fileobj=raw)))
    if head.startswith(_ZSTD_MAGIC):
        return _unzstd(raw)
    return _chunks(raw)


def bounded(name: str, chunks: Iterable[bytes], limit: int = MAX_BYTES) -> Iterator[bytes]:
    """The chunks; more than `limit` bytes is an error, so that a small archive cannot fill the memory."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > limit:
            raise SnapshotError(
                f"{name}: holds more than {limit >> 20} MiB after decompression",
                "split the input into several files and give them all, or make a snapshot with `ksolver snapshot`",
            )
        yield chunk


def read_bounded(name: str, chunks: Iterable[bytes], limit: int = MAX_BYTES) -> bytes:
    """All bytes of the chunks, at most `limit`; see `bounded`."""
    return b"".join(bounded(name, chunks, limit))


def read_chunks(path: str | Path, limit: int = MAX_LIST_BYTES) -> Iterator[bytes]:
    """The decompressed content of a file (`-` is stdin), piece by piece. Compression is told by content, not by name.

    Raises SnapshotError.
    """
    name = str(path)
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise SnapshotError("stdin: is closed", "give a file, or pipe one in")
            yield from _decompressed("stdin", sys.stdin.buffer, limit)
            return
        with Path(path).open("rb") as stream:
            yield from _decompressed(name, stream, limit)
    except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
        raise SnapshotError(
            f"{name}: compressed data is damaged or cut short ({error})", "copy the file again, or take a new snapshot"
        ) from error
    except OSError as error:
        raise SnapshotError(f"{name}: {error.strerror or error}", "check the path and its permissions") from error


def read_bytes(path: str | Path) -> bytes:
    """The whole decompressed content of a file; see `read_chunks`."""
    return b"".join(read_chunks(path, MAX_BYTES))


def _decompressed(name: str, stream: IO[bytes], limit: int) -> Iterator[bytes]:
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(cast(io.RawIOBase, stream))
    return bounded(name, _plain(buffered, buffered.peek(4)[:4]), limit)
