"""Go on with a plan: what of it is done, and a fresh look at the rest."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.plan import Limits
from ksolver_cli.plan.search import Interrupted, Progress, SearchOptions, SearchResult, search


@dataclass(frozen=True, slots=True)
class Remainder:
    """Nodes of a plan that are gone, those still there, and the cluster as if those were not cordoned.

    The plan cordoned them; a node that the fresh look gives back is to be uncordoned, and takes pods again.
    """

    cluster: Cluster
    gone: tuple[str, ...]
    left: tuple[str, ...]


def remainder(cluster: Cluster, planned: tuple[str, ...]) -> Remainder:
    """Compare a plan's nodes with a fresh snapshot."""
    there = {n.name for n in cluster.nodes}
    left = tuple(name for name in dict.fromkeys(planned) if name in there)
    gone = tuple(name for name in dict.fromkeys(planned) if name not in there)
    nodes = tuple(_uncordoned(n) if n.name in left else n for n in cluster.nodes)
    return Remainder(replace(cluster, nodes=nodes), gone, left)


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
    wanted = replace(options, planned=rest.left, curve=False)
    return search(rest.cluster, classes, prices_micros, limits, wanted, watch)


def planned_nodes(document: object) -> tuple[str, ...] | None:
    """Node names in removal order of a report or plan as JSON; None when it holds no plan."""
    if not isinstance(document, Mapping):
        return None
    plan = document.get("plan", document)
    waves = plan.get("waves") if isinstance(plan, Mapping) else None
    if not isinstance(waves, list):
        return None
    names: list[str] = []
    for wave in waves:
        nodes = wave.get("nodes") if isinstance(wave, Mapping) else None
        if not isinstance(nodes, list) or not all(isinstance(n, str) for n in nodes):
            return None
        names += nodes
    return tuple(names)
