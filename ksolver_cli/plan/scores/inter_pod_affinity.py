"""InterPodAffinity's score: preferred terms of the pod and of the pods already placed."""

import numpy as np

from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 2


def score(candidates: Candidates) -> Scores | None:
    """Weighted matches per domain, scaled so that the least among the candidates is 0 and the most 100.

    Required affinity terms of placed pods count with weight 1. None where nothing matches anywhere.
    """
    liked = candidates.mover.liked
    if not liked:
        return None
    total = np.zeros(len(candidates.nodes), dtype=np.int64)
    for tally in liked:
        total += tally.view(candidates.now.counts)[tally.lane.domain[candidates.nodes]]
    low, high = int(total.min()), int(total.max())
    if low == high:
        return None
    return (MAX_SCORE * ((total - low) / (high - low))).astype(np.int64)
