"""What the text report prints to be run, taken from it as a person would: by its indentation."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

_ACTION = re.compile(r"^  ([A-Z]\d+)  (\S.*)$")
_HEADING = re.compile(r"^    (check first|run|undo)$")
_COMMAND = "      "


@dataclass
class Printed:
    """One action of the report, with its lines under each heading."""

    id: str
    title: str
    blocks: dict[str, list[str]] = field(default_factory=dict)

    @property
    def pasted(self) -> list[str]:
        """What stands under "run", cut where a shell ends a command."""
        text = "\n".join(self.blocks.get("run", ()))
        return [piece for piece in re.split(r"(?<!\\)\n", text) if piece]

    @property
    def commands(self) -> list[list[str]]:
        """The same as a shell reads it."""
        lines = (piece.replace("\\\n", " ") for piece in self.pasted)
        return [words for line in lines if (words := shlex.split(line, comments=True))]


def actions(report: str) -> list[Printed]:
    """The actions of a text report, in its order."""
    found: list[Printed] = []
    block: list[str] | None = None
    for line in _section(report.splitlines()):
        if head := _ACTION.match(line):
            found.append(Printed(head[1], head[2]))
            block = None
        elif heading := _HEADING.match(line):
            block = found[-1].blocks.setdefault(heading[1], [])
        elif block is not None and line.startswith(_COMMAND):
            block.append(line)
    return found


def _section(lines: Sequence[str]) -> Sequence[str]:
    start = lines.index("Actions") + 1
    return lines[start : lines.index("", start)]
