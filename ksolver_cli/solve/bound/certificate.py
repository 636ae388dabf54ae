"""The bound again, from the duals alone, in numpy, rounded so that it can only err downwards.

Weak duality: for any row multipliers λ, min c·x ≥ Σ λ_i · (lower_i where λ_i > 0, else upper_i) + Σ_j min over the
column's bounds of (c_j − λ·A_j) · x_j. No property of the solver is trusted, nor that λ is optimal. Every product is
charged with a rounding error of (terms + 3) · 2^-53 of its size (the standard bound for a floating-point sum).
"""

from math import ceil, gcd

import numpy as np

from ksolver_cli.solve.bound.sparse import Rows
from ksolver_cli.solve.problem import FloatArray, IntArray

UNIT = float(np.finfo(np.float64).eps)


def certified_bound(cost: FloatArray, lower: FloatArray, upper: FloatArray, rows: Rows, duals: FloatArray) -> float:
    """A number never above the optimum of the linear programme; −inf where the multipliers prove nothing."""
    multipliers = np.where(np.isfinite(duals), duals, 0.0)
    multipliers = np.where((multipliers > 0) & np.isinf(rows.lower), 0.0, multipliers)
    multipliers = np.where((multipliers < 0) & np.isinf(rows.upper), 0.0, multipliers)
    sides = np.where(multipliers > 0, rows.lower, rows.upper)
    row_terms = np.where(multipliers == 0, 0.0, multipliers * np.where(multipliers == 0, 0.0, sides))
    entry = multipliers[rows.row_of_entry()] * rows.value
    size = len(cost)
    pull = np.bincount(rows.column, weights=entry, minlength=size)
    weight = np.bincount(rows.column, weights=np.abs(entry), minlength=size) + np.abs(cost)
    terms = np.bincount(rows.column, minlength=size) + 4.0
    slack = weight * terms * UNIT
    reduced = cost - pull
    best = np.minimum((reduced - slack) * lower, (reduced - slack) * upper)
    best = np.minimum(best, np.minimum((reduced + slack) * lower, (reduced + slack) * upper))
    total = float(row_terms.sum() + best.sum())
    error = float((np.abs(row_terms).sum() + np.abs(best).sum()) * (len(row_terms) + size + 4) * UNIT)
    return total - error


def lift(bound: float, prices: IntArray) -> int:
    """The smallest cost that is a sum of these integer prices (a multiple of their common divisor) and not below the
    bound.
    """
    step = gcd(*(int(p) for p in prices)) if len(prices) else 0
    if not np.isfinite(bound) or bound <= 0:
        return 0
    return ceil(bound / step) * step if step else 0
