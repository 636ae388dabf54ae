"""The comparison as text: what was compared, how it came out, and every difference."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from ksolver_cli.conform.facts import Bucket, Comparison, Gate, Outcome, Pair
from ksolver_cli.render.conform.record import words
from ksolver_cli.render.safe import plain

TERMINAL_ROWS = 40
"""Differences listed on a terminal; a pipe always gets all of them."""

TITLES = {
    Outcome.AGREE: "agree",
    Outcome.FALSE_POSITIVE: "false positive",
    Outcome.FALSE_NEGATIVE: "false negative",
    Outcome.NO_ANSWER: "no answer",
}
_STYLES = {Gate.PASS: "green", Gate.FAIL: "red", Gate.EMPTY: "yellow"}


def render_comparison(console: Console, found: Comparison) -> None:
    """Print the comparison; the gate's line comes last."""
    asked = found.asked
    told = f" {plain(asked.version)}" if asked.version else ""
    console.print(f"Scheduler: {asked.source}{told}; ours judged as Kubernetes {asked.judged_as}", soft_wrap=True)
    console.print(f"Pods: {len(found.pods)} evaluated of {found.pods_total}", soft_wrap=True)
    console.print(
        f"Nodes: {len(found.nodes)} evaluated of {found.nodes_total}, {found.cordoned} cordoned and skipped",
        soft_wrap=True,
    )
    probes = f"Pairs: {found.pairs_total}, answered by {found.probes} probes of the scheduler"
    console.print(probes + ("; interrupted before the rest" if found.interrupted else ""), soft_wrap=True)
    if found.unreadable:
        console.print(f"Left out, for they cannot be read: {plain(', '.join(found.unreadable))}", soft_wrap=True)
    console.print(_counts(found))
    if found.reason_counts:
        counts = ", ".join(f"{plain(reason)} {count}" for reason, count in sorted(found.reason_counts.items()))
        console.print(f"Divergence expected for: {counts}", soft_wrap=True)
    _list(console, "Strict pairs that do not agree", found.strict.mismatches)
    _list(console, "Other pairs that do not agree, as expected", found.expected.mismatches)
    console.print(f"strict-gate: {found.gate.value}", style=_STYLES[found.gate])


def _counts(found: Comparison) -> Table:
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("")
    for title in TITLES.values():
        table.add_column(title, justify="right", no_wrap=True)
    for name, bucket in (("strict", found.strict), ("divergence expected", found.expected)):
        table.add_row(name, *_row(bucket))
    return table


def _row(bucket: Bucket) -> list[str]:
    return [str(bucket.counts[outcome]) for outcome in TITLES]


def _list(console: Console, title: str, pairs: Sequence[Pair]) -> None:
    if not pairs:
        return
    console.print(title, style="bold")
    shown = pairs[:TERMINAL_ROWS] if console.is_terminal else pairs
    for pair in shown:
        console.print(f"  {TITLES[pair.outcome]}: {plain(pair.pod)} on {plain(pair.node)}", soft_wrap=True)
        ours = "; ".join(map(words, pair.ours.objections)) or "fits"
        console.print(f"    ours: {plain(ours)}", soft_wrap=True)
        theirs = pair.theirs.reason or pair.theirs.said.value
        console.print(f"    scheduler: {plain(theirs)}", soft_wrap=True)
    if len(shown) < len(pairs):
        console.print(f"  {len(pairs) - len(shown)} more: pipe the output, or use -o json", style="dim")
