"""The Filter phase on arrays: which nodes a pod may go to at this moment."""

import numpy as np

from ksolver_cli.plan.replay.lanes import BoolArray
from ksolver_cli.plan.replay.mover import HardSpread, Mover
from ksolver_cli.plan.replay.occupancy import Occupancy
from ksolver_cli.plan.replay.tallies import Counts


def open_nodes(mover: Mover, now: Occupancy) -> BoolArray:
    """[node] whether the Filter phase admits the pod; volumes and device claims are checked elsewhere."""
    fits = mover.allowed & now.alive
    if not mover.tolerates_cordon:
        fits &= ~now.cordoned
    for row, amount in zip(mover.rows, mover.amounts, strict=True):
        fits &= now.cells[row] >= amount
    for spread in mover.spread:
        fits &= spread.pods.lane.spread(_within_skew(spread, now))
    for tally in mover.refused:
        fits &= tally.lane.spread(tally.view(now.counts) == 0)
    if mover.required:
        fits &= _attracted(mover, now.counts)
    return fits


def _within_skew(spread: HardSpread, now: Occupancy) -> BoolArray:
    """[domain] whether one more pod keeps the skew; domains count while an eligible node of theirs exists."""
    pods, nodes = _counted(spread, now)
    present = nodes > 0
    domains = int(np.count_nonzero(present))
    least = int(pods[:-1][present].min()) if domains >= spread.min_domains and domains else 0
    within: BoolArray = pods <= spread.max_skew - spread.self_match + least
    within[-1] = False
    return within


def _counted(spread: HardSpread, now: Occupancy) -> tuple[Counts, Counts]:
    """Pods per domain (and one for none), nodes per domain."""
    if spread.by_node is None or spread.eligible is None:
        return spread.pods.view(now.counts), spread.present.view(now.counts)[:-1]
    lane = spread.pods.lane
    nodes = np.flatnonzero(spread.eligible & now.alive & ~now.tainted)
    where, weights = lane.domain[nodes], spread.by_node.view(now.counts)[nodes]
    pods = np.bincount(where, weights=weights, minlength=lane.size + 1).astype(np.int32)
    return pods, np.bincount(where, minlength=lane.size + 1)[:-1].astype(np.int32)


def _attracted(mover: Mover, counts: Counts) -> BoolArray:
    """[node] whether every required term finds its pods, or may start alone where none exists anywhere."""
    views = [(t, t.view(counts)) for t in mover.required]
    alone = mover.starts_alone and not any(int(v.sum()) for _, v in views)
    result: BoolArray | None = None
    for tally, view in views:
        good = view > 0 if not alone else np.ones(len(view), dtype=bool)
        good[-1] = False
        here = tally.lane.spread(good)
        result = here if result is None else result & here
    assert result is not None
    return result
