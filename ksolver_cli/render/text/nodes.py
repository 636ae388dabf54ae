"""Drainability as text: what blocks whom, then a row a node."""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ksolver_cli.domain.report.nodes import NodeBlocker, NodeRow
from ksolver_cli.render.amounts import monthly
from ksolver_cli.render.blockers import blocker_object, blocker_words
from ksolver_cli.render.safe import plain

TERMINAL_ROWS = 15
"""Rows shown on a terminal unless all are asked for; a pipe always gets all of them."""


def _blocked_by(rows: Sequence[NodeRow]) -> list[tuple[str, int]]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update({f"{blocker_words(b)}: {blocker_object(b)}" for b in row.blockers})
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


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
    for words, count in blocked if every else blocked[:TERMINAL_ROWS]:
        console.print(f"  {count:>4} × {words}", soft_wrap=True)
    if not every and len(blocked) > TERMINAL_ROWS:
        console.print(f"         and {len(blocked) - TERMINAL_ROWS} more", style="dim")
    shown = rows if every else [row for row in rows if row.in_plan or not row.drainable][:TERMINAL_ROWS]
    console.print(_table(shown, currency))
    if len(shown) < len(rows):
        console.print(f"  {len(rows) - len(shown)} more nodes: --all-nodes shows every one", style="dim")


def _share(permille: int | None) -> str:
    return "–" if permille is None else f"{(permille + 5) // 10} %"


def _table(rows: Sequence[NodeRow], currency: str) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("Node", "Type", "Pool"):
        table.add_column(heading, overflow="fold")
    for heading in ("a month", "cpu", "mem", "pods"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Plan", no_wrap=True)
    table.add_column("What blocks it", overflow="fold")
    for row in rows:
        price = monthly(row.price_micros, currency) if row.price_micros is not None else "unpriced"
        plan = "remove" if row.in_plan else "keep"
        table.add_row(
            plain(row.name),
            plain(row.instance_type),
            plain(row.pool),
            price,
            _share(row.cpu_permille),
            _share(row.memory_permille),
            "–" if row.pods is None else str(row.pods),
            plan,
            _summary(row.blockers) or "nothing",
        )
    return table
