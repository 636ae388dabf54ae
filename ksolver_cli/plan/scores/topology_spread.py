"""PodTopologySpread's score: soft constraints, or the system's default ones."""

import math

import numpy as np

from ksolver_cli.plan.replay.lanes import BoolArray, IntArray, Lane
from ksolver_cli.plan.replay.mover import Numbers, SoftSpread
from ksolver_cli.plan.scores.candidates import MAX_SCORE, Candidates, Scores

WEIGHT = 2


def score(candidates: Candidates) -> Scores | None:
    """100 for the emptiest domains; None for pods without soft constraints.

    A domain's count weighs ln(number of domains among the candidates + 2), and maxSkew − 1 is added to it. Nodes that
    lack a key are left out and score 0 where the constraints are the pod's own; the default ones skip the key there.
    """
    soft = candidates.crew.lead.soft
    if soft is None:
        return None
    ignored = soft.ignored[candidates.nodes] if soft.ignored is not None else None
    return _normalised(candidates, np.floor(_raw(candidates, soft, ignored) + 0.5), ignored)


def _raw(candidates: Candidates, soft: SoftSpread, ignored: BoolArray | None) -> Numbers:
    total = np.zeros(len(candidates.nodes), dtype=np.float64)
    for topology, offsets in zip(soft.topologies, candidates.crew.counted, strict=True):
        lane = topology.pods.lane
        where = candidates.nodes if lane.is_identity else lane.domain.take(candidates.nodes)
        sizes = _kept(candidates, ignored) if topology.per_node else _domains(candidates, lane, where, ignored)
        weight = candidates.board.log.take(sizes)
        share = candidates.counts(offsets, where) * candidates.spread(weight) + (topology.max_skew - 1)
        total += share if lane.is_whole else share * (where < lane.size)
    return total


def _kept(candidates: Candidates, ignored: BoolArray | None) -> IntArray:
    """Candidates of each trial that are not left out."""
    if ignored is None:
        return candidates.sizes
    return np.add.reduceat(~ignored, candidates.begins, dtype=np.intp)


def _domains(candidates: Candidates, lane: Lane, where: IntArray, ignored: BoolArray | None) -> IntArray:
    """Distinct domains among each trial's candidates that are not left out; nodes without the key are one of them."""
    trials, width = len(candidates.sizes), lane.size + 1
    seen = np.zeros(trials * width, dtype=bool)
    cells = candidates.spread(np.arange(0, trials * width, width)) + where
    seen[cells if ignored is None else cells[~ignored]] = True
    distinct: IntArray = np.add.reduce(seen.reshape(trials, width), axis=1, dtype=np.intp)
    return distinct


def _normalised(candidates: Candidates, raw: Numbers, ignored: BoolArray | None) -> Scores:
    high = raw if ignored is None else np.where(ignored, 0.0, raw)
    low = raw if ignored is None else np.where(ignored, math.inf, raw)
    top = candidates.most(high)
    # Where nothing is counted, all score 100.
    least = np.where(top > 0, candidates.least(low), 0.0)
    top = np.maximum(top, 1.0)
    result: Scores = np.floor(MAX_SCORE * (candidates.spread(top + least) - raw) / candidates.spread(top))
    if ignored is not None:
        result[ignored] = 0
    return result
