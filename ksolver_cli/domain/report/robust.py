"""How the plan stands in each of several snapshots of the cluster, and which of them binds."""

from dataclasses import dataclass

from ksolver_cli.domain.cluster import Caveat, Gap
from ksolver_cli.domain.plan import Interval


@dataclass(frozen=True)
class SnapshotRow:
    """One snapshot. Savings in micro-units of the currency an hour, at the newest snapshot's prices; None where
    nothing is priced, or where the search was ended before it was worked out.

    `alone_micros`: what the best plan found for this snapshot alone saves, judged. `together_micros`: the same for this
    and the newest alone. `at_most_micros`: proven; no plan that holds in this and the newest saves more. `blocked` and
    `given_back` count nodes of the newest snapshot's own plan: those that may not be removed here, and of the others
    those given back because pods would pend.
    """

    source: str
    collected_at: str
    newest: bool
    nodes: int | None
    pods_bound: int | None
    nodes_missing: int
    """Nodes of the newest snapshot that are not here: this one did without them."""
    nodes_only_here: int
    """Nodes that the newest does not have. They stay where they are; pods may move to them."""
    alone_micros: int | None
    together_micros: int | None
    at_most_micros: int | None
    blocked: int
    given_back: int | None
    pods_moved: int
    """Pods on the plan's nodes that found a place elsewhere, in the reference replay."""
    replays: int
    """Replays of the plan here in which no pod pended; 0 where none of its nodes was there."""
    binds: bool
    gaps: tuple[Gap, ...] = ()
    """What could not be seen here, beside the gaps of the newest."""
    caveats: tuple[Caveat, ...] = ()
    """Caveats here that the newest does not have."""


@dataclass(frozen=True)
class RobustFacts:
    """The newest snapshot first, then back in time. `saving`: judged in all of them, and at most what is proven for the
    tightest; None where nothing is priced, or nothing was proven in time. `worked_out`: whether it could be told what
    binds before the search was ended.
    """

    snapshots: tuple[SnapshotRow, ...]
    saving: Interval | None
    worked_out: bool
