"""Facts of a plan that holds in several snapshots: a row for each, with a bound, and the interval for all."""

from collections.abc import Sequence
from dataclasses import dataclass

from ksolver_cli.domain.cluster import Caveat, CaveatKind, Cluster
from ksolver_cli.domain.plan import Interval
from ksolver_cli.domain.report.robust import RobustFacts, SnapshotRow
from ksolver_cli.explain.potential import Potential, Solver
from ksolver_cli.plan.robust.robust import Robust
from ksolver_cli.plan.robust.worlds import Weights, World

_OTHER_MACHINE = "another machine bears this name in the newest snapshot"


@dataclass(frozen=True)
class Several:
    """Snapshots by their sources, the newest first; what the search made of them, and the newest one's potential."""

    sources: Sequence[str]
    worlds: Sequence[World]
    weights: Weights
    found: Robust
    potential: Potential | None


def robust_facts(several: Several, solver: Solver, *, priced: bool) -> RobustFacts:
    """A row for each snapshot. Bounds are solved for here, as long as nobody wants an end.

    Removing a node that was not there costs a snapshot nothing: beside the newest alone, all such that may go there
    count in full; beside all, those that may go in all.
    """
    weights, worlds = several.weights, several.worlds
    rooms = _rooms(several, solver) if priced else [None] * len(worlds)
    free = worlds[0].removable(weights)
    rows = [
        _row(several, index, _with(weights, rooms[index], free - world.names), priced=priced)
        for index, world in enumerate(worlds)
    ]
    all_hold = [
        *(_with(weights, rooms[index], several.found.removable - world.names) for index, world in enumerate(worlds)),
        _joint_room(several, solver) if priced else None,
    ]
    known = [room for room in all_hold if room is not None]
    plan = several.found.found.plan
    saved = plan.cost_before_micros - plan.cost_after_micros
    interval = Interval(saved, max(saved, min(known))) if known else None
    return RobustFacts(tuple(rows), interval, several.found.worked_out)


def _with(weights: Weights, room: int | None, nodes: frozenset[str]) -> int | None:
    return None if room is None else room + sum(weights[name] or 0 for name in nodes)


def _rooms(several: Several, solver: Solver) -> list[int | None]:
    """What is proven that each snapshot by itself cannot let go more than."""
    own = several.potential
    newest = None if own is None else _total(several.weights) - own.repack.bound_micros
    return [newest, *(_room(world, world.weights(several.weights), solver) for world in several.worlds[1:])]


def _joint_room(several: Several, solver: Solver) -> int | None:
    """The same for the newest where only nodes go that may go in all."""
    newest, removable = several.worlds[0], several.found.removable
    if removable == newest.removable(several.weights):
        return None
    return _room(newest, newest.weights(several.weights, removable), solver)


def _room(world: World, weights: Weights, solver: Solver) -> int | None:
    if solver.interrupted():
        return None
    if not any(weights.values()):
        return 0
    return _total(weights) - solver.run(world.cluster, world.classes, weights, {}).proof.bound_micros


def _total(weights: Weights) -> int:
    return sum(weight or 0 for weight in weights.values())


def _row(several: Several, index: int, at_most: int | None, *, priced: bool) -> SnapshotRow:
    newest, world, held = several.worlds[0], several.worlds[index], several.found.held[index]
    cluster = world.cluster
    bound = sum(1 for pod in cluster.pods if pod.is_bound)
    return SnapshotRow(
        source=several.sources[index],
        collected_at=cluster.collected_at,
        newest=index == 0,
        nodes=len(cluster.nodes) if cluster.knows("nodes") else None,
        pods_bound=bound if cluster.knows("pods") else None,
        nodes_missing=len(newest.names - world.names),
        nodes_only_here=len(world.names - newest.names),
        alone_micros=held.alone if priced else None,
        together_micros=held.together if priced else None,
        at_most_micros=at_most,
        blocked=held.blocked,
        given_back=held.given_back,
        pods_moved=held.moves,
        replays=held.replays,
        binds=held.binds,
        gaps=tuple(gap for gap in cluster.gaps if index and gap not in newest.cluster.gaps),
        caveats=_caveats(newest.cluster, cluster) if index else (),
    )


def _caveats(newest: Cluster, cluster: Cluster) -> tuple[Caveat, ...]:
    """Caveats that are new in kind or words, and machines that have changed behind a name."""
    known = {(caveat.kind, caveat.detail) for caveat in newest.caveats}
    own = tuple(caveat for caveat in cluster.caveats if (caveat.kind, caveat.detail) not in known)
    machines = {node.name: node.provider_id for node in newest.nodes if node.provider_id}
    others = tuple(
        n.name for n in cluster.nodes if n.provider_id and machines.get(n.name, n.provider_id) != n.provider_id
    )
    return (*own, Caveat(CaveatKind.OTHER, _OTHER_MACHINE, others)) if others else own
