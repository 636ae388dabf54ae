"""The Filter phase on arrays: which nodes a pod may go to at this moment, in many trials at once."""

import numpy as np

from ksolver_cli.plan.replay.lanes import BoolArray
from ksolver_cli.plan.replay.mover import Crew, HardSpread, Mover
from ksolver_cli.plan.replay.occupancy import EVERY, Occupancy
from ksolver_cli.plan.replay.tallies import Counts, Trials


def open_nodes(crew: Crew, now: Occupancy, trials: Trials = EVERY) -> BoolArray:
    """[trial, node] whether the Filter phase admits the pod; volumes and device claims are checked elsewhere."""
    mover = crew.lead
    allowed = crew.allowed & (now.alive if mover.tolerates_cordon else now.alive & ~now.cordoned)
    fits: BoolArray = now.cells[trials, crew.rows[0]] >= crew.amounts[:, :1]
    fits &= allowed
    for place, row in enumerate(crew.rows[1:], 1):
        fits &= now.cells[trials, row] >= crew.amounts[:, place : place + 1]
    if mover.spread or mover.refused or mover.required:
        _narrow(fits, mover, now, trials)
    return fits


def _narrow(fits: BoolArray, mover: Mover, now: Occupancy, trials: Trials) -> None:
    for spread in mover.spread:
        fits &= spread.pods.lane.spread(_within_skew(spread, now, trials))
    for tally in mover.refused:
        fits &= tally.lane.spread(tally.view(now.counts, trials) == 0)
    if mover.required:
        fits &= _attracted(mover, now, trials)


def _within_skew(spread: HardSpread, now: Occupancy, trials: Trials) -> BoolArray:
    """[trial, domain] whether one more pod keeps the skew; domains count while an eligible node of theirs exists."""
    pods, nodes = _counted(spread, now, trials)
    present = nodes > 0
    domains = int(np.count_nonzero(present))
    within: BoolArray = pods <= spread.max_skew - spread.self_match
    if domains >= spread.min_domains and domains:
        least = pods[:, :-1][:, present].min(axis=1, keepdims=True)
        within = pods <= spread.max_skew - spread.self_match + least
    within[:, -1] = False
    return within


def _counted(spread: HardSpread, now: Occupancy, trials: Trials) -> tuple[Counts, Counts]:
    """Pods per domain (and one for none) in each trial, nodes per domain: nodes go in all trials together."""
    if spread.by_node is None or spread.eligible is None:
        return spread.pods.view(now.counts, trials), spread.present.view(now.counts, 0)[:-1]
    lane = spread.pods.lane
    width = lane.size + 1
    nodes = np.flatnonzero(spread.eligible & now.alive & ~now.tainted)
    where, weights = lane.domain[nodes], spread.by_node.view(now.counts, trials)[:, nodes]
    cells = (np.arange(len(weights))[:, None] * width + where).ravel()
    pods = np.bincount(cells, weights=weights.ravel(), minlength=len(weights) * width)
    return pods.reshape(-1, width).astype(np.float64), np.bincount(where, minlength=width)[:-1].astype(np.float64)


def _attracted(mover: Mover, now: Occupancy, trials: Trials) -> BoolArray:
    """[trial, node] whether every required term finds its pods, or may start alone where none exists anywhere."""
    views = [(t, t.view(now.counts, trials)) for t in mover.required]
    alone = np.full((len(views[0][1]), 1), mover.starts_alone)
    for _, view in views:
        alone &= ~view.any(axis=1, keepdims=True)
    result: BoolArray | None = None
    for tally, view in views:
        good = (view > 0) | alone
        good[:, -1] = False
        here = tally.lane.spread(good)
        result = here if result is None else result & here
    assert result is not None
    return result
