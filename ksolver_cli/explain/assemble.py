"""Puts the report together from what the stages found."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.money import Price, Unpriced
from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.domain.pod import Phase, Pod
from ksolver_cli.domain.report.money_facts import Prices
from ksolver_cli.domain.report.report import ClusterFacts, CurvePoint, OptionFact, Report, StuckPod
from ksolver_cli.explain.actions import actions
from ksolver_cli.explain.drainability import Today, node_rows
from ksolver_cli.explain.money import price_facts
from ksolver_cli.explain.potential import Potential
from ksolver_cli.explain.reasons import Reasons
from ksolver_cli.explain.waterfall import Found, Moves, three_numbers, waterfall
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.search import SearchResult


@dataclass(frozen=True)
class Answers:
    """What the stages found. `potential` is None where it was not solved for (no price, no node, no time)."""

    cluster: Cluster
    classes: Classes
    prices: Mapping[str, Price | Unpriced]
    weights: Mapping[str, int | None]
    found: SearchResult
    limits: Limits
    potential: Potential | None = None
    options: tuple[OptionFact, ...] = ()


def assemble(answers: Answers, version: str) -> Report:
    """The report's facts; no solve happens here."""
    cluster, money = answers.cluster, price_facts(answers.prices)
    prospects = Prospects(cluster, answers.classes, answers.weights)
    waiting = {pod.key for pod in prospects.board.waiting}
    stuck = [pod for pod in cluster.pods if is_pending(pod) and pod.key not in waiting]
    plan = _in_money(answers.found.plan, money)
    prices = {name: p.micros_per_hour if isinstance(p, Price) else None for name, p in answers.prices.items()}
    today = Today(cluster, answers.classes, prospects, prices, frozenset(plan.nodes))
    rows = node_rows(today)
    found = _found(answers, money)
    return Report(
        ksolver_version=version,
        cluster=_facts(answers, len(stuck)),
        prices=money,
        limits=answers.limits,
        limited_by=answers.found.limited_by or (answers.potential and answers.potential.limited_by) or None,
        waterfall=waterfall(found) if found else None,
        numbers=three_numbers(found, _moves(answers)) if found else None,
        plan=plan,
        judgement=answers.found.judgement,
        actions=actions(cluster, answers.classes, plan, money, rows),
        nodes=rows,
        stuck=_stuck(cluster, answers.classes, stuck),
        gaps=cluster.gaps,
        caveats=cluster.caveats,
        options=answers.options,
        curve=tuple(CurvePoint(point.moves, point.saving_micros) for point in answers.found.curve),
    )


def is_pending(pod: Pod) -> bool:
    """Waits for a node: not bound, not finished, not on its way out."""
    return pod.phase is Phase.PENDING and not pod.node_name and not pod.deleting


def _in_money(plan: DrainPlan, money: Prices) -> DrainPlan:
    """The plan; without any price its costs were counts of nodes, and are not shown as money."""
    return plan if money.priced_nodes else replace(plan, cost_before_micros=0, cost_after_micros=0)


def _found(answers: Answers, money: Prices) -> Found | None:
    potential, plan = answers.potential, answers.found.plan
    if potential is None or not money.priced_nodes:
        return None
    return Found(plan.cost_before_micros, plan.cost_after_micros, potential.repack, potential.relaxed)


def _moves(answers: Answers) -> Moves:
    movable = sum(1 for pod in answers.cluster.pods if must_move(pod))
    repack = answers.potential.repack_moves if answers.potential else 0
    return Moves(movable, repack, len(answers.found.plan.moves))


def _facts(answers: Answers, stuck: int) -> ClusterFacts:
    cluster = answers.cluster
    major, minor = cluster.kubernetes_version
    return ClusterFacts(
        name=cluster.name,
        kubernetes_version=f"{major}.{minor}",
        collected_at=cluster.collected_at,
        nodes=len(cluster.nodes),
        nodes_unready=sum(1 for node in cluster.nodes if not node.ready),
        nodes_cordoned=sum(1 for node in cluster.nodes if node.unschedulable),
        nodes_virtual=sum(1 for node in cluster.nodes if node.is_virtual),
        pods_bound=sum(1 for pod in cluster.pods if pod.is_bound),
        pods_daemon=sum(1 for pod in cluster.pods if pod.is_bound and pod.is_daemon),
        pods_pending_fit=sum(1 for pod in cluster.pods if is_pending(pod)) - stuck,
        pods_pending_stuck=stuck,
        pod_classes=len(answers.classes.pods),
        node_classes=len(answers.classes.nodes),
    )


def _stuck(cluster: Cluster, classes: Classes, pods: list[Pod]) -> tuple[StuckPod, ...]:
    reasons = Reasons(cluster, classes)
    return tuple(StuckPod(pod.key, reasons.elsewhere(pod)) for pod in pods)
