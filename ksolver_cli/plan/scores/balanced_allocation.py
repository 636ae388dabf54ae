"""NodeResourcesBalancedAllocation: how even CPU and memory are used."""

import numpy as np

from ksolver_cli.plan.replay.mover import Numbers
from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 1

IMPROVEMENT_SINCE = (1, 36)
"""From this version on the *change* of balance counts, not the balance after."""


def score(candidates: Candidates) -> Scores | None:
    """50 … 100 by the balance (since 1.36: by its improvement); None for pods that request neither CPU nor memory."""
    asked = candidates.crew.asked
    if not asked[:2].any():
        return None
    used = candidates.load[:2]
    shares = np.empty((2, *used.shape))
    shares[0] = used
    np.add(used[0], candidates.spread(asked[0]), out=shares[1, 0])
    np.add(used[1], candidates.spread(asked[1]), out=shares[1, 1])
    if candidates.board.cluster.kubernetes_version < IMPROVEMENT_SINCE:
        return _balance(candidates, shares[1])
    before, after = _balance(candidates, shares)
    half = MAX_SCORE // 2
    better: Scores = np.floor((half + after - before) * 0.5) + half
    return better


def _balance(candidates: Candidates, requested: Numbers) -> Numbers:
    shares = requested
    shares /= candidates.offered
    np.minimum(shares, 1.0, out=shares)
    deviation = np.abs((shares[..., 0, :] - shares[..., 1, :]) * 0.5)
    if candidates.offers is not None:
        deviation *= candidates.offers.all(axis=0)
    return np.asarray(np.floor((1 - deviation) * MAX_SCORE), dtype=np.float64)
