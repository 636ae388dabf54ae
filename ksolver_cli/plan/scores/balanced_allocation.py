"""NodeResourcesBalancedAllocation: how even CPU and memory are used."""

import numpy as np
import numpy.typing as npt

from ksolver_cli.plan.replay.mover import Numbers
from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 1

IMPROVEMENT_SINCE = (1, 36)
"""From this version on the *change* of balance counts, not the balance after."""


def score(candidates: Candidates) -> Scores | None:
    """50 … 100 by the balance (since 1.36: by its improvement); None for pods that request neither CPU nor memory."""
    mover = candidates.mover
    if not mover.cpu and not mover.memory:
        return None
    used = candidates.load[:2]
    after = _balance(used + np.array([[mover.cpu], [mover.memory]]), candidates.allocatable)
    if candidates.board.cluster.kubernetes_version < IMPROVEMENT_SINCE:
        return after
    half = MAX_SCORE // 2
    return np.asarray(half + (half + after - _balance(used, candidates.allocatable)) // 2, dtype=np.int64)


def _balance(requested: Numbers, offered: Numbers) -> npt.NDArray[np.int64]:
    there = offered > 0
    both = there.all()
    shares = np.minimum(requested / (offered if both else np.where(there, offered, 1.0)), 1.0)
    deviation = np.abs((shares[0] - shares[1]) / 2)
    if not both:
        deviation = np.where(there.all(axis=0), deviation, 0.0)
    return np.asarray((1 - deviation) * MAX_SCORE, dtype=np.int64)
