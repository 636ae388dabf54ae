"""Judge a drain plan: cordon, evict and reschedule pod by pod, remove nodes wave by wave."""

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Eviction, Fault, FaultKind, Move
from ksolver_cli.verify.bench import Bench


def replay_drain(cluster: Cluster, plan: DrainPlan) -> tuple[tuple[Fault, ...], frozenset[str], int]:
    """Faults, nodes that are left, and the number of steps taken."""
    bench = Bench(cluster)
    moves = _moves(bench, plan)
    fitted = bench.waiting_that_fit(_place_waiting(bench, moves))
    nodes = bench.check_nodes(plan.nodes)
    for name in nodes:
        bench.state.cordon(name)
    gone: set[str] = set()
    for wave in plan.waves:
        for eviction in wave.evictions:
            _evict(bench, eviction, moves, frozenset(nodes))
            bench.step += 1
        for name in dict.fromkeys(wave.nodes):
            if name in bench.state.nodes and name not in gone:
                gone.add(name)
                bench.remove(name)
    steps, bench.step = bench.step, -1
    bench.check_waiting(fitted)
    for key, move in moves.items():
        if move.source:
            bench.object(FaultKind.NOT_EVICTABLE, key, move.source, "moved, and never evicted")
    return tuple(bench.faults), frozenset(bench.state.nodes), steps


def _moves(bench: Bench, plan: DrainPlan) -> dict[str, Move]:
    moves: dict[str, Move] = {}
    for move in plan.moves:
        if move.pod in moves:
            bench.object(FaultKind.UNKNOWN_OBJECT, move.pod, detail="moved twice")
        elif move.pod not in bench.pods:
            bench.object(FaultKind.UNKNOWN_OBJECT, move.pod, detail="no such pod")
        elif move.target not in bench.state.nodes:
            bench.object(FaultKind.UNKNOWN_OBJECT, move.pod, move.target, "no such node")
        else:
            moves[move.pod] = move
    return moves


def _place_waiting(bench: Bench, moves: dict[str, Move]) -> set[str]:
    """Pending pods that fit today come first: a move without a source gives one its place. Those that have one."""
    placed = [key for key, move in moves.items() if not move.source]
    waiting = {p.key for p in bench.waiting()}
    for key in placed:
        move = moves.pop(key)
        if key not in waiting:
            bench.object(FaultKind.UNKNOWN_OBJECT, key, detail="is not waiting for a node")
        else:
            bench.place(bench.pods[key], move.target, ())
    return set(placed)


def _evict(bench: Bench, eviction: Eviction, moves: dict[str, Move], nodes: frozenset[str]) -> None:
    pod = bench.pods.get(eviction.pod)
    if pod is None:
        bench.object(FaultKind.UNKNOWN_OBJECT, eviction.pod, eviction.node, "no such pod")
        return
    here = bench.state.node_of(pod)
    if here is None or here != eviction.node or here != pod.node_name:
        bench.object(FaultKind.UNKNOWN_OBJECT, eviction.pod, eviction.node, f"is on {here or 'no node'}")
        return
    if here not in nodes:
        bench.object(FaultKind.NOT_EVICTABLE, eviction.pod, here, "the node stays")
    charged = bench.evict(pod, here)
    move = moves.pop(eviction.pod, None)
    if move is None:
        bench.object(FaultKind.PENDING, eviction.pod, here, "evicted, and given no place")
        return
    if move.source != here:
        bench.object(FaultKind.UNKNOWN_OBJECT, eviction.pod, move.source, f"is on {here}")
    if move.target not in bench.state.nodes:
        bench.object(FaultKind.PENDING, eviction.pod, move.target, "the node is gone by then")
        return
    bench.place(pod, move.target, charged)
