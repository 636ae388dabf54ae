"""NodeResourcesFit with its default strategy LeastAllocated: the mean free share of CPU and memory."""

import numpy as np

from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 1


def score(candidates: Candidates) -> Scores | None:
    """Free share after placing the pod, in whole hundredths a resource, containers without requests at their defaults.

    Resources that the node does not offer are left out of the mean. Divisions are exact: all numbers are integers
    below 2⁵³.
    """
    mover, offered = candidates.mover, candidates.allocatable
    left = offered - candidates.load[2:]
    left[0] -= mover.score_cpu
    left[1] -= mover.score_memory
    np.maximum(left, 0.0, out=left)
    there = offered > 0
    if there.all():
        shares = (left * MAX_SCORE / offered).astype(np.int64)
        return np.asarray((shares[0] + shares[1]) // 2, dtype=np.int64)
    shares = (left * MAX_SCORE / np.where(there, offered, 1.0)).astype(np.int64) * there
    return np.asarray(shares.sum(axis=0) // np.maximum(there.sum(axis=0), 1), dtype=np.int64)
