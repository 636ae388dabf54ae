"""The referee: replays a plan from the cluster alone, and re-adds what is left to pay."""

from collections.abc import Mapping

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Fault, FaultKind, Judgement, Placement
from ksolver_cli.verify.drain import replay_drain
from ksolver_cli.verify.repack import replay_placement


def judge(cluster: Cluster, plan: DrainPlan | Placement, prices_micros: Mapping[str, int | None]) -> Judgement:
    """Judge a plan step by step with the Filter predicates against the state at that moment.

    Prices are micro-dollars an hour by node name; nodes without one cost an unknown amount and are left out of every
    sum. The cost is None only where no node has a price. A drain plan whose own costs differ from the sums is at fault.
    """
    replay = replay_drain(cluster, plan) if isinstance(plan, DrainPlan) else replay_placement(cluster, plan)
    faults, left, steps = replay
    cost = total_cost(prices_micros, left)
    if isinstance(plan, DrainPlan):
        before = total_cost(prices_micros, frozenset(n.name for n in cluster.nodes))
        faults += _cost_faults(plan, before or 0, cost or 0)
    return Judgement(faults, cost, steps)


def total_cost(prices_micros: Mapping[str, int | None], nodes: frozenset[str]) -> int | None:
    """Micro-dollars an hour of the priced nodes among these; None where no node at all is priced."""
    priced = {name: price for name, price in prices_micros.items() if price is not None}
    return sum(price for name, price in priced.items() if name in nodes) if priced else None


def _cost_faults(plan: DrainPlan, before: int, after: int) -> tuple[Fault, ...]:
    claims = (("before", plan.cost_before_micros, before), ("after", plan.cost_after_micros, after))
    return tuple(
        Fault(FaultKind.COST, -1, detail=f"{when}: {claimed} claimed, {true} found")
        for when, claimed, true in claims
        if claimed != true
    )
