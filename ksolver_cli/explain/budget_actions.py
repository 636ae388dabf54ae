"""Disruption budgets that can never allow an eviction: what they keep, and how to mend them."""

import json
from collections.abc import Mapping, Sequence

from ksolver_cli.constraints.eviction import BlockerKind
from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.report.actions import Action, ActionKind, Command, Level
from ksolver_cli.domain.report.nodes import NodeBlocker, NodeRow


def budget_actions(cluster: Cluster, rows: Sequence[NodeRow]) -> tuple[Action, ...]:
    """One action for each budget that keeps nodes from being drained, those that keep most first.

    It carries no amount: what more could be drained takes a solve of its own, and nothing unjudged is shown as money.
    """
    kept: dict[str, list[NodeRow]] = {}
    for row in rows:
        names = {b.source.name for b in row.blockers if b.kind == BlockerKind.BUDGET and b.source is not None}
        for name in names:
            kept.setdefault(name, []).append(row)
    budgets = {f"{budget.namespace}/{budget.name}": budget for budget in cluster.budgets}
    ranked = sorted((name for name in kept if name in budgets), key=lambda name: (-len(kept[name]), name))
    return tuple(_action(number, budgets[name], kept[name]) for number, name in enumerate(ranked, start=1))


def _action(number: int, budget: DisruptionBudget, rows: Sequence[NodeRow]) -> Action:
    alone = [row for row in rows if {_object(b) for b in row.blockers} == {f"{budget.namespace}/{budget.name}"}]
    says = (
        f"minAvailable {budget.min_available}" if budget.min_available else f"maxUnavailable {budget.max_unavailable}"
    )
    return Action(
        id=f"B{number}",
        kind=ActionKind.FIX_BUDGET,
        subject=f"{budget.namespace}/{budget.name}",
        nodes=tuple(row.name for row in rows),
        pods_moved=0,
        saving=None,
        effort=Level.LOW,
        risk=Level.MEDIUM,
        reasons=(
            f"{says} of {budget.expected_pods or 'its'} pods allows no eviction: it stands in the way on {len(rows)} "
            f"nodes, on {len(alone)} of them alone",
            "ask its owner first; with one pod at a time allowed, run the analysis again",
        ),
        prechecks=(Command(_kubectl(budget, "get", "-o", "yaml"), "see it as it is"),),
        commands=(Command(_patch(budget, {"minAvailable": None, "maxUnavailable": 1}), "allow one pod at a time"),),
        undo=(Command(_patch(budget, _as_it_was(budget)), "put it back"),),
    )


def _object(blocker: NodeBlocker) -> str:
    return blocker.source.name if blocker.source is not None else ""


def _kubectl(budget: DisruptionBudget, verb: str, *rest: str) -> tuple[str, ...]:
    return "kubectl", verb, "poddisruptionbudget", budget.name, "-n", budget.namespace, *rest


def _patch(budget: DisruptionBudget, spec: Mapping[str, str | int | None]) -> tuple[str, ...]:
    return _kubectl(budget, "patch", "--type", "merge", "-p", json.dumps({"spec": dict(spec)}))


def _as_it_was(budget: DisruptionBudget) -> dict[str, str | int | None]:
    return {"minAvailable": _value(budget.min_available), "maxUnavailable": _value(budget.max_unavailable)}


def _value(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdigit() else text
