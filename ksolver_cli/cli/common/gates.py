"""`--fail-on`: thresholds that make a finished report exit 1."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.domain.money import MICROS, monthly_micros
from ksolver_cli.domain.report.report import Report

_GATE = re.compile(r"^([a-z-]+)(?:=(\d+(?:\.\d+)?))?$")


def _saving(report: Report) -> float:
    plan = report.plan
    return 0.0 if plan is None else monthly_micros(plan.cost_before_micros - plan.cost_after_micros) / MICROS


def _saving_percent(report: Report) -> float:
    current = report.prices.cost_micros
    plan = report.plan
    return 0.0 if plan is None or current <= 0 else 100 * (plan.cost_before_micros - plan.cost_after_micros) / current


MEASURES: dict[str, Callable[[Report], float]] = {
    "saving": _saving,
    "saving-percent": _saving_percent,
    "removable-nodes": lambda report: len(report.plan.nodes) if report.plan else 0,
    "pending": lambda report: len(report.stuck),
    "unpriced": lambda report: report.prices.unpriced_nodes,
    "gaps": lambda report: len(report.gaps),
    "caveats": lambda report: len(report.caveats),
}
"""What can be gated on: saving in units of the currency a month, saving in percent of the current cost, and counts."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Trips when the measure is at least the limit."""

    name: str
    limit: float


def parse_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """`saving=500`, `unpriced`; a name alone means any at all. Raises CommandError for an unknown one."""
    return tuple(_gate(text) for text in texts)


def _gate(text: str) -> Gate:
    match = _GATE.match(text)
    if match is None or match[1] not in MEASURES:
        names = ", ".join(f"{name}=N" for name in MEASURES)
        raise CommandError(f"--fail-on {text}: no such threshold", f"thresholds are: {names}", Exit.USAGE)
    return Gate(match[1], float(match[2]) if match[2] else 0.0)


def tripped(report: Report, gates: Sequence[Gate]) -> list[str]:
    """One line for each gate that tripped."""
    lines = []
    for gate in gates:
        value = MEASURES[gate.name](report)
        if value > 0 and value >= gate.limit:
            lines.append(f"--fail-on {gate.name}: {value:g} ≥ {gate.limit:g}")
    return lines
