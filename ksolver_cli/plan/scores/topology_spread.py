"""PodTopologySpread's score: soft constraints, or the system's default ones."""

import math

import numpy as np

from ksolver_cli.plan.replay.lanes import Lane
from ksolver_cli.plan.replay.mover import Numbers, SoftSpread
from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 2


def score(candidates: Candidates) -> Scores | None:
    """100 for the emptiest domains; None for pods without soft constraints.

    A domain's count weighs ln(number of domains among the candidates + 2), and maxSkew − 1 is added to it. Nodes that
    lack a key are left out and score 0 where the constraints are the pod's own; the default ones skip the key there.
    """
    soft = candidates.mover.soft
    if soft is None:
        return None
    ignored = soft.ignored[candidates.nodes] if soft.ignored is not None else None
    raw = np.floor(_raw(candidates, soft, ignored) + 0.5).astype(np.int64)
    return _normalised(raw, ignored)


def _raw(candidates: Candidates, soft: SoftSpread, ignored: np.ndarray | None) -> Numbers:
    kept = candidates.nodes if ignored is None else candidates.nodes[~ignored]
    total = np.zeros(len(candidates.nodes), dtype=np.float64)
    for topology in soft.topologies:
        lane = topology.pods.lane
        where = lane.domain[candidates.nodes]
        size = len(kept) if topology.per_node else _domains(lane, where, ignored)
        count = topology.pods.view(candidates.now.counts)[where]
        share = count * math.log(size + 2) + (topology.max_skew - 1)
        total += share if lane.is_whole else share * (where < lane.size)
    return total


def _domains(lane: Lane, where: np.ndarray, ignored: np.ndarray | None) -> int:
    """Distinct domains among the candidates that are not left out; nodes without the key are one of them."""
    seen = where if ignored is None else where[~ignored]
    return int(np.count_nonzero(np.bincount(seen, minlength=lane.size + 1)))


def _normalised(raw: Scores, ignored: np.ndarray | None) -> Scores:
    kept = raw if ignored is None else raw[~ignored]
    top = int(kept.max(initial=0))
    if top == 0:
        result = np.full(len(raw), MAX_SCORE, dtype=np.int64)
    else:
        result = MAX_SCORE * (top + int(kept.min()) - raw) // top
    if ignored is not None:
        result[ignored] = 0
    return result
