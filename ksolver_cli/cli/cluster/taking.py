"""`ksolver snapshot` at work: read, redact, write."""

import json
import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ksolver_cli.cli.cluster.bars import reading_bars
from ksolver_cli.cli.cluster.connection import cluster_errors_told, connection_of
from ksolver_cli.cli.cluster.prometheus import usage_request
from ksolver_cli.cli.common.cluster_flags import ClusterFlags, PrometheusOptions
from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.cli.common.output import STDOUT
from ksolver_cli.collect.access.find import find_access
from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.live import Reading, read
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
            return Path(self.names)
        if self.out == STDOUT:
            raise CommandError("--anonymize with --out - has no place for the map", "give --names FILE", Exit.USAGE)
        return Path(f"{self.out}.names.json")


def take(flags: ClusterFlags, prometheus: PrometheusOptions, target: Target, kind_seconds: float) -> None:
    """Read the cluster and write the file; raises CommandError."""
    connection, usage = connection_of(flags, kind_seconds), usage_request(prometheus)
    for path in _files(target):
        _check_writable(path, target.force)
    with cluster_errors_told(), reading_bars() as bars, many_objects():
        access = find_access(connection)
        with ApiClient(access, seconds=connection.request_seconds) as client:
            reading = read(client, connection, bars)
            add_usage(reading, client, usage, bars)
    with many_objects():
        _write(_document(reading, target), target)
    _tell(reading, target)


def _files(target: Target) -> Iterable[Path]:
    names = target.names_file
    return [*([Path(target.out)] if target.out != STDOUT else []), *([names] if names is not None else [])]


def _check_writable(path: Path, force: bool) -> None:
    """Refuse before the cluster is read, not after."""
    if path.is_dir():
        raise CommandError(f"{path}: is a directory", "give --out a file name", Exit.USAGE)
    folder = path.parent
    if not folder.is_dir():
        raise CommandError(f"{folder}: no such directory", "make it, or give --out another path", Exit.USAGE)
    if path.exists() and stat.S_ISREG(path.stat().st_mode) and not force:
        raise CommandError(f"{path}: is there already", "give --force to replace it, or another --out", Exit.USAGE)
    if not os.access(folder, os.W_OK):
        raise CommandError(f"{folder}: may not be written to", "give --out another path", Exit.USAGE)


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
    try:
        names = target.names_file
        if names is not None:
            with whole_file(names, replace=target.force) as stream:
                stream.write(json.dumps(document.names, ensure_ascii=False, indent=1, sort_keys=True).encode())
        if target.out == STDOUT:
            write_pieces(encode_document(document), sys.stdout.buffer)
            sys.stdout.buffer.flush()
        else:
            write_file(encode_document(document), Path(target.out), replace=target.force)
    except BrokenPipeError:
        raise
    except OSError as error:
        what = f"{error.filename or target.out}: {error.strerror or error}"
        raise CommandError(what, "nothing was written; give --out a path with room", Exit.USAGE) from error


def _tell(reading: Reading, target: Target) -> None:
    spool = reading.spool
    counts = f"{spool.count('nodes')} nodes, {spool.count('pods')} pods, {len(spool.kinds())} kinds"
    place = "" if target.out == STDOUT else f"{target.out}: "
    sys.stderr.write(f"ksolver: {one_line(place)}{counts}\n")
    for gap in reading.gaps[:_SHOWN]:
        where = f" in {gap.object}" if gap.object else ""
        sys.stderr.write(f"ksolver: gap: {one_line(f'{gap.kind}{where}: {gap.reason}')}\n")
    if len(reading.gaps) > _SHOWN:
        sys.stderr.write(f"ksolver: gap: {len(reading.gaps) - _SHOWN} more are in the file\n")
    if target.names_file is not None:
        sys.stderr.write(f"ksolver: {target.names_file} holds the real names; keep it to yourself\n")
