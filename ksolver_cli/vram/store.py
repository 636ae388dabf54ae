"""The store of observations: an append-only JSONL file that two runs, a kill or a full disk cannot spoil.

Writers hold an exclusive `flock` on `<store>.lock` beside the file, since pruning replaces the file itself. A batch is
one write followed by fsync; readers need no lock, for a line counts only once it parses whole.
"""

import contextlib
import fcntl
import glob
import gzip
import os
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

from ksolver_cli.vram.observation import BadLine, Identity, Observation, adds_to, collapse, from_line, merge, to_line

_LOCK_WAIT_SECONDS = 120.0
_LOCK_POLL_SECONDS = 0.02


class StoreError(Exception):
    """The store cannot be read or written; the message names the file and the reason."""


@dataclass(frozen=True)
class LineProblem:
    """A line that was passed over, with its number from 1."""

    line: int
    reason: str


@dataclass(frozen=True)
class Contents:
    """What a store holds: one observation a pod, and the lines that could not be read."""

    observations: tuple[Observation, ...]
    problems: tuple[LineProblem, ...] = ()


@dataclass(frozen=True)
class Appended:
    """Lines written: of pods not seen before, and of known pods about which more is known now.

    `problems` are lines found in the store that could not be read; they were passed over.
    """

    new: int = 0
    raised: int = 0
    unchanged: int = 0
    problems: tuple[LineProblem, ...] = ()

    @property
    def written(self) -> int:
        """How many lines the store grew by."""
        return self.new + self.raised


@dataclass(frozen=True)
class Pruned:
    """What compaction left and took: lines kept, too old, superseded by a later line of the same pod, unreadable."""

    kept: int
    expired: int
    superseded: int
    unreadable: int


def read(path: Path) -> Contents:
    """Return what a store or a gzip archive of one holds; an absent file is an empty store.

    Torn or foreign lines are reported in `problems` and passed over. Raises StoreError when the file cannot be read.
    """
    lines, problems = _read_lines(path)
    return Contents(tuple(collapse(lines)), tuple(problems))


def _read_lines(path: Path) -> tuple[list[Observation], list[LineProblem]]:
    found: list[Observation] = []
    problems: list[LineProblem] = []
    number = 0
    try:
        for number, line in _raw_lines(path):
            try:
                found.append(from_line(line))
            except BadLine as bad:
                problems.append(LineProblem(number, str(bad)))
    except (EOFError, zlib.error, gzip.BadGzipFile):
        problems.append(LineProblem(number + 1, "the archive ends early or is damaged"))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}") from error
    return found, problems


def _raw_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        yield from ((number, line) for number, line in enumerate(stream, start=1) if line.strip())


def append(path: Path, observations: Iterable[Observation]) -> Appended:
    """Add observations that say something new; a second run over the same window adds nothing.

    One pod is one observation: a line is written for a pod not yet in the store, or when its peak has risen, its
    card has turned out to be shared, or it was out of memory. Raises StoreError.
    """
    if path.suffix == ".gz":
        raise StoreError(f"cannot append to {path}: archives are read only")
    # Behind a symlink the lock must lie beside the file itself, where every writer looks for it.
    path = Path(os.path.realpath(path))
    with _failing_as(f"cannot write {path}"), _locked(path):
        lines, problems = _read_lines(path)
        counts, batch = _news(_by_identity(lines), observations)
        if batch:
            _write_batch(path, b"".join(map(to_line, batch)))
    return replace(counts, problems=tuple(problems))


def _by_identity(lines: Iterable[Observation]) -> dict[Identity, Observation]:
    return {line.identity: line for line in collapse(lines) if line.identity is not None}


def _news(
    known: dict[Identity, Observation], observations: Iterable[Observation]
) -> tuple[Appended, list[Observation]]:
    new = raised = unchanged = 0
    batch: list[Observation] = []
    for observation in observations:
        identity = observation.identity
        old = known.get(identity) if identity is not None else None
        if old is None:
            new += 1
        elif adds_to(old, observation):
            raised += 1
            observation = merge(old, observation)
        else:
            unchanged += 1
            continue
        batch.append(observation)
        if identity is not None:
            known[identity] = observation
    return Appended(new, raised, unchanged), batch


