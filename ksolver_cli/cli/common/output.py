"""Where a result goes: stdout, or a file that appears whole or not at all."""

import os
import sys
import tempfile
from pathlib import Path

from ksolver_cli.cli.common import streams
from ksolver_cli.cli.common.exits import CommandError, Exit

STDOUT = "-"
_FIX = "give --out a path that can be written"


def expect_writable(out: str | None) -> None:
    """Raise CommandError where `--out` names what cannot be written, before any work is done for it."""
    if out is None or out == STDOUT:
        return
    path = Path(out)
    if path.is_dir():
        raise CommandError(f"{out}: is a directory", _FIX, Exit.USAGE)
    if not path.parent.is_dir():
        raise CommandError(f"{out}: there is no directory {path.parent}", _FIX, Exit.USAGE)
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"{out}: the directory cannot be written to", _FIX, Exit.USAGE)


def emit(text: str, out: str | None, *, exact: bool = False) -> None:
    """Write the result to stdout, or to the file that `--out` names (through a temporary file and a rename).

    `exact` is for what programs read: UTF-8 whatever the terminal speaks.
    """
    if out is not None and out != STDOUT:
        _write_whole(Path(out), text)
        return
    if exact:
        streams.exact()
    sys.stdout.write(text)
    sys.stdout.flush()


def _write_whole(path: Path, text: str) -> None:
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise CommandError(f"{path}: {error.strerror or error}", _FIX, Exit.USAGE) from error
