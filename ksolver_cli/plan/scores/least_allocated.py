"""NodeResourcesFit with its default strategy LeastAllocated: the mean free share of CPU and memory."""

import numpy as np

from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 1


def score(candidates: Candidates) -> Scores | None:
    """Free share after placing the pod, in whole hundredths a resource, containers without requests at their defaults.

    Resources that the node does not offer are left out of the mean. Divisions are exact: all numbers are integers
    below 2⁵³.
    """
    asked, offered = candidates.crew.asked, candidates.offered
    left = offered - candidates.load[2:]
    left[0] -= candidates.spread(asked[2])
    left[1] -= candidates.spread(asked[3])
    np.maximum(left, 0.0, out=left)
    left *= MAX_SCORE
    left /= offered
    shares = np.floor(left, out=left)
    if candidates.offers is None:
        mean: Scores = np.floor((shares[0] + shares[1]) * 0.5)
        return mean
    shares *= candidates.offers
    return np.asarray(np.floor(shares.sum(axis=0) / np.maximum(candidates.offers.sum(axis=0), 1)), dtype=np.float64)
