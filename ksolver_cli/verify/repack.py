"""Judge a placement: is there an order in which every moved pod passes the Filter phase?

Pods move one at a time while any can. What is left over must change places together: as many as the budgets allow are
evicted at once, and placed one by one. Nodes are removed last, since a cordoned node stays a spread domain until then.
"""

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import Fault, FaultKind, Placement
from ksolver_cli.domain.pod import Pod
from ksolver_cli.verify.bench import Bench, Waiting


def replay_placement(cluster: Cluster, placement: Placement) -> tuple[tuple[Fault, ...], frozenset[str], int]:
    """Faults, nodes that are left, and the number of steps taken."""
    bench = Bench(cluster)
    removed = bench.check_nodes(placement.removed)
    newcomers, movers = _wanted(bench, placement, frozenset(removed))
    for pod, target in newcomers:
        bench.place(pod, target, ())
    fitted = bench.waiting_that_fit({pod.key for pod, _ in newcomers})
    for name in removed:
        bench.state.cordon(name)
    left = _one_by_one(bench, movers)
    if left:
        _together(bench, left)
    bench.step = len(movers)
    for name in removed:
        bench.remove(name)
    bench.check_waiting(fitted)
    return tuple(bench.faults), frozenset(bench.state.nodes), len(movers)


def _wanted(
    bench: Bench, placement: Placement, removed: frozenset[str]
) -> tuple[list[tuple[Pod, str]], list[tuple[Pod, str]]]:
    """Pending pods that are given a place, and bound pods that change theirs."""
    waiting = {p.key for p in bench.waiting()}
    newcomers, movers = [], []
    for key, target in placement.node_of.items():
        pod = bench.pods.get(key)
        if pod is None or not (pod.is_bound or key in waiting):
            bench.object(FaultKind.UNKNOWN_OBJECT, key, detail="no such pod")
        elif target not in bench.state.nodes:
            bench.object(FaultKind.UNKNOWN_OBJECT, key, target, "no such node")
        elif key in waiting:
            newcomers.append((pod, target))
        elif pod.node_name != target:
            movers.append((pod, target))
    for pod in bench.pods.values():
        if must_move(pod) and pod.node_name in removed and pod.key not in placement.node_of:
            bench.object(FaultKind.PENDING, pod.key, pod.node_name, "given no place")
    return newcomers, movers


def _one_by_one(bench: Bench, movers: list[tuple[Pod, str]]) -> list[tuple[Pod, str]]:
    """Move pods while any can go; those that cannot."""
    left, progress = movers, True
    while left and progress:
        stuck = [(pod, target) for pod, target in left if not _try(bench, pod, target)]
        progress = len(stuck) < len(left)
        left = stuck
    return left


def _try(bench: Bench, pod: Pod, target: str) -> bool:
    source = bench.state.node_of(pod)
    if source is None:
        bench.object(FaultKind.UNKNOWN_OBJECT, pod.key, pod.node_name, "is on no node")
        return True
    if any(not budget.lets_go(pod) for budget in bench.budgets.of(pod)):
        return False
    faults = len(bench.faults)
    charged = bench.evict(pod, source)
    if not bench.objections(pod, target):
        bench.settle(pod, target, charged)
        bench.step += 1
        return True
    del bench.faults[faults:]
    bench.state.add(pod, source)
    for budget in charged:
        budget.allowed += 1
        budget.healthy += 1
    return False


def _together(bench: Bench, left: list[tuple[Pod, str]]) -> None:
    """Evict what the budgets let go, then place pod by pod; what passes nowhere in the end is a fault."""
    out: list[Waiting] = []
    for pod, target in left:
        if pod.key not in bench.fixed and any(not budget.lets_go(pod) for budget in bench.budgets.of(pod)):
            bench.object(FaultKind.BUDGET, pod.key, pod.node_name)
            continue
        out.append((pod, target, bench.evict(pod, pod.node_name)))
    bench.place_all(out)
