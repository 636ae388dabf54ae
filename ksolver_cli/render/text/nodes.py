"""Drainability as text: what blocks whom, then a row a node."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from ksolver_cli.domain.report.nodes import NodeBlocker, NodeRow
from ksolver_cli.render.amounts import many, monthly
from ksolver_cli.render.blockers import blocker_object, blocker_words
from ksolver_cli.render.console import paragraph
from ksolver_cli.render.safe import plain

TERMINAL_ROWS = 15
"""Rows shown on a terminal unless all are asked for; a pipe always gets all of them."""
TERMINAL_OBJECTS = 4
"""Objects named after a blocker on a terminal."""
WIDE = 130
"""Columns from which a row has room for its pool, and for its blockers in words."""


@dataclass(slots=True)
class _Group:
    """One way of being blocked: the nodes it holds, and the objects behind it, in their order."""

    words: str
    nodes: dict[str, None] = field(default_factory=dict)
    objects: dict[str, None] = field(default_factory=dict)

    def line(self, shown: int) -> str:
        """`3 nodes: why: which objects`."""
        objects = list(self.objects)
        rest = f" and {len(objects) - shown:,} more" if len(objects) > shown else ""
        return f"{many(len(self.nodes), 'node')}: {self.words}: {', '.join(objects[:shown])}{rest}"


def _blocked_by(rows: Sequence[NodeRow]) -> list[_Group]:
    """Blockers in the same words together, those that hold most nodes first."""
    groups: dict[str, _Group] = {}
    for row in rows:
        for blocker in row.blockers:
            group = groups.setdefault(blocker_words(blocker), _Group(blocker_words(blocker)))
            group.nodes[row.name] = None
            group.objects[blocker_object(blocker)] = None
    return sorted(groups.values(), key=lambda group: (-len(group.nodes), group.words))


def _short(blockers: Sequence[NodeBlocker]) -> str:
    """The kinds of blocker in a word or two each, for where there is no room for more."""
    kinds = Counter(blocker.kind.replace("-", " ") for blocker in blockers)
    return ", ".join(kind if count == 1 else f"{kind} × {count}" for kind, count in kinds.items())


def _summary(blockers: Sequence[NodeBlocker]) -> str:
    first = "; ".join(_one(blocker) for blocker in blockers[:3])
    rest = len(blockers) - 3
    return f"{first}; and {rest} more" if rest > 0 else first


def _one(blocker: NodeBlocker) -> str:
    subject = f"{plain(blocker.pod)}: " if blocker.pod else ""
    return f"{subject}{blocker_words(blocker)}"


def render_nodes(console: Console, rows: Sequence[NodeRow], currency: str, *, every: bool) -> None:
    """Print how many nodes can be drained, the blockers by how many nodes they hold, and the nodes."""
    drainable = sum(1 for row in rows if row.drainable)
    console.print(f"Nodes: {drainable} of {len(rows)} could be drained alone today", style="bold")
    blocked = _blocked_by(rows)
    for group in blocked if every else blocked[:TERMINAL_ROWS]:
        paragraph(console, group.line(len(group.objects) if every else TERMINAL_OBJECTS), 2, hang=2)
    if not every and len(blocked) > TERMINAL_ROWS:
        console.print(f"  and {len(blocked) - TERMINAL_ROWS} more ways", style="dim")
    shown = rows if every else [row for row in rows if row.in_plan or not row.drainable][:TERMINAL_ROWS]
    console.print(_table(shown, currency, wide=console.width >= WIDE))
    if len(shown) < len(rows):
        console.print(f"  {len(rows) - len(shown)} more nodes: --all-nodes shows every one", style="dim")


def _share(permille: int | None) -> str:
    return "–" if permille is None else f"{(permille + 5) // 10} %"


def _table(rows: Sequence[NodeRow], currency: str, *, wide: bool) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("Node", "Type", "Pool") if wide else ("Node", "Type"):
        table.add_column(heading, overflow="fold")
    for heading in ("a month", "cpu", "mem", "pods"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Plan", no_wrap=True)
    table.add_column("Blocked by", overflow="fold")
    for row in rows:
        table.add_row(*_cells(row, currency, wide))
    return table


def _cells(row: NodeRow, currency: str, wide: bool) -> Iterator[str]:
    yield from (plain(row.name), plain(row.instance_type))
    if wide:
        yield plain(row.pool)
    yield monthly(row.price_micros, currency) if row.price_micros is not None else "unpriced"
    yield from (_share(row.cpu_permille), _share(row.memory_permille))
    yield "–" if row.pods is None else str(row.pods)
    yield "remove" if row.in_plan else "keep"
    yield (_summary(row.blockers) if wide else _short(row.blockers)) or "nothing"
