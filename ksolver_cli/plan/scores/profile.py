"""The default profile: which plugins score, and how much each weighs."""

from collections.abc import Callable

import numpy as np

from ksolver_cli.plan.scores import (
    balanced_allocation,
    image_locality,
    inter_pod_affinity,
    least_allocated,
    node_affinity,
    taint_toleration,
    topology_spread,
)
from ksolver_cli.plan.scores.candidates import Candidates, Scores

Plugin = Callable[[Candidates], Scores | None]

PROFILE: dict[str, tuple[Plugin, int]] = {
    "TaintToleration": (taint_toleration.score, taint_toleration.WEIGHT),
    "NodeAffinity": (node_affinity.score, node_affinity.WEIGHT),
    "NodeResourcesFit": (least_allocated.score, least_allocated.WEIGHT),
    "PodTopologySpread": (topology_spread.score, topology_spread.WEIGHT),
    "InterPodAffinity": (inter_pod_affinity.score, inter_pod_affinity.WEIGHT),
    "NodeResourcesBalancedAllocation": (balanced_allocation.score, balanced_allocation.WEIGHT),
    "ImageLocality": (image_locality.score, image_locality.WEIGHT),
}
"""Plugin name → score and weight, as kube-scheduler's default configuration has them."""


def total(candidates: Candidates) -> Scores:
    """Weighted sum of all plugins; a plugin that scores all candidates alike may leave itself out."""
    result: Scores = np.zeros(len(candidates.nodes), dtype=np.float64)
    for plugin, weight in PROFILE.values():
        scores = plugin(candidates)
        if scores is not None:
            result += scores if weight == 1 else scores * weight
    return result
