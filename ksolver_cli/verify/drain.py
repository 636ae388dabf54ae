"""Judge a drain plan: cordon, evict and reschedule pod by pod, remove nodes wave by wave.

A replacement must have a node at once, but in waves that are alone: there only the end is judged, with the nodes gone.
"""

from collections import deque

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Eviction, Fault, FaultKind, Move, Wave
from ksolver_cli.verify.bench import Bench, Waiting

Moves = dict[str, deque[Move]]
"""By pod, what is still to come of its moves, in order."""


def replay_drain(cluster: Cluster, plan: DrainPlan) -> tuple[tuple[Fault, ...], frozenset[str], int]:
    """Faults, nodes that are left, and the number of steps taken."""
    bench = Bench(cluster)
    moves = _moves(bench, plan)
    fitted = bench.waiting_that_fit(_place_waiting(bench, moves))
    known = set(bench.check_nodes(plan.nodes))
    cordoned = frozenset(known & set(plan.cordoned_first))
    for name in cordoned:
        bench.state.cordon(name)
    gone: set[str] = set()
    for wave in plan.waves:
        waiting = _evict_all(bench, wave, moves, _own(bench, wave, known - gone) if wave.alone else cordoned)
        for name in dict.fromkeys(wave.nodes):
            if name in bench.state.nodes and name not in gone:
                gone.add(name)
                bench.remove(name)
        _place_late(bench, waiting)
    steps, bench.step = bench.step, -1
    bench.check_waiting(fitted)
    for move in (move for left in moves.values() for move in left if move.source):
        bench.object(FaultKind.NOT_EVICTABLE, move.pod, move.source, "moved, and never evicted")
    return tuple(bench.faults), frozenset(bench.state.nodes), steps


def _own(bench: Bench, wave: Wave, known: set[str]) -> frozenset[str]:
    """Cordon the nodes of a wave that is alone."""
    nodes = frozenset(known & set(wave.nodes))
    for name in nodes:
        bench.state.cordon(name)
    return nodes


def _evict_all(bench: Bench, wave: Wave, moves: Moves, nodes: frozenset[str]) -> list[Waiting]:
    """Evict the wave's pods; those that may wait until its nodes are gone, and do."""
    waiting: list[Waiting] = []
    for eviction in wave.evictions:
        late = _evict(bench, eviction, moves, nodes, may_wait=wave.alone)
        if late is not None:
            waiting.append(late)
        bench.step += 1
    return waiting


def _moves(bench: Bench, plan: DrainPlan) -> Moves:
    moves: Moves = {}
    for move in plan.moves:
        if move.pod not in bench.pods:
            bench.object(FaultKind.UNKNOWN_OBJECT, move.pod, detail="no such pod")
        elif move.target not in bench.state.nodes:
            bench.object(FaultKind.UNKNOWN_OBJECT, move.pod, move.target, "no such node")
        else:
            moves.setdefault(move.pod, deque()).append(move)
    return moves


def _place_waiting(bench: Bench, moves: Moves) -> set[str]:
    """Pending pods that fit today come first: a move without a source gives one its place. Those that have one."""
    placed = [key for key, of_pod in moves.items() if not of_pod[0].source]
    waiting = {p.key for p in bench.waiting()}
    for key in placed:
        move = moves[key].popleft()
        if key not in waiting:
            bench.object(FaultKind.UNKNOWN_OBJECT, key, detail="is not waiting for a node")
        else:
            bench.place(bench.pods[key], move.target, ())
    return set(placed)


def _evict(bench: Bench, eviction: Eviction, moves: Moves, nodes: frozenset[str], *, may_wait: bool) -> Waiting | None:
    """Evict a pod and place its replacement; the replacement where it may wait for a place, and has to."""
    pod = bench.pods.get(eviction.pod)
    if pod is None:
        bench.object(FaultKind.UNKNOWN_OBJECT, eviction.pod, eviction.node, "no such pod")
        return None
    here = bench.state.node_of(pod)
    if here is None or here != eviction.node:
        bench.object(FaultKind.UNKNOWN_OBJECT, eviction.pod, eviction.node, f"is on {here or 'no node'}")
        return None
    if here not in nodes:
        bench.object(FaultKind.NOT_EVICTABLE, eviction.pod, here, "the node stays")
    charged = bench.evict(pod, here)
    left = moves.get(eviction.pod)
    if not left:
        bench.object(FaultKind.PENDING, eviction.pod, here, "evicted, and given no place")
        return None
    move = left.popleft()
    if move.source != here:
        bench.object(FaultKind.UNKNOWN_OBJECT, eviction.pod, move.source, f"is on {here}")
    if move.target not in bench.state.nodes:
        bench.object(FaultKind.PENDING, eviction.pod, move.target, "the node is gone by then")
        return None
    if may_wait and bench.objections(pod, move.target):
        return pod, move.target, charged
    bench.place(pod, move.target, charged)
    return None


def _place_late(bench: Bench, waiting: list[Waiting]) -> None:
    """Place what waited for the nodes to go, in any order that works; what fits nowhere then is a fault."""
    for pod, target, _ in waiting:
        if target not in bench.state.nodes:
            bench.object(FaultKind.PENDING, pod.key, target, "the node is gone by then")
    bench.place_all([late for late in waiting if late[1] in bench.state.nodes])
