"""For every node: every blocker, where its pods would go, and what removing it frees."""

from collections.abc import Mapping
from dataclasses import dataclass

from ksolver_cli.constraints.eviction import Blocker, BlockerKind, eviction_blockers, must_move, node_blockers
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.report.nodes import NodeBlocker, NodeRow
from ksolver_cli.domain.verdict import ObjectRef
from ksolver_cli.explain.places import instance_type, pool_of, zone_of
from ksolver_cli.explain.reasons import Reasons
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.run import Drain, Replayer

NO_ROOM = "no-room"
"""Kind of the blocker that a pod finds no node when this one is drained today."""

PODS_UNKNOWN = "pods-unknown"
"""Kind of the blocker that the input holds no pods at all: what runs on the node cannot be told."""


@dataclass(frozen=True)
class Today:
    """What drainability looks at: the cluster, its classes, prospects to replay on, prices, nodes of the plan."""

    cluster: Cluster
    classes: Classes
    prospects: Prospects
    prices: Mapping[str, int | None]
    planned: frozenset[str]


def node_rows(today: Today) -> tuple[NodeRow, ...]:
    """One row a node, in the cluster's order. A node is drainable when nothing blocks it and one replay of draining it
    alone, today, leaves no pod pending.
    """
    of_pods = eviction_blockers(today.cluster)
    of_nodes = node_blockers(today.cluster)
    by_node: dict[str, list[Pod]] = {node.name: [] for node in today.cluster.nodes}
    for pod in today.cluster.pods:
        if pod.is_bound and pod.node_name in by_node:
            by_node[pod.node_name].append(pod)
    unknown = () if today.cluster.knows("pods") else (NodeBlocker(PODS_UNKNOWN, "", None, ""),)
    drains = _Drains(today)
    rows = []
    for node in today.cluster.nodes:
        pods = by_node[node.name]
        blockers = _blockers(node, pods, of_nodes, of_pods)
        if unknown:
            # One and the same: without any pods, none could be read.
            blockers = tuple(blocker for blocker in blockers if blocker.kind != BlockerKind.UNREADABLE_POD)
        rows.append(_row(today, node, pods, (*unknown, *blockers), drains))
    return tuple(rows)


def _blockers(
    node: Node,
    pods: list[Pod],
    of_nodes: Mapping[str, tuple[Blocker, ...]],
    of_pods: Mapping[str, tuple[Blocker, ...]],
) -> tuple[NodeBlocker, ...]:
    own = [NodeBlocker(b.kind, "", b.source, b.detail) for b in of_nodes.get(node.name, ())]
    held = [NodeBlocker(b.kind, pod.key, b.source, b.detail) for pod in pods for b in of_pods.get(pod.key, ())]
    return (*own, *held)


def _row(today: Today, node: Node, pods: list[Pod], blockers: tuple[NodeBlocker, ...], drains: "_Drains") -> NodeRow:
    destinations, no_room = drains.replay(node)
    known = today.cluster.knows("pods")
    return NodeRow(
        name=node.name,
        instance_type=instance_type(node),
        pool=pool_of(node),
        zone=zone_of(node),
        price_micros=today.prices.get(node.name),
        pods=len(pods) if known else None,
        movable=sum(1 for pod in pods if must_move(pod)) if known else None,
        cpu_permille=_share(node, pods, "cpu") if known else None,
        memory_permille=_share(node, pods, "memory") if known else None,
        drainable=not blockers and not no_room,
        in_plan=node.name in today.planned,
        blockers=(*blockers, *no_room),
        destinations=destinations,
    )


def _share(node: Node, pods: list[Pod], resource: str) -> int | None:
    whole = node.allocatable.get(resource, 0)
    return 1000 * sum(pod.held.get(resource, 0) for pod in pods) // whole if whole > 0 else None


class _Drains:
    """Replays of one-node drains on one board."""

    def __init__(self, today: Today) -> None:
        self._prospects = today.prospects
        self._board = today.prospects.board
        self._replayer = Replayer(self._board)
        self._reasons = Reasons(today.cluster, today.classes)
        self._index = {node.name: index for index, node in enumerate(today.cluster.nodes)}

    def replay(self, node: Node) -> tuple[tuple[tuple[str, str], ...], tuple[NodeBlocker, ...]]:
        """Where the node's movable pods would go, and a blocker for each that would stay pending."""
        board, index = self._board, self._index[node.name]
        order = self._prospects.pods_on[index]
        run = self._replayer.run(Drain((index,), order, ((len(order), (index,)),)), seed=0)
        nodes = board.cluster.nodes
        placed = zip(run.order, run.targets, strict=True)
        destinations = tuple((board.pods[p].key, nodes[t].name) for p, t in placed if t >= 0)
        return destinations, tuple(self._no_room(board.pods[i]) for i in run.stuck)

    def _no_room(self, pod: Pod) -> NodeBlocker:
        owner = pod.workload
        source = (
            ObjectRef("Pod", pod.key) if owner is None else ObjectRef(owner.kind, f"{owner.namespace}/{owner.name}")
        )
        return NodeBlocker(NO_ROOM, pod.key, source, "", self._reasons.elsewhere(pod))
