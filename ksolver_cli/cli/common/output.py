"""Where a result goes: stdout, or a file that appears whole or not at all."""

import os
import sys
from pathlib import Path

from ksolver_cli.cli.common import streams
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.snapshot.files.atomic import ANYONES, whole_file

STDOUT = "-"


def expect_writable(out: str | Path | None, flag: str = "--out") -> None:
    """Raise CommandError where a flag names what cannot be written, before any work is done for it."""
    if out is None or str(out) == STDOUT:
        return
    path = Path(out)
    what = ""
    if path.is_dir():
        what = f"{out}: is a directory"
    elif path.exists() and not path.is_file():
        # A device or a pipe is written to as it is.
        what = "" if os.access(path, os.W_OK) else f"{out}: may not be written to"
    elif not path.resolve().parent.is_dir():
        what = f"{out}: there is no directory {path.parent}"
    elif not os.access(path.resolve().parent, os.W_OK):
        what = f"{out}: the directory may not be written to"
    if what:
        raise CommandError(what, _fix(flag), Exit.USAGE)


def emit(text: str, out: str | None, *, exact: bool = False, flag: str = "--out") -> None:
    """Write the result to stdout, or to the file that a flag names (which appears whole or not at all).

    `exact` is for what programs read: UTF-8 whatever the terminal speaks.
    """
    if out is not None and out != STDOUT:
        _write_whole(Path(out), text, flag)
        return
    if exact:
        streams.exact()
    sys.stdout.write(text)
    sys.stdout.flush()


def _fix(flag: str) -> str:
    return f"give {flag} a path that can be written"


def _write_whole(path: Path, text: str, flag: str) -> None:
    try:
        with whole_file(path, replace=True, mode=ANYONES) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}", _fix(flag), Exit.USAGE) from error
