"""ImageLocality: container images that the node already has."""

import numpy as np

from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 1

LEAST = 23 * 1024 * 1024
"""Bytes of images present below which the score is 0."""
MOST_PER_CONTAINER = 1000 * 1024 * 1024
"""Bytes a container from which the score is 100."""


def score(candidates: Candidates) -> Scores | None:
    """0 … 100 by the bytes of the pod's images on the node, each scaled by the share of nodes that have it; None where
    no node has any.
    """
    images = candidates.board.images.sizes(candidates.crew.lead.images, candidates.now.alive)
    if images is None:
        return None
    most = MOST_PER_CONTAINER * len(candidates.crew.lead.images)
    present = np.clip(images[candidates.nodes], LEAST, most)
    return np.asarray(MAX_SCORE * (present - LEAST) // (most - LEAST), dtype=np.float64)
