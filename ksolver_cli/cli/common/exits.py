"""Exit codes and the one way an error reaches a person: what is wrong, then what to do."""

import sys
from enum import IntEnum


class Exit(IntEnum):
    """What the process says when it ends."""

    DONE = 0
    GATE = 1
    USAGE = 2
    CLUSTER = 3
    SNAPSHOT = 4
    NO_RESULT = 5
    INTERRUPTED = 130


class CommandError(Exception):
    """An error to show as two lines and an exit code."""

    def __init__(self, what: str, hint: str, code: Exit) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.code = code


def tell(what: str, hint: str) -> None:
    """Two lines on stderr: what is wrong (with file, object, field), and what to do."""
    sys.stderr.write(f"ksolver: {one_line(what)}\n  → {one_line(hint)}\n")


def one_line(text: str) -> str:
    """Text from strangers on one line, without control characters that could rewrite a terminal."""
    return "".join(c if c.isprintable() else " " for c in text)
