"""How good the model is on workloads it has not seen, and what its data justify."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ksolver_cli.vram.facts import from_numbers, preallocates
from ksolver_cli.vram.memory.estimate import Estimate
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.predict.residual import log_ratios, modelled, residual_of, usable
from ksolver_cli.vram.predict.statistics import percentile

ADVISORY_ROWS = 200
NEARLY_FULL_ROWS = 10
NEARLY_FULL = 0.9
HARD_OOMS = 1
HARD_MODELS = 2
HARD_FINGERPRINTS = 50


@dataclass(frozen=True)
class Calibration:
    """Errors by leave-one-fingerprint-out, in MiB, and the two gates with what is missing for each.

    `preallocating` rows are left out of everything else. `mae_mib` and `p95_mib` are of the absolute error,
    `under_rate` is the share of rows whose peak was above the prediction. They are None where no row has hints enough
    for the model.
    """

    rows: int
    preallocating: int
    predicted: int
    fingerprints: int
    nearly_full_rows: int
    ooms: int
    gpu_models: int
    mae_mib: float | None
    p95_mib: float | None
    under_rate: float | None
    advisory_missing: tuple[str, ...]
    hard_missing: tuple[str, ...]

    @property
    def advisory(self) -> bool:
        """Whether the data justify advisory use."""
        return not self.advisory_missing

    @property
    def hard(self) -> bool:
        """Whether the data justify hard use."""
        return not self.hard_missing

    def record(self) -> dict[str, object]:
        """Return the calibration as plain data."""
        return {
            "rows": self.rows,
            "preallocating_rows": self.preallocating,
            "predicted_rows": self.predicted,
            "fingerprints": self.fingerprints,
            "rows_at_90_percent_of_the_card": self.nearly_full_rows,
            "ooms": self.ooms,
            "gpu_models": self.gpu_models,
            "mae_mib": self.mae_mib,
            "p95_mib": self.p95_mib,
            "under_prediction_rate": self.under_rate,
            "advisory": {"justified": self.advisory, "missing": list(self.advisory_missing)},
            "hard": {"justified": self.hard, "missing": list(self.hard_missing)},
        }


def calibrate(observations: Iterable[Observation]) -> Calibration:
    """Return how the memory model with its residual does on each fingerprint when it has learnt from all others.

    Rows on shared devices say nothing about a workload, nor do those of programs that take a fraction of their card,
    nearly full as it is: neither counts. Rows without the hints that the model needs count as rows, but not in the
    errors.
    """
    alone = usable(observations)
    rows = [row for row in alone if not preallocates(from_numbers(row.hints))]
    errors = list(_errors(rows))
    sizes = [abs(error) for error in errors]
    nearly_full = sum(1 for row in rows if row.capacity_mib and row.peak_mib >= NEARLY_FULL * row.capacity_mib)
    fingerprints = len({row.key for row in rows})
    ooms = sum(row.oom is True for row in rows)
    models = len({row.gpu_model for row in rows if row.gpu_model})
    advisory = _lacking(
        (("rows", len(rows), ADVISORY_ROWS), ("rows at 90 % of the card", nearly_full, NEARLY_FULL_ROWS))
    )
    hard = _lacking(
        (
            ("true out-of-memory ends", ooms, HARD_OOMS),
            ("GPU models", models, HARD_MODELS),
            ("distinct fingerprints", fingerprints, HARD_FINGERPRINTS),
        )
    )
    return Calibration(
        rows=len(rows),
        preallocating=len(alone) - len(rows),
        predicted=len(errors),
        fingerprints=fingerprints,
        nearly_full_rows=nearly_full,
        ooms=ooms,
        gpu_models=models,
        mae_mib=round(fmean(sizes), 1) if sizes else None,
        p95_mib=round(percentile(sizes, 0.95), 1) if sizes else None,
        under_rate=round(sum(error < 0 for error in errors) / len(errors), 4) if errors else None,
        advisory_missing=advisory,
        hard_missing=(*advisory, *hard),
    )


def _errors(rows: Sequence[Observation]) -> Iterable[float]:
    """Predicted − measured for every row that the model can answer, each fingerprint predicted by the others alone."""
    ratios = log_ratios(rows)
    by_key: dict[str, list[tuple[Observation, Estimate]]] = defaultdict(list)
    for row in rows:
        answer = modelled(row)
        if answer is not None:
            by_key[row.key].append((row, answer))
    ordered = sorted(ratios.values())
    for key, mine in by_key.items():
        residual = residual_of(_without(ordered, ratios.get(key)))
        yield from (residual.applied(answer) - row.peak_mib for row, answer in mine)


def _without(ordered: Sequence[float], value: float | None) -> list[float]:
    if value is None:
        return list(ordered)
    place = bisect_left(ordered, value)
    return [*ordered[:place], *ordered[place + 1 :]]


def _lacking(gates: Iterable[tuple[str, int, int]]) -> tuple[str, ...]:
    return tuple(f"{have} of {need} {what}" for what, have, need in gates if have < need)
