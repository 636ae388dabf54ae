"""Several snapshots as text: which of them binds, a row for each, and what the plan counts on."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from ksolver_cli.domain.report.robust import RobustFacts, SnapshotRow
from ksolver_cli.render.amounts import many, monthly
from ksolver_cli.render.caveats import caveat_words, gap_words
from ksolver_cli.render.console import paragraph
from ksolver_cli.render.safe import plain

LEGEND = (
    "alone: what the best plan found for that snapshot alone saves; with the newest: for both; at most: proven for "
    "both; given back, blocked: nodes of the plan for the newest alone"
)


def render_robust(console: Console, robust: RobustFacts, currency: str) -> None:
    """Print the rows, then in sentences what they mean."""
    console.print()
    console.print(_title(robust, currency), style="bold")
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("Snapshot", overflow="fold")
    table.add_column("collected at", overflow="fold")
    for name in ("nodes", "pods", "alone", "with the newest", "at most", "given back", "blocked"):
        table.add_column(name, justify="right", overflow="fold")
    table.add_column("")
    for row in robust.snapshots:
        table.add_row(*_cells(row, currency))
    console.print(table)
    for sentence in _sentences(robust):
        paragraph(console, sentence, 2, hang=2)
    paragraph(console, f"({LEGEND})", 2, hang=2, style="dim")


def all_of(robust: RobustFacts) -> str:
    """`both`, or how many there are."""
    return "both" if len(robust.snapshots) == 2 else f"all {len(robust.snapshots)}"


def binding(robust: RobustFacts) -> str:
    """Which snapshot binds, as one sentence."""
    newest, *others = robust.snapshots
    bound = [plain(row.source) for row in others if row.binds]
    if len(bound) > 1:
        return f"{', '.join(bound)} bind alike: each with the newest leaves least."
    if bound:
        return f"{bound[0]} binds: with the newest it leaves least."
    if newest.binds:
        return f"{plain(newest.source)}, the newest, binds: the others take nothing from what it would save alone."
    if not robust.worked_out:
        return "Which snapshot binds was not worked out: the search was ended before."
    return "No single snapshot binds: several of them together do."


def _title(robust: RobustFacts, currency: str) -> str:
    title = f"Snapshots: the plan holds in {all_of(robust)}"
    if robust.saving is None:
        return title
    low, high = (monthly(m, currency) for m in (robust.saving.at_least_micros, robust.saving.at_most_micros))
    return f"{title}; {low} a month (proven best)" if low == high else f"{title}; {low} … {high} a month"


def _cells(row: SnapshotRow, currency: str) -> tuple[str, ...]:
    savings = (row.alone_micros, row.together_micros, row.at_most_micros)
    counts = (row.nodes, row.pods_bound)
    return (
        plain(row.source) + (" (newest)" if row.newest else ""),
        # A blank, so that a narrow column breaks between day and hour.
        plain(row.collected_at).replace("T", " ") or "not said",
        *("–" if count is None else f"{count:,}" for count in counts),
        *("–" if micros is None else monthly(micros, currency) for micros in savings),
        *("" if row.newest else "–" if count is None else f"{count:,}" for count in (row.given_back, row.blocked)),
        "binds" if row.binds else "",
    )


def _sentences(robust: RobustFacts) -> Iterator[str]:
    newest = plain(robust.snapshots[0].source)
    for row in robust.snapshots[1:]:
        name = plain(row.source)
        if row.nodes_only_here:
            gone = many(row.nodes_only_here, "node")
            yield f"{name}: {gone} that {newest} does not have: the plan counts on such when that load comes back."
        if row.nodes_missing:
            yield f"{name}: did without {many(row.nodes_missing, 'node')} of {newest}; they are free to go there."
        yield from (f"{name}: {gap_words(gap)}" for gap in row.gaps)
        yield from (f"{name}: {caveat_words(caveat)}" for caveat in row.caveats)
    yield f"All that stands elsewhere in this report, and the commands, speak of {newest}, the newest."
