"""Write the kinds and fields of `docs/reference/snapshot.md` from the allow-list, so that page and code are one.

Usage: python -m tools.snapshot_reference [--check]
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from ksolver_cli.snapshot.kinds import KINDS
from ksolver_cli.snapshot.shape.metadata import ANNOTATIONS
from ksolver_cli.snapshot.shape.table import OBJECTS
from ksolver_cli.snapshot.shape.vocabulary import Each, Record, Shape, Table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "snapshot.md"
BEGIN, END = "<!-- made by tools/snapshot_reference.py -->", "<!-- end -->"
_DEPTH = 3


def _fields(shape: Shape, path: str, depth: int) -> Iterator[str]:
    inner = getattr(shape, "_shape", None)
    if isinstance(shape, Record) and depth and shape.fields:
        for name, field in sorted(shape.fields.items()):
            yield from _fields(field, f"{path}.{name}" if path else name, depth - 1)
    elif isinstance(shape, Each) and inner is not None:
        yield from _fields(inner, f"{path}[]", depth)
    elif isinstance(shape, Table):
        yield f"{path}.*"
    else:
        yield path


def page() -> str:
    """The generated part of the page."""
    lines = ["", "| kind | API | fields besides metadata |", "|---|---|---|"]
    for kind in KINDS:
        record = Record(
            {k: v for k, v in OBJECTS[kind.plural].fields.items() if k not in ("apiVersion", "kind", "metadata")}
        )
        fields = " ".join(f"`{field}`" for field in _fields(record, "", _DEPTH)) if record.fields else "none"
        lines.append(f"| {kind.plural} | {kind.kind}{f' ({kind.group})' if kind.group else ''} | {fields} |")
    lines += ["", "## Annotations", ""]
    lines += [f"- `{name}`" for name in sorted(ANNOTATIONS)]
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    """Write the page, or check that it is up to date."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    made = f"{head}{BEGIN}\n{page()}\n{END}{rest.partition(END)[2]}"
    if "--check" in arguments:
        return 0 if made == text else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
