"""Go on with a plan: what of it is done, and a fresh look at the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.plan import Eviction, Limits, Wave
from ksolver_cli.plan.search import Interrupted, Progress, SearchOptions, SearchResult, search


@dataclass(frozen=True, slots=True)
class Remainder:
    """Nodes of a plan that are gone, those still there, and the cluster as if those were not cordoned.

    The plan cordoned them; a node that the fresh look gives back is to be uncordoned, and takes pods again. `waves` is
    how many waves of the plan are still to come, at least 1.
    """

    cluster: Cluster
    gone: tuple[str, ...]
    left: tuple[str, ...]
    waves: int


def remainder(cluster: Cluster, planned: tuple[Wave, ...]) -> Remainder:
    """Compare a plan's waves with a fresh snapshot."""
    there = {n.name for n in cluster.nodes}
    names = tuple(dict.fromkeys(n for wave in planned for n in wave.nodes))
    left = tuple(name for name in names if name in there)
    gone = tuple(name for name in names if name not in there)
    nodes = tuple(_uncordoned(n) if n.name in left else n for n in cluster.nodes)
    where = {p.key: p.node_name for p in cluster.pods if p.is_bound}
    to_come = sum(_is_to_come(wave, there, where) for wave in planned)
    return Remainder(replace(cluster, nodes=nodes), gone, left, max(1, to_come))


def _is_to_come(wave: Wave, there: set[str], where: Mapping[str, str]) -> bool:
    """Whether the wave is not carried out: a node of it is still there, or most of its pods are where they were."""
    stay = sum(where.get(e.pod) == e.node for e in wave.evictions)
    return any(n in there for n in wave.nodes) or 2 * stay > len(wave.evictions)


def _uncordoned(node: Node) -> Node:
    taints = tuple(t for t in node.taints if t.key != UNSCHEDULABLE_TAINT.key)
    return replace(node, unschedulable=False, taints=taints)


def search_on(
    rest: Remainder,
    classes: Classes,
    prices_micros: Mapping[str, int | None],
    limits: Limits,
    options: SearchOptions,
    watch: tuple[Progress, Interrupted],
) -> SearchResult:
    """The best plan that starts from the nodes left: order and set are looked at anew, further nodes may join.

    `classes` are those of `rest.cluster`.
    """
    wanted = replace(options, planned=rest.left, waves=rest.waves, curve=False)
    return search(rest.cluster, classes, prices_micros, limits, wanted, watch)


def planned_waves(document: object) -> tuple[Wave, ...] | None:
    """Waves of a report or plan as JSON; None when it holds no plan."""
    if not isinstance(document, Mapping):
        return None
    plan = document.get("plan", document)
    waves = plan.get("waves") if isinstance(plan, Mapping) else None
    if not isinstance(waves, list):
        return None
    read = [_wave(wave) for wave in waves]
    return None if None in read else tuple(wave for wave in read if wave is not None)


def _wave(raw: object) -> Wave | None:
    nodes = raw.get("nodes") if isinstance(raw, Mapping) else None
    if not isinstance(raw, Mapping) or not isinstance(nodes, list) or not all(isinstance(n, str) for n in nodes):
        return None
    evictions = raw.get("evictions", [])
    if not isinstance(evictions, list) or not all(isinstance(e, Mapping) for e in evictions):
        return None
    read = tuple(Eviction(str(e.get("pod")), str(e.get("node"))) for e in evictions)
    return Wave(tuple(nodes), read, alone=raw.get("alone") is True)
