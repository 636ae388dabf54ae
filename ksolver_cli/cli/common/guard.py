"""What every command is wrapped in: errors become two lines and an exit code, Ctrl-C and closed pipes end quietly."""

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from ksolver_cli.cli.common.exits import CommandError, Exit, tell
from ksolver_cli.snapshot.model import SnapshotError

P = ParamSpec("P")

DEBUG_VARIABLE = "KSOLVER_DEBUG"
_REPORT_BUG = "run it again as `ksolver --debug …` and report what it prints"


def debugging() -> bool:
    """Whether tracebacks are wanted (`--debug` or KSOLVER_DEBUG=1)."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Wrap a command so that no exception reaches a person as a traceback, unless --debug asks for it."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        if debugging():
            command(*args, **kwargs)
            return
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except BrokenPipeError:
            abandon_stdout()
            raise typer.Exit(Exit.DONE) from None
        except KeyboardInterrupt:
            _end("interrupted before there was any result", "run it again, or give it a time limit", Exit.INTERRUPTED)
        except Exception as error:  # noqa: BLE001 - the outermost guard: no fault is told as a traceback
            _end(*_told(error))

    return run


def abandon_stdout() -> None:
    """The reader has what it wanted (`| head`), or the disk is full: Python must not complain when it flushes at
    exit.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _told(error: Exception) -> tuple[str, str, Exit]:
    """What is wrong, what to do, and the exit code."""
    if isinstance(error, CommandError):
        return error.what, error.hint, error.code
    if isinstance(error, SnapshotError):
        return error.what, error.hint, Exit.SNAPSHOT
    if isinstance(error, MemoryError):
        return "out of memory", "give fewer snapshots at once, or a machine with more memory", Exit.NO_RESULT
    if isinstance(error, OSError) and error.strerror:
        abandon_stdout()
        return f"{error.filename or 'output'}: {error.strerror}", "make room, or check the path", Exit.NO_RESULT
    return f"internal error: {type(error).__name__}: {error}", _REPORT_BUG, Exit.NO_RESULT


def _end(what: str, hint: str, code: Exit) -> None:
    tell(what, hint)
    raise typer.Exit(code)
