"""Puts the report together from what the stages found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster, Gap
from ksolver_cli.domain.money import Price, Unpriced
from ksolver_cli.domain.plan import DrainPlan, Judgement, Limits
from ksolver_cli.domain.pod import Phase, Pod
from ksolver_cli.domain.report.money_facts import Prices
from ksolver_cli.domain.report.plan_facts import CurvePoint, PlanFacts
from ksolver_cli.domain.report.report import ClusterFacts, OptionFact, Report, StuckPod
from ksolver_cli.explain.actions import actions, hypothetical
from ksolver_cli.explain.drainability import Today, node_rows
from ksolver_cli.explain.money import in_currency, price_facts
from ksolver_cli.explain.potential import Potential
from ksolver_cli.explain.reasons import Reasons
from ksolver_cli.explain.waterfall import Found, Moves, three_numbers, waterfall
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.search import SearchResult

T = TypeVar("T")


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
    loosened: bool = False
    """Whether an option lets through what today's rules reject."""


def assemble(answers: Answers, version: str) -> Report:
    """The report's facts; no solve happens here."""
    cluster, money = answers.cluster, price_facts(answers.prices)
    prospects = answers.found.prospects or Prospects(cluster, answers.classes, answers.weights)
    waiting = {pod.key for pod in prospects.board.waiting}
    stuck = [pod for pod in cluster.pods if is_pending(pod) and pod.key not in waiting]
    plan = answers.found.plan
    prices = in_currency(answers.prices, money.currency)
    today = Today(cluster, answers.classes, prospects, prices, frozenset(plan.nodes))
    rows = node_rows(today)
    found = _found(answers, money)
    todo = actions(cluster, answers.classes, plan, money, rows)
    return Report(
        ksolver_version=version,
        cluster=_facts(answers, len(stuck)),
        prices=money,
        limits=answers.limits,
        limited_by=answers.found.limited_by or (answers.potential and answers.potential.limited_by) or None,
        waterfall=waterfall(found) if found else None,
        numbers=three_numbers(found, _moves(answers)) if found else None,
        plan=_plan_facts(plan, money),
        judgement=_in_money(answers, money),
        actions=hypothetical(todo) if answers.loosened else todo,
        nodes=rows,
        stuck=_stuck(cluster, answers.classes, stuck),
        gaps=(*cluster.gaps, *_unmade(answers, found, money)),
        caveats=cluster.caveats,
        options=answers.options,
        curve=_curve(answers.found, money),
    )


def is_pending(pod: Pod) -> bool:
    """Waits for a node: not bound, not finished, not on its way out."""
    return pod.phase is Phase.PENDING and not pod.node_name and not pod.deleting


def _plan_facts(plan: DrainPlan, money: Prices) -> PlanFacts:
    """The plan; without any price its costs were counts of nodes, and are not shown as money."""
    saved = plan.cost_before_micros - plan.cost_after_micros
    after = None if money.cost_micros is None else money.cost_micros - saved
    return PlanFacts(plan.waves, money.cost_micros, after, plan.moves, plan.replays, plan.notes)


def _in_money(answers: Answers, money: Prices) -> Judgement:
    """The judgement; what was weighed was money only where there are prices, and pods that could be weighed with."""
    judgement = answers.found.judgement
    if answers.cluster.knows("pods") and money.priced_nodes:
        return judgement
    return replace(judgement, cost_after_micros=money.cost_micros)


def _curve(found: SearchResult, money: Prices) -> tuple[CurvePoint, ...]:
    return tuple(
        CurvePoint(point.moves, point.nodes, point.saving_micros if money.priced_nodes else None)
        for point in found.curve
    )


def _unmade(answers: Answers, found: Found | None, money: Prices) -> tuple[Gap, ...]:
    """Why sections are missing."""
    if found is not None:
        return ()
    if not answers.cluster.knows("pods"):
        return (Gap("waterfall", "what runs on the nodes is not in the input"),)
    return (Gap("waterfall", "no node costs anything" if money.priced_nodes else "no node has a price"),)


def _found(answers: Answers, money: Prices) -> Found | None:
    potential, plan = answers.potential, answers.found.plan
    if potential is None or not money.priced_nodes:
        return None
    return Found(plan.cost_before_micros, plan.cost_after_micros, potential.repack, potential.relaxed)


def _moves(answers: Answers) -> Moves:
    movable = sum(1 for pod in answers.cluster.pods if must_move(pod))
    repack = answers.potential.repack_moves if answers.potential else 0
    # Pods that waited before the plan are placed in it too; they leave no node. Some move twice.
    return Moves(movable, repack, len({move.pod for move in answers.found.plan.moves if move.source}))


def _facts(answers: Answers, stuck: int) -> ClusterFacts:
    cluster = answers.cluster
    major, minor = cluster.kubernetes_version
    nodes = cluster.nodes if cluster.knows("nodes") else None
    pods = cluster.pods if cluster.knows("pods") else None
    pending = _count(pods, is_pending)
    return ClusterFacts(
        name=cluster.name,
        kubernetes_version=f"{major}.{minor}",
        collected_at=cluster.collected_at,
        nodes=_count(nodes, lambda node: True),
        nodes_unready=_count(nodes, lambda node: not node.ready),
        nodes_cordoned=_count(nodes, lambda node: node.unschedulable),
        nodes_virtual=_count(nodes, lambda node: node.is_virtual),
        pods_bound=_count(pods, lambda pod: pod.is_bound),
        pods_daemon=_count(pods, lambda pod: pod.is_bound and pod.is_daemon),
        pods_pending_fit=None if pending is None else pending - stuck,
        pods_pending_stuck=None if pending is None else stuck,
        pod_classes=len(answers.classes.pods),
        node_classes=len(answers.classes.nodes),
    )


def _count(objects: Sequence[T] | None, wanted: Callable[[T], bool]) -> int | None:
    """How many there are; None where the input does not hold the kind."""
    return None if objects is None else sum(1 for one in objects if wanted(one))


def _stuck(cluster: Cluster, classes: Classes, pods: list[Pod]) -> tuple[StuckPod, ...]:
    reasons = Reasons(cluster, classes)
    return tuple(StuckPod(pod.key, reasons.elsewhere(pod)) for pod in pods)
