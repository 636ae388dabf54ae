"""InterPodAffinity's score: preferred terms of the pod and of the pods already placed."""

import numpy as np

from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 2


def score(candidates: Candidates) -> Scores | None:
    """Weighted matches per domain, scaled so that the least among the candidates is 0 and the most 100.

    Required affinity terms of placed pods count with weight 1. All 0 where candidates are alike.
    """
    liked = candidates.crew.lead.liked
    if not liked:
        return None
    total = np.zeros(len(candidates.nodes), dtype=np.float64)
    for tally in liked:
        total += candidates.counts(np.array([tally.offset]), tally.lane.domain[candidates.nodes])
    low = candidates.least(total)
    span = np.maximum(candidates.most(total) - low, 1.0)
    result: Scores = np.floor(MAX_SCORE * ((total - candidates.spread(low)) / candidates.spread(span)))
    return result
