"""The first lines of the report: what was looked at, what it costs, and what draining saves."""

from rich.console import Console

from ksolver_cli.domain.report.plan_facts import PlanFacts
from ksolver_cli.domain.report.report import ClusterFacts, Report
from ksolver_cli.render.amounts import hourly, many, monthly, percent
from ksolver_cli.render.console import paragraph
from ksolver_cli.render.safe import plain
from ksolver_cli.render.text.robust import all_of, binding

STOPPED = {"time": "the time limit", "interrupt": "Ctrl-C"}
"""What may end a search before its work is done."""


def render_headline(console: Console, report: Report) -> None:
    """Print the cluster, the options in force, the cost, and the saving."""
    paragraph(console, _looked_at(report.cluster), style="bold")
    for option in report.options:
        paragraph(console, f"with {option.name} {plain(option.value)}", 2, style="dim")
    if not report.cluster.nodes:
        paragraph(console, "The input holds no node, so there is nothing to price and nothing to drain.")
        return
    paragraph(console, _cost(report))
    if report.plan is not None:
        paragraph(console, _outcome(report, report.plan), style="green" if report.plan.nodes else "")
    if report.robust is not None:
        paragraph(console, f"The plan holds in {all_of(report.robust)} snapshots. {binding(report.robust)}")
    if report.limited_by in STOPPED:
        early = f"The search was ended by {STOPPED[report.limited_by]}: there may be more to save."
        paragraph(console, early, style="yellow")


def _looked_at(facts: ClusterFacts) -> str:
    nodes = "nodes not in the input" if facts.nodes is None else many(facts.nodes, "node")
    pods = "pods not in the input"
    if facts.pods_bound is not None:
        pending = (facts.pods_pending_fit or 0) + (facts.pods_pending_stuck or 0)
        pods = f"{many(facts.pods_bound, 'pod')} on nodes, {pending:,} pending"
    return f"{plain(facts.name) or 'cluster'} · Kubernetes {facts.kubernetes_version} · {nodes} · {pods}"


def _cost(report: Report) -> str:
    prices, currency = report.prices, report.prices.currency
    if prices.cost_micros is None:
        return "Cost: unpriced. No node has a price, so nothing below is in money; --prices FILE says what they cost."
    now = f"{monthly(prices.cost_micros, currency)} a month ({hourly(prices.cost_micros, currency)}/h)"
    for_nodes = f" for {many(prices.priced_nodes, 'node')}" if prices.unpriced_nodes else ""
    sentences = [f"You pay {now}{for_nodes}."]
    if prices.committed_nodes:
        sentences.append(_committed(report))
    if prices.unpriced_nodes:
        sentences.append(f"{_have(prices.unpriced_nodes)} no price, and no part in any amount.")
    return " ".join(sentences)


def _have(count: int) -> str:
    return "1 node has" if count == 1 else f"{count:,} nodes have"


def _committed(report: Report) -> str:
    prices = report.prices
    which = f"{many(prices.committed_nodes, 'node')} of these {'is' if prices.committed_nodes == 1 else 'are'}"
    worth = ""
    if prices.committed_micros is not None:
        worth = f" (up to {monthly(prices.committed_micros, prices.currency)} a month on top)"
    return f"{which} committed: paid for whether running or not{worth}, so removing them saves nothing."


def _outcome(report: Report, plan: PlanFacts) -> str:
    if not plan.nodes:
        if report.cluster.pods_bound is None:
            return "What runs on the nodes is not in the input, so none of them can be called removable."
        return "No node can be removed for a saving today; Nodes below says what blocks each."
    movable = sum(row.movable or 0 for row in report.nodes)
    moved = sum(1 for move in plan.moves if move.source)
    moves = f"{moved:,} of {many(movable, 'movable pod')} {'moves' if moved == 1 else 'move'}"
    proof = f"{moves} and none stays pending, in {many(plan.replays, 'replay')}"
    nodes = many(len(plan.nodes), "node")
    if plan.saving_micros is None:
        return f"{nodes} can be drained and removed; {proof}."
    share = percent(plan.saving_micros, report.prices.cost_micros or 0)
    of_what = " of what is priced" if report.prices.unpriced_nodes else ""
    saved = monthly(plan.saving_micros, report.prices.currency)
    return f"Draining {nodes} saves {saved} a month ({share}{of_what}); {proof}."
