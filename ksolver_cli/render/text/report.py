"""The whole report as text."""

from rich.console import Console

from ksolver_cli.domain.report.report import Report
from ksolver_cli.render.amounts import hourly, monthly, percent
from ksolver_cli.render.blockers import counted
from ksolver_cli.render.caveats import caveat_words, gap_words
from ksolver_cli.render.safe import plain
from ksolver_cli.render.text.actions import render_actions
from ksolver_cli.render.text.nodes import render_nodes
from ksolver_cli.render.text.waterfall import render_waterfall


def render_report(console: Console, report: Report, *, every_node: bool) -> None:
    """Print all sections; `every_node` gives a row to each node, else only to those that say something."""
    _headline(console, report)
    if report.waterfall is not None and report.prices.priced_nodes:
        console.print()
        render_waterfall(console, report.waterfall, report.prices.currency)
    console.print()
    render_actions(console, report.actions, report.prices.currency)
    if report.nodes:
        console.print()
        render_nodes(console, report.nodes, report.prices.currency, every=every_node)
    _stuck(console, report)
    _caveats(console, report)
    _footer(console, report)


def _headline(console: Console, report: Report) -> None:
    facts = report.cluster
    name = plain(facts.name) or "cluster"
    pods = f"{facts.pods_bound:,} pods on nodes, {facts.pods_pending_fit + facts.pods_pending_stuck} pending"
    console.print(f"{name} · Kubernetes {facts.kubernetes_version} · {facts.nodes:,} nodes · {pods}", style="bold")
    for option in report.options:
        console.print(f"  with {option.name} {plain(option.value)}", style="dim")
    _cost_lines(console, report)


def _cost_lines(console: Console, report: Report) -> None:
    prices, numbers = report.prices, report.numbers
    if not prices.priced_nodes:
        console.print("Cost: unpriced. No node has a price, so nothing below is in money.")
    else:
        now = (
            f"{monthly(prices.cost_micros, prices.currency)} a month ({hourly(prices.cost_micros, prices.currency)}/h)"
        )
        console.print(f"You pay {now}{_unpriced_note(report)}.")
    if numbers is None or report.plan is None:
        return
    removed, moves = len(report.plan.nodes), numbers.drain_moves
    if not removed:
        console.print("No node can be removed today without a pod left pending.")
        return
    saved = report.plan.cost_before_micros - report.plan.cost_after_micros
    share = percent(saved, prices.cost_micros)
    console.print(
        f"Draining {removed} nodes saves {monthly(saved, prices.currency)} a month ({share}); {moves:,} of "
        f"{numbers.movable_pods:,} movable pods move and none stays pending, in {report.plan.replays} replays.",
        style="green",
    )


def _unpriced_note(report: Report) -> str:
    count = report.prices.unpriced_nodes
    return f", and {count} node{'' if count == 1 else 's'} without a price" if count else ""


def _stuck(console: Console, report: Report) -> None:
    if not report.stuck:
        return
    console.print()
    console.print(f"Pending pods that fit on no node today: {len(report.stuck)}", style="bold")
    for stuck in report.stuck:
        console.print(f"  {plain(stuck.pod)}: {counted(stuck.reasons)}", soft_wrap=True)


def _caveats(console: Console, report: Report) -> None:
    lines = [gap_words(gap) for gap in report.gaps] + [caveat_words(caveat) for caveat in report.caveats]
    lines += [f"unpriced: {plain(node)}: {plain(reason)}" for node, reason in report.prices.unpriced]
    if not lines:
        return
    console.print()
    console.print("Caveats and gaps", style="bold")
    for line in lines:
        console.print(f"  {line}", soft_wrap=True)


def _footer(console: Console, report: Report) -> None:
    console.print()
    for source in report.prices.sources:
        date = f" of {source.date}" if source.date else ""
        note = f" ({plain(source.note)})" if source.note else ""
        console.print(f"Prices: {source.nodes} nodes, {source.basis}, {plain(source.source)}{date}{note}", style="dim")
    numbers = report.numbers
    if numbers is not None and report.prices.priced_nodes:
        currency = report.prices.currency
        share = (
            "" if numbers.realised_share is None else f"; the drain plan realises {100 * numbers.realised_share:.1f} %"
        )
        console.print(
            f"Proven: no placement costs less than {monthly(numbers.floor_micros, currency)}; best found "
            f"{monthly(numbers.repack_micros, currency)} ({numbers.repack.status}){share}.",
            style="dim",
        )
    limits = report.limits
    stopped = f", limited by {report.limited_by}" if report.limited_by else ""
    console.print(
        f"ksolver {report.ksolver_version}, seed {limits.seed}, {limits.workers} workers{stopped}", style="dim"
    )
