"""The whole report as text."""

from rich.console import Console

from ksolver_cli.domain.report.report import Report
from ksolver_cli.domain.report.waterfall import ThreeNumbers
from ksolver_cli.render.amounts import many, monthly
from ksolver_cli.render.blockers import counted
from ksolver_cli.render.caveats import caveat_words, gap_words
from ksolver_cli.render.console import paragraph
from ksolver_cli.render.safe import plain
from ksolver_cli.render.text.actions import render_actions
from ksolver_cli.render.text.gpu_class import render_gpu_classes
from ksolver_cli.render.text.headline import render_headline
from ksolver_cli.render.text.nodes import render_nodes
from ksolver_cli.render.text.robust import render_robust
from ksolver_cli.render.text.waterfall import render_waterfall


def render_report(console: Console, report: Report, *, every_node: bool) -> None:
    """Print all sections; `every_node` gives a row to each node, else only to those that say something."""
    render_headline(console, report)
    if report.robust is not None:
        render_robust(console, report.robust, report.prices.currency)
    if report.waterfall is not None and report.prices.priced_nodes:
        console.print()
        render_waterfall(console, report.waterfall, report.prices.currency)
    if report.nodes:
        console.print()
        render_actions(console, report.actions, report.prices.currency, every=every_node)
        console.print()
        render_nodes(console, report.nodes, report.prices.currency, every=every_node)
    render_gpu_classes(console, report.gpu_classes)
    _stuck(console, report)
    _caveats(console, report)
    _footer(console, report)


def _stuck(console: Console, report: Report) -> None:
    if not report.stuck:
        return
    console.print()
    console.print(f"Pending pods that fit on no node today: {len(report.stuck)}", style="bold")
    for stuck in report.stuck:
        paragraph(console, f"{plain(stuck.pod)}: {counted(stuck.reasons)}", 2, hang=2)


def _caveats(console: Console, report: Report) -> None:
    lines = [gap_words(gap) for gap in report.gaps] + [caveat_words(caveat) for caveat in report.caveats]
    lines += [f"unpriced: {plain(node)}: {plain(reason)}" for node, reason in report.prices.unpriced]
    if not lines:
        return
    console.print()
    console.print("Caveats and gaps", style="bold")
    for line in lines:
        paragraph(console, line, 2, hang=2)


def _footer(console: Console, report: Report) -> None:
    console.print()
    for source in report.prices.sources:
        date = f" of {source.date}" if source.date else ""
        note = f" ({plain(source.note)})" if source.note else ""
        nodes = many(source.nodes, "node")
        paragraph(console, f"Prices: {nodes}, {source.basis}, {plain(source.source)}{date}{note}", hang=2, style="dim")
    numbers = report.numbers
    if numbers is not None and report.prices.priced_nodes:
        paragraph(console, _proven(numbers, report.prices.currency), hang=2, style="dim")
    limits = report.limits
    stopped = f", limited by {report.limited_by}" if report.limited_by else ""
    workers = many(limits.workers, "worker")
    console.print(f"ksolver {report.ksolver_version}, seed {limits.seed}, {workers}{stopped}", style="dim")


def _proven(numbers: ThreeNumbers, currency: str) -> str:
    floor, best = monthly(numbers.floor_micros, currency), monthly(numbers.repack_micros, currency)
    share = numbers.realised_share
    realised = "" if share is None else f"; the drain plan realises {100 * share:.1f} % of the difference"
    return f"Proven: under today's rules no placement costs less than {floor}; best found {best}{realised}."
