"""What to do, ranked: the waves of the drain plan in their order, then what would make more possible."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ksolver_cli.constraints.eviction import loses_local_data
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.plan import DrainPlan, Interval, Wave
from ksolver_cli.domain.report.actions import Action, ActionKind, Command, Level
from ksolver_cli.domain.report.money_facts import Prices
from ksolver_cli.domain.report.nodes import NodeRow
from ksolver_cli.explain.budget_actions import budget_actions
from ksolver_cli.explain.places import pool_of
from ksolver_cli.explain.steps.commands import LOOK, wave_commands
from ksolver_cli.explain.steps.machines import is_karpenter, machine_notes

_DRAINS = (ActionKind.DRAIN_NODES, ActionKind.REMOVE_IDLE_NODES)

_UNPRICED_ALL = (
    "the plan removes as many nodes as it can; what that saves can be told once --prices says what they cost"
)
_UNPRICED_WHERE_OTHERS_ARE = "pods may move to them, but none is removed before --prices says what they cost"


def actions(
    cluster: Cluster, classes: Classes, plan: DrainPlan, money: Prices, rows: Sequence[NodeRow]
) -> tuple[Action, ...]:
    """Drain waves first, as each needs those before it; then pools to resize, budgets to mend, and
    prices that are missing.
    """
    prices = {row.name: row.price_micros for row in rows}
    drains = _drains(cluster, classes, plan, prices)
    found = [*drains, *_pools(cluster, plan, drains), *budget_actions(cluster, rows), *_unpriced(money)]
    return tuple(found)


def hypothetical(found: Sequence[Action]) -> tuple[Action, ...]:
    """The same without commands to drain: where options let through what today's rules reject, pods would pend."""
    why = "no commands: it needs rules that the options assume, and the cluster does not have yet"
    return tuple(
        replace(action, reasons=(why,), prechecks=(), commands=(), undo=()) if action.kind in _DRAINS else action
        for action in found
    )


def _drains(cluster: Cluster, classes: Classes, plan: DrainPlan, prices: Mapping[str, int | None]) -> list[Action]:
    found: list[Action] = []
    commands = wave_commands(cluster, classes, plan)
    left, closed = plan.cordoned_first, {node.name for node in cluster.nodes if node.unschedulable}
    for number, wave in enumerate(plan.waves, start=1):
        known = [price for node in wave.nodes if (price := prices[node]) is not None]
        found.append(
            Action(
                id=f"D{number}",
                kind=ActionKind.DRAIN_NODES if wave.evictions else ActionKind.REMOVE_IDLE_NODES,
                subject=f"wave {number} of {len(plan.waves)}",
                nodes=wave.nodes,
                pods_moved=len(wave.evictions),
                saving=Interval(sum(known), sum(known)) if known else None,
                effort=Level.LOW,
                risk=Level.MEDIUM if wave.evictions else Level.LOW,
                reasons=_notes(cluster, wave),
                prechecks=(LOOK,),
                commands=commands[number - 1],
                undo=_undo([name for name in (wave.nodes if wave.alone else left) if name not in closed]),
                after=(f"D{number - 1}",) if number > 1 else (),
            )
        )
        left = left[len(wave.nodes) :]
    return found


_WAITS = "its pods may wait until the node is removed: hard spread counts a cordoned node as a place for them"


def _undo(nodes: Sequence[str]) -> tuple[Command, ...]:
    """As long as nodes are not deleted; those that were cordoned before stay so."""
    return (Command(("kubectl", "uncordon", *nodes), "let pods come back"),) if nodes else ()


def _notes(cluster: Cluster, wave: Wave) -> tuple[str, ...]:
    """What is lost with the pods, and how the machines end."""
    evicted, gone = {e.pod for e in wave.evictions}, set(wave.nodes)
    losers = sorted({str(p.workload) for p in cluster.pods if p.key in evicted and loses_local_data(p)})
    lost = (f"what these keep in emptyDir volumes is lost: {', '.join(losers)}",) if losers else ()
    waits = (_WAITS,) if wave.alone and wave.evictions else ()
    return lost + waits + machine_notes([node for node in cluster.nodes if node.name in gone])


def _pools(cluster: Cluster, plan: DrainPlan, drains: Sequence[Action]) -> list[Action]:
    """Pools with a size that a person sets; Karpenter's have none."""
    removed = set(plan.nodes)
    sizes = Counter(pool_of(node) for node in cluster.nodes)
    members: dict[str, list[Node]] = {}
    for node in cluster.nodes:
        if node.name in removed and pool_of(node) and not is_karpenter(node):
            members.setdefault(pool_of(node), []).append(node)
    return [
        Action(
            id=f"P{number}",
            kind=ActionKind.RESIZE_POOL,
            subject=f"{pool} from {sizes[pool]} to {sizes[pool] - len(gone)} nodes",
            nodes=tuple(node.name for node in gone),
            pods_moved=0,
            saving=None,
            effort=Level.LOW,
            risk=Level.LOW,
            reasons=("set its minimum too, or an autoscaler brings the nodes back",),
            after=(drains[-1].id,),
        )
        for number, (pool, gone) in enumerate(sorted(members.items()), start=1)
    ]


def _unpriced(money: Prices) -> list[Action]:
    if not money.unpriced:
        return []
    nodes = tuple(name for name, _ in money.unpriced)
    check = Command(("ksolver", "catalog", "check", "prices.yaml"), "check a price file before it is used")
    return [
        Action(
            id="U1",
            kind=ActionKind.PRICE_NODES,
            subject="--prices",
            nodes=nodes,
            pods_moved=0,
            saving=None,
            effort=Level.LOW,
            risk=Level.LOW,
            reasons=(_UNPRICED_WHERE_OTHERS_ARE if money.priced_nodes else _UNPRICED_ALL,),
            prechecks=(check,),
        )
    ]
