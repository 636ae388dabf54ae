"""Where a result goes: stdout, or a file that appears whole or not at all."""

import os
import sys
import tempfile
from pathlib import Path

from ksolver_cli.cli.common.exits import CommandError, Exit

STDOUT = "-"


def emit(text: str, out: str | None) -> None:
    """Write the result to stdout, or to the file that `--out` names (through a temporary file and a rename)."""
    if out is None or out == STDOUT:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    _write_whole(Path(out), text)


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
        raise CommandError(
            f"{path}: {error.strerror or error}", "give --out a path that can be written", Exit.USAGE
        ) from error
