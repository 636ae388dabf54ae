"""What the memory model gets wrong on average, learnt from the store."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from ksolver_cli.vram.facts import from_numbers
from ksolver_cli.vram.memory.estimate import Estimate, Setting, estimate
from ksolver_cli.vram.observation import Observation

# A pseudo-count of fingerprints on which the model is right: few observations move it little.
_PRIOR = 10
_LIMITS = (0.5, 3.0)


@dataclass(frozen=True)
class Residual:
    """A factor on the model's answer, and how many fingerprints it was learnt from; 1.0 means no correction."""

    factor: float = 1.0
    fingerprints: int = 0

    def applied(self, answer: Estimate) -> int:
        """Return the corrected answer in MiB, never below weights + gradients + optimizer states.

        An engine that takes a fraction of its card needs no correction.
        """
        if answer.elastic:
            return answer.mib
        return max(answer.floor_mib, round(answer.mib * self.factor))


def usable(rows: Iterable[Observation]) -> list[Observation]:
    """Return the observations that say something about one workload: those on devices it had alone."""
    return [row for row in rows if not row.shared]


def modelled(row: Observation) -> Estimate | None:
    """Return what the memory model says about an observed workload, from the hints kept with the observation.

    Nothing for programs whose allocator takes a fraction of the card (JAX): their use follows the card alone.
    """
    if not row.hints or "preallocated_fraction" in row.hints:
        return None
    return _modelled(tuple(sorted(row.hints.items())), row.gpu_count or 1, row.capacity_mib)


@lru_cache(maxsize=100_000)
def _modelled(hints: tuple[tuple[str, float], ...], gpus: int, card_mib: int | None) -> Estimate | None:
    # Rows of one fingerprint say the same, and a store has thousands of them.
    return estimate(from_numbers(dict(hints)), Setting(processes=gpus, card_mib=card_mib))


def log_ratios(rows: Iterable[Observation]) -> dict[str, float]:
    """Return, by fingerprint, the median of log(measured ÷ modelled); a fingerprint counts once, however often it ran.

    Engines that take a fraction of their card say nothing about the model and are left out.
    """
    found: dict[str, list[float]] = {}
    for row in rows:
        answer = modelled(row)
        if answer is not None and not answer.elastic and answer.mib > 0:
            found.setdefault(row.key, []).append(math.log(row.peak_mib / answer.mib))
    return {key: median(ratios) for key, ratios in found.items()}


def residual_of(ratios: Sequence[float]) -> Residual:
    """Return the residual of one log ratio a fingerprint: their median, drawn to 1 while there are few."""
    if not ratios:
        return Residual()
    # In logarithms twice too much and twice too little weigh the same.
    factor = math.exp(median(ratios) * len(ratios) / (len(ratios) + _PRIOR))
    return Residual(min(max(factor, _LIMITS[0]), _LIMITS[1]), len(ratios))


def learn(rows: Iterable[Observation]) -> Residual:
    """Return the residual that rows teach."""
    return residual_of(list(log_ratios(usable(rows)).values()))
