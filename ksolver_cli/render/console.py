"""Where text goes: a terminal of any width, or a pipe where nothing may be cut off."""

import io
import os
import sys
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

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


def paragraph(console: Console, text: str, indent: int = 0, *, hang: int = 0, style: str = "") -> None:
    """Print a paragraph with a left margin, further lines `hang` deeper; one line that nothing breaks where the output
    is not a terminal.
    """
    if not console.is_terminal:
        console.print(Text(" " * indent + text), soft_wrap=True)
        return
    first, *rest = Text(text, style=style).wrap(console, max(console.width - indent - hang, 1)) or [Text()]
    console.print(Padding(first, (0, 0, 0, indent)))
    for line in rest:
        console.print(Padding(line, (0, 0, 0, indent + hang)))


def tidy(text: str) -> str:
    """The text without the blanks that tables leave at the ends of lines."""
    return "\n".join(line.rstrip() for line in text.split("\n"))


def capture(width: int | None = None) -> tuple[Console, io.StringIO]:
    """A console without colour that writes into memory, for files and tests."""
    buffer = io.StringIO()
    return console_for(buffer, width=width), buffer
