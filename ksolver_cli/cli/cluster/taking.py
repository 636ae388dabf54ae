"""`ksolver snapshot` at work: read, redact, write."""

import contextlib
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ksolver_cli.cli.cluster.bars import reading_bars
from ksolver_cli.cli.cluster.connection import cluster_errors_told, connection_of
from ksolver_cli.cli.cluster.prometheus import usage_request
from ksolver_cli.cli.common.cluster_flags import ClusterFlags, PrometheusOptions
from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.cli.common.output import STDOUT, expect_writable
from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.live import PARTIAL, Reading, read
from ksolver_cli.collect.usage.gather import add_usage
from ksolver_cli.snapshot.files.atomic import whole_file
from ksolver_cli.snapshot.naming.publish import Document, Draft, anonymized, redacted
from ksolver_cli.snapshot.spool import many_objects
from ksolver_cli.snapshot.write import encode_document, write_file, write_pieces

_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Target:
    """Where the file goes and what it may show."""

    out: str
    force: bool = False
    anonymize: bool = False
    names: str | None = None
    keep_labels: tuple[str, ...] = ()

    @property
    def names_file(self) -> Path | None:
        """Where the map of names goes; None where none is made. Raises CommandError."""
        if not self.anonymize:
            return None
        if self.names is not None:
            return self._own_file(self.names)
        if self.out == STDOUT:
            raise CommandError("--anonymize with --out - has no place for the map", "give --names FILE", Exit.USAGE)
        return Path(f"{self.out}.names.json")

    def _own_file(self, names: str) -> Path:
        path = Path(names)
        if names == STDOUT or (self.out != STDOUT and path.resolve() == Path(self.out).resolve()):
            raise CommandError(f"--names {names}: the map needs a file of its own", "give another path", Exit.USAGE)
        return path


def take(flags: ClusterFlags, prometheus: PrometheusOptions, target: Target, kind_seconds: float) -> None:
    """Read the cluster and write the file; raises CommandError."""
    connection, usage = connection_of(flags, kind_seconds), usage_request(prometheus)
    for flag, path in _files(target):
        _check_writable(path, flag, target.force)
    with cluster_errors_told(), reading_bars() as bars, many_objects():
        access = find_access(connection)
        with ApiClient(access, seconds=connection.request_seconds) as client:
            reading = read(client, connection, bars)
            add_usage(reading, client, usage, bars)
    with many_objects():
        _write(_document(reading, target), target)
    _tell(reading, target)


def _files(target: Target) -> Iterator[tuple[str, Path]]:
    if target.out != STDOUT:
        yield "--out", Path(target.out)
    if target.names_file is not None:
        yield "--names", target.names_file


def _check_writable(path: Path, flag: str, force: bool) -> None:
    """Refuse before the cluster is read, not after."""
    expect_writable(path, flag)
    if path.is_file() and not force:
        raise CommandError(f"{path}: is there already", f"give --force to replace it, or another {flag}", Exit.USAGE)


def _document(reading: Reading, target: Target) -> Document:
    draft = Draft(
        spool=reading.spool,
        gaps=tuple(reading.gaps),
        server_version=reading.server_version,
        cluster_name=reading.cluster_name,
        collected_at=reading.collected_at,
        extras=dict(reading.extras),
        selected=reading.selected,
    )
    return (anonymized if target.anonymize else redacted)(draft, target.keep_labels)


def _write(document: Document, target: Target) -> None:
    names = target.names_file
    try:
        with contextlib.nullcontext() if names is None else whole_file(names, replace=target.force) as stream:
            if stream is not None:
                stream.write(json.dumps(document.names, ensure_ascii=False, indent=1, sort_keys=True).encode())
            # Inside: without the snapshot there is no map either.
            _write_document(document, target)
    except BrokenPipeError:
        raise
    except OSError as error:
        place = error.filename or ("stdout" if target.out == STDOUT else target.out)
        what = f"{place}: {error.strerror or error}"
        raise CommandError(what, "nothing was written; give --out a path with room", Exit.USAGE) from error


def _write_document(document: Document, target: Target) -> None:
    if target.out == STDOUT:
        write_pieces(encode_document(document), sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        write_file(encode_document(document), Path(target.out), replace=target.force)


def _tell(reading: Reading, target: Target) -> None:
    spool = reading.spool
    counts = f"{spool.count('nodes')} nodes, {spool.count('pods')} pods, {len(spool.kinds())} kinds"
    place = "" if target.out == STDOUT else f"{target.out}: "
    sys.stderr.write(f"ksolver: {one_line(place)}{counts}\n")
    part = [gap for gap in reading.gaps if gap.reason == PARTIAL]
    rest = [gap for gap in reading.gaps if gap.reason != PARTIAL]
    if part:
        sys.stderr.write(f"ksolver: gap: {len(part)} kinds {PARTIAL}: {one_line(part[0].object)}\n")
    for gap in rest[:_SHOWN]:
        where = f" in {gap.object}" if gap.object else ""
        sys.stderr.write(f"ksolver: gap: {one_line(f'{gap.kind}{where}: {gap.reason}')}\n")
    if len(rest) > _SHOWN:
        sys.stderr.write(f"ksolver: gap: {len(rest) - _SHOWN} more are in the file\n")
    if target.names_file is not None:
        sys.stderr.write(f"ksolver: {target.names_file} holds the real names; keep it to yourself\n")
