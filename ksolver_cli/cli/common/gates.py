"""`--fail-on`: thresholds that make a finished report exit 1."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.domain.money import MICROS, monthly_micros
from ksolver_cli.domain.report.report import Report

_GATE = re.compile(r"^([a-z-]+)(?:=(\d+(?:\.\d+)?))?$")


def _saving(report: Report) -> float | None:
    saved = report.plan.saving_micros if report.plan else None
    return None if saved is None else monthly_micros(saved) / MICROS


def _saving_percent(report: Report) -> float | None:
    saved, current = report.plan.saving_micros if report.plan else None, report.prices.cost_micros
    if saved is None or current is None:
        return None
    return 100 * saved / current if current > 0 else 0.0


MEASURES: dict[str, Callable[[Report], float | None]] = {
    "saving": _saving,
    "saving-percent": _saving_percent,
    "removable-nodes": lambda report: len(report.plan.nodes) if report.plan else 0,
    "pending": lambda report: report.cluster.pods_pending_stuck,
    "unpriced": lambda report: report.prices.unpriced_nodes,
    "gaps": lambda report: len(report.gaps),
    "caveats": lambda report: len(report.caveats),
}
"""What can be gated on: saving in units of the currency a month, saving in percent of the current cost, and counts.
None is not known.
"""


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
    """One line for each gate that tripped. One that asks for what is not known trips too: it cannot be passed."""
    lines = []
    for gate in gates:
        value = MEASURES[gate.name](report)
        if value is None:
            lines.append(f"--fail-on {gate.name}: not known, see the gaps of the report")
        elif value > 0 and value >= gate.limit:
            lines.append(f"--fail-on {gate.name}: {value:g}" + (f" ≥ {gate.limit:g}" if gate.limit else ""))
    return lines
