"""Objects on their way into a file: kept compressed, a page at a time, so that 150,000 pods fit into little memory."""

import contextlib
import gc
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
import zstandard

from ksolver_cli.snapshot.model import RawObject

_LEVEL = 1


@contextlib.contextmanager
def many_objects() -> Iterator[None]:
    """Do without the cycle collector while millions of plain objects are made: it would walk them again and again, and
    what comes out of JSON has no cycles. Call `tidy` between pages.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def tidy() -> None:
    """Collect the cycles among the newest objects (an HTTP response and its request hold each other, body and all)."""
    gc.collect(0)


class Spool:
    """Pruned objects by plural kind, in the order in which they came."""

    def __init__(self) -> None:
        self._frames: dict[str, list[bytes]] = {}
        self._counts: dict[str, int] = {}

    def begin(self, plural: str) -> None:
        """Note that a kind is present, and forget what it had."""
        self._frames[plural] = []
        self._counts[plural] = 0

    def add(self, plural: str, objects: Iterable[RawObject]) -> None:
        """Take in a page of objects."""
        lines = [orjson.dumps(entry) for entry in objects]
        self._counts[plural] = self._counts.get(plural, 0) + len(lines)
        packed = zstandard.ZstdCompressor(level=_LEVEL).compress(b"\n".join(lines)) if lines else b""
        self._frames.setdefault(plural, []).extend([packed] if packed else [])

    def take(self, other: "Spool", plural: str) -> None:
        """Append what another spool has of a kind."""
        self._frames.setdefault(plural, []).extend(other._frames.get(plural, ()))
        self._counts[plural] = self.count(plural) + other.count(plural)

    def drop(self, plural: str) -> None:
        """Forget a kind: half a list is no list."""
        self._frames.pop(plural, None)
        self._counts.pop(plural, None)

    def kinds(self) -> tuple[str, ...]:
        """Plurals that are present, sorted."""
        return tuple(sorted(self._frames))

    def count(self, plural: str) -> int:
        """How many objects of a kind there are."""
        return self._counts.get(plural, 0)

    def objects(self, plural: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of a kind, each a fresh copy."""
        for frame in self._frames.get(plural, ()):
            for line in zstandard.ZstdDecompressor().decompress(frame).split(b"\n"):
                yield orjson.loads(line)