def _write_batch(path: Path, batch: bytes) -> None:
    fresh = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        # A killed writer may have left half a line: end it, so that ours does not become part of it.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        try:
            _write_all(descriptor, (b"\n" if torn else b"") + batch)
            os.fsync(descriptor)
        except OSError:
            # A full disk: take back our own half-written batch, never a byte of what was there.
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
    # A new name survives a power cut only once its folder is on disk too.
    if fresh:
        _sync_folder(path.parent)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def prune(path: Path, before: datetime) -> Pruned:
    """Rewrite the store without lines observed before a moment, superseded ones and unreadable ones.

    Lines without `observed_at` (the short form) are kept: their age is unknown. So are lines of a newer schema. The new
    file replaces the old one in one step (write, fsync, rename). Raises StoreError.
    """
    path = Path(os.path.realpath(path))
    if not path.exists():
        return Pruned(0, 0, 0, 0)
    with _failing_as(f"cannot prune {path}"), _locked(path):
        lines, problems = _read_lines(path)
        current = collapse(lines)
        kept = [line for line in current if not _older(line, before)]
        foreign = _foreign_lines(path, problems)
        _replace(path, chain(foreign, map(to_line, kept)))
    superseded = len(lines) - len(current)
    return Pruned(len(kept) + len(foreign), len(current) - len(kept), superseded, len(problems) - len(foreign))


def _older(line: Observation, before: datetime) -> bool:
    if line.observed_at is None:
        return False
    try:
        moment = datetime.fromisoformat(line.observed_at)
    except ValueError:
        return False
    return moment.tzinfo is not None and moment < before


def _foreign_lines(path: Path, problems: list[LineProblem]) -> list[bytes]:
    numbers = {problem.line for problem in problems if problem.reason.startswith("schema ")}
    if not numbers:
        return []
    return [line.rstrip(b"\n") + b"\n" for number, line in _raw_lines(path) if number in numbers]


def _replace(path: Path, content: Iterable[bytes]) -> None:
    # The lock is held: what lies there was left by a run that was killed.
    for left in path.parent.glob(f"{glob.escape(_draft(path))}*"):
        left.unlink(missing_ok=True)
    # In the same folder, since a rename across file systems is a copy.
    descriptor, name = tempfile.mkstemp(prefix=_draft(path), dir=path.parent)
    try:
        os.fchmod(descriptor, path.stat().st_mode & 0o777)
        _write_lines(descriptor, content, compressed=path.suffix == ".gz")
        os.fsync(descriptor)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    _sync_folder(path.parent)


def _write_lines(descriptor: int, content: Iterable[bytes], *, compressed: bool) -> None:
    # One by one: all of them together, with the room their encoder takes, are gigabytes in a store of months.
    with contextlib.ExitStack() as open_files:
        stream: BinaryIO = open_files.enter_context(os.fdopen(descriptor, "wb", closefd=False))
        if compressed:
            stream = cast(BinaryIO, open_files.enter_context(gzip.GzipFile(fileobj=stream, mode="wb", mtime=0)))
        stream.writelines(content)


def _draft(path: Path) -> str:
    return f".{path.name}.draft-"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _take(lock, path)
        yield
    finally:
        os.close(lock)


def _take(lock: int, path: Path) -> None:
    deadline = time.monotonic() + _LOCK_WAIT_SECONDS
    # Not a blocking lock: a run that hangs must end in an error, not in a queue of CronJobs.
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise StoreError(f"cannot lock {path}: another run holds it for over two minutes") from None
            time.sleep(_LOCK_POLL_SECONDS)


@contextlib.contextmanager
def _failing_as(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreError(f"{what}: {error.strerror or error}") from error
