"""Percentiles and bounds of few samples."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev

_Z_95 = 1.6448536269514722


def percentile(values: Sequence[float], share: float) -> float:
    """Return an interpolated percentile (linear between order statistics, Hyndman & Fan 1996, type 7)."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    lower = math.floor(position)
    upper = min(lower + 1, len(ordered) - 1)
    return ordered[lower] + (position - lower) * (ordered[upper] - ordered[lower])


def upper_bound(values: Sequence[float]) -> float:
    """Return a bound that 95 % of further values stay under, with 95 % confidence; wide for few samples.

    One-sided tolerance limit of a normal sample, Natrella's approximation (NIST/SEMATECH e-Handbook, section 7.2.6.3).
    Never below the highest value seen. Below three values there is no bound (infinity).
    """
    count = len(values)
    a = 1 - _Z_95**2 / (2 * (count - 1)) if count > 1 else 0.0
    if a <= 0:
        return math.inf
    b = _Z_95**2 - _Z_95**2 / count
    factor = (_Z_95 + math.sqrt(_Z_95**2 - a * b)) / a
    return max(*values, fmean(values) + factor * stdev(values))
