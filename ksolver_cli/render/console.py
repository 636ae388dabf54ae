"""Where text goes: a terminal of any width, or a pipe where nothing may be cut off."""

import io
import os
import sys
from typing import TextIO

from rich.console import Console

PIPE_WIDTH = 160
"""Columns when the output is not a terminal: wide enough that no table of ours wraps."""


def console_for(stream: TextIO | None = None, *, width: int | None = None) -> Console:
    """A console on a stream (stdout by default): colour only on a terminal, no markup, names never interpreted."""
    target = stream or sys.stdout
    on_terminal = target.isatty()
    columns = width or _asked_width() or (None if on_terminal else PIPE_WIDTH)
    return Console(
        file=target,
        width=columns,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
        no_color=None if on_terminal else True,
        legacy_windows=False,
    )


def _asked_width() -> int | None:
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if asked.isdigit() and int(asked) >= 40 else None


def capture(width: int) -> tuple[Console, io.StringIO]:
    """A console without colour that writes into memory, for files and tests."""
    buffer = io.StringIO()
    return console_for(buffer, width=width), buffer
