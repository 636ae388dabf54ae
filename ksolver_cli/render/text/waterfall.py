"""The waterfall as floating bars, from what is paid now down to the floor."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ksolver_cli.domain.report.waterfall import Step, StepKind, Waterfall
from ksolver_cli.render.amounts import monthly, percent

LABELS: dict[StepKind, str] = {
    StepKind.CONSOLIDATION: "Placement consolidation",
    StepKind.STEERING: "Steered repacking",
    StepKind.RIGHTSIZING: "Request rightsizing",
    StepKind.RELAXATION: "Constraint relaxation",
}
_NARROWEST_BAR = 10
_FIXED_COLUMNS = 58


def _bar(start: int, end: int, whole: int, width: int, style: str) -> Text:
    """Filled from start to end on a scale of `whole`; anything above nothing shows at least one cell."""
    if whole <= 0 or end <= start:
        return Text(" " * width)
    left = round(width * start / whole)
    right = max(round(width * end / whole), left + 1)
    left = min(left, width - 1)
    return Text(" " * left + "█" * (right - left) + " " * (width - right), style=style)


def _interval(step: Step, currency: str) -> str:
    if step.saving is None:
        return step.reason or "not measured"
    low, high = monthly(step.saving.at_least_micros, currency), monthly(step.saving.at_most_micros, currency)
    return f"{low} (proven best)" if low == high else f"{low} … {high}"


def render_waterfall(console: Console, waterfall: Waterfall, currency: str) -> None:
    """Print the waterfall; the steps sum exactly from the first row to the last."""
    whole = waterfall.current_micros
    width = max(_NARROWEST_BAR, min(60, console.width - _FIXED_COLUMNS))
    table = Table(box=None, show_header=True, header_style="bold", padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("Waterfall", overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("a month", justify="right", no_wrap=True)
    table.add_column("at least, at most", overflow="fold")
    table.add_row("Current cost", _bar(0, whole, whole, width, "blue"), monthly(whole, currency), "")
    for step in waterfall.steps:
        bar = _bar(step.after_micros, step.before_micros, whole, width, "green" if step.saving else "dim")
        change = monthly(step.after_micros - step.before_micros, currency) if step.saving else "–"
        table.add_row(LABELS[step.kind], bar, change, _interval(step, currency))
    floor = waterfall.floor_micros
    proven = f"never below {monthly(waterfall.bound_micros, currency)}"
    table.add_row("Floor", _bar(0, floor, whole, width, "cyan"), monthly(floor, currency), proven)
    console.print(table)
    console.print(f"Floor ÷ current: {percent(floor, whole)}", style="dim")
