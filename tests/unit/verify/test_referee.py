"""The referee: what it accepts, and what it must not."""

from dataclasses import replace

import pytest

from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.plan import DrainPlan, Eviction, FaultKind, Judgement, Move, Placement, Wave
from ksolver_cli.domain.pod import Phase
from ksolver_cli.domain.verdict import Reason, Rejection
from ksolver_cli.verify.referee import judge
from tests.unit.verify import world as w


def drain(of: Cluster, waves: list[tuple[list[str], list[str]]], moves: dict[str, str]) -> DrainPlan:
    """Waves of (nodes removed, pods evicted before that); prices are 100,000 a node."""
    home = {p.key: p.node_name for p in of.pods}
    gone = sum(len(nodes) for nodes, _ in waves)
    return DrainPlan(
        tuple(
            Wave(tuple(nodes), tuple(Eviction(f"default/{p}", home.get(f"default/{p}", "")) for p in pods))
            for nodes, pods in waves
        ),
        100_000 * len(of.nodes),
        100_000 * (len(of.nodes) - gone),
        tuple(Move(f"default/{p}", home.get(f"default/{p}", ""), t) for p, t in moves.items()),
    )


def verdict(of: Cluster, plan: DrainPlan | Placement) -> Judgement:
    return judge(of, plan, w.prices(of))


def kinds(judgement: Judgement) -> set[FaultKind]:
    return {f.kind for f in judgement.faults}


def two_pods() -> Cluster:
    small = w.spec(1000)
    return w.cluster([w.node("n1"), w.node("n2"), w.node("n3")], [w.pod("a-0", "n1", small), w.pod("b-0", "n2", small)])


def test_accepts_a_plan_that_holds() -> None:
    of = two_pods()
    judgement = verdict(of, drain(of, [(["n1"], ["a-0"])], {"a-0": "n2"}))
    assert judgement.accepted
    assert (judgement.cost_after_micros, judgement.steps) == (200_000, 1)


def test_accepts_a_plan_that_does_nothing() -> None:
    of = two_pods()
    assert verdict(of, drain(of, [], {})).accepted


def test_two_moved_pods_collide() -> None:
    """Each of them fits n3 as it is today; together they do not."""
    big = w.spec(3000)
    of = w.cluster([w.node("n1"), w.node("n2"), w.node("n3")], [w.pod("a-0", "n1", big), w.pod("b-0", "n2", big)])
    alone = drain(of, [(["n1"], ["a-0"])], {"a-0": "n3"})
    assert verdict(of, alone).accepted
    both = verdict(of, drain(of, [(["n1", "n2"], ["a-0", "b-0"])], {"a-0": "n3", "b-0": "n3"}))
    assert [(f.kind, f.pod, f.step) for f in both.faults] == [(FaultKind.REJECTED, "default/b-0", 1)]


def test_two_moved_pods_collide_by_anti_affinity() -> None:
    shy = w.spec(100, anti_affinity=w.apart("a"))
    of = w.cluster([w.node(f"n{i}") for i in range(1, 4)], [w.pod("a-0", "n1", shy), w.pod("a-1", "n2", shy)])
    judgement = verdict(of, drain(of, [(["n1", "n2"], ["a-0", "a-1"])], {"a-0": "n3", "a-1": "n3"}))
    assert [f.pod for f in judgement.faults] == ["default/a-1"]
    assert not verdict(of, Placement({"default/a-0": "n3", "default/a-1": "n3"}, ("n1", "n2"))).accepted


def zones() -> Cluster:
    """One spread pod in each of three zones, room in all."""
    even = w.spec(100, spread=w.spread("a"))
    nodes = [w.node("n1", "a"), w.node("n2", "b"), w.node("n3", "c"), w.node("n4", "c")]
    return w.cluster(nodes, [w.pod(f"a-{i}", f"n{i + 1}", even) for i in range(3)])


def test_a_cordoned_node_is_a_spread_domain_until_it_is_removed() -> None:
    of = zones()
    pending = verdict(of, drain(of, [(["n1"], ["a-0"])], {"a-0": "n2"}))
    assert [f.kind for f in pending.faults] == [FaultKind.REJECTED]
    found = pending.faults[0].verdicts[0]
    assert isinstance(found, Rejection)
    assert found.reason is Reason.SPREAD_SKEW
    gone = replace(of, nodes=of.nodes[1:], pods=(*of.pods[1:], replace(of.pods[0], node_name="n4")))
    assert verdict(gone, drain(gone, [(["n4"], ["a-0"])], {"a-0": "n2"})).accepted


def test_a_placement_may_not_rely_on_the_node_being_gone() -> None:
    of = zones()
    assert not verdict(of, Placement({"default/a-0": "n2"}, ("n1",))).accepted


def test_waves_remove_nodes_in_turn() -> None:
    """Zone a vanishes in the first wave, so that the second may count without it."""
    even = w.spec(100, spread=w.spread("a"))
    nodes = [w.node("n1", "a"), w.node("n2", "b"), w.node("n3", "c"), w.node("n4", "c")]
    of = w.cluster(nodes, [w.pod("a-0", "n2", even), w.pod("a-1", "n3", even), w.pod("a-2", "n4", even)])
    moves = {"a-2": "n2"}
    late = drain(of, [(["n1"], []), (["n4"], ["a-2"])], moves)
    assert verdict(of, late).accepted
    early = drain(of, [(["n1", "n4"], ["a-2"])], moves)
    assert kinds(verdict(of, early)) == {FaultKind.REJECTED}


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"kind": ""}, FaultKind.NOT_EVICTABLE),
        ({"deleting": True}, FaultKind.NOT_EVICTABLE),
        ({"annotations": {"karpenter.sh/do-not-disrupt": "true"}}, FaultKind.NOT_EVICTABLE),
        ({"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}, FaultKind.NOT_EVICTABLE),
        ({"kind": "DaemonSet"}, FaultKind.NOT_EVICTABLE),
        ({"is_static": True}, FaultKind.NOT_EVICTABLE),
    ],
)
def test_pods_that_were_never_evictable(facts: dict[str, object], kind: FaultKind) -> None:
    of = w.cluster([w.node("n1"), w.node("n2")], [w.pod("a-0", "n1", w.spec(), **facts)])  # type: ignore[arg-type] # facts of a Pod
    assert kind in kinds(verdict(of, drain(of, [(["n1"], ["a-0"])], {"a-0": "n2"})))
    assert kind in kinds(verdict(of, Placement({"default/a-0": "n2"}, ())))


def test_daemons_vanish_with_their_node() -> None:
    of = w.cluster([w.node("n1"), w.node("n2")], [w.pod("d-0", "n1", w.spec(), kind="DaemonSet")])
    assert verdict(of, drain(of, [(["n1"], [])], {})).accepted
    assert verdict(of, Placement({}, ("n1",))).accepted


def test_a_promised_node_must_be_empty() -> None:
    of = two_pods()
    judgement = verdict(of, drain(of, [(["n1"], [])], {}))
    assert [(f.kind, f.pod, f.node) for f in judgement.faults] == [(FaultKind.NODE_NOT_EMPTY, "default/a-0", "n1")]
    assert not verdict(of, Placement({}, ("n1",))).accepted


def test_control_planes_stay() -> None:
    of = w.cluster([w.node("n1", is_control_plane=True), w.node("n2")], [])
    assert kinds(verdict(of, drain(of, [(["n1"], [])], {}))) == {FaultKind.NOT_EVICTABLE}


@pytest.mark.parametrize(
    "change",
    [
        lambda p: replace(p, cost_after_micros=p.cost_after_micros - 1),
        lambda p: replace(p, cost_before_micros=p.cost_before_micros + 1),
        lambda p: replace(p, moves=()),
        lambda p: replace(p, moves=(*p.moves, *p.moves)),
        lambda p: replace(p, moves=(Move("default/b-0", "n2", "n3"), *p.moves)),
        lambda p: replace(p, moves=(replace(p.moves[0], target="n9"),)),
        lambda p: replace(p, moves=(replace(p.moves[0], target="n1"),)),
        lambda p: replace(p, moves=(replace(p.moves[0], source="n3"),)),
        lambda p: replace(p, waves=(*p.waves, *p.waves)),
        lambda p: replace(p, waves=(replace(p.waves[0], nodes=("n1", "n9")),)),
        lambda p: replace(p, waves=(replace(p.waves[0], evictions=(Eviction("default/x", "n1"),)),)),
        lambda p: replace(p, waves=(replace(p.waves[0], evictions=(Eviction("default/a-0", "n2"),)),)),
        lambda p: replace(p, waves=(replace(p.waves[0], evictions=(*p.waves[0].evictions, *p.waves[0].evictions)),)),
        lambda p: replace(
            p, waves=(replace(p.waves[0], evictions=(*p.waves[0].evictions, Eviction("default/b-0", "n2"))),)
        ),
    ],
)
def test_lies_and_unknown_objects(change: object) -> None:
    of = two_pods()
    honest = drain(of, [(["n1"], ["a-0"])], {"a-0": "n2"})
    assert verdict(of, honest).accepted
    assert not verdict(of, change(honest)).accepted  # type: ignore[operator] # a function of the plan


def guarded(allowed: int | None, **facts: object) -> Cluster:
    budget = DisruptionBudget("default", "b", w.app("a"), disruptions_allowed=allowed, **facts)  # type: ignore[arg-type] # facts of a budget
    pods = [w.pod(f"a-{i}", "n1", w.spec(500)) for i in range(3)]
    return w.cluster([w.node("n1"), w.node("n2")], pods, [budget])


def test_a_budget_refills_as_replacements_become_ready() -> None:
    pods = ["a-0", "a-1", "a-2"]
    of = guarded(1, current_healthy=3, desired_healthy=2, expected_pods=3)
    assert verdict(of, drain(of, [(["n1"], pods)], dict.fromkeys(pods, "n2"))).accepted
    of = guarded(0, current_healthy=3, desired_healthy=3, expected_pods=3)
    assert kinds(verdict(of, drain(of, [(["n1"], pods)], dict.fromkeys(pods, "n2")))) == {FaultKind.BUDGET}


def test_a_budget_without_status_is_worked_out() -> None:
    pods = ["a-0", "a-1", "a-2"]
    of = guarded(None, max_unavailable="0")
    assert FaultKind.BUDGET in kinds(verdict(of, drain(of, [(["n1"], pods)], dict.fromkeys(pods, "n2"))))
    of = guarded(None, min_available="2")
    assert verdict(of, drain(of, [(["n1"], pods)], dict.fromkeys(pods, "n2"))).accepted


def test_two_budgets_on_a_pod_stop_the_eviction() -> None:
    of = guarded(1)
    of = replace(of, budgets=(of.budgets[0], replace(of.budgets[0], name="c")))
    pods = ["a-0", "a-1", "a-2"]
    assert FaultKind.NOT_EVICTABLE in kinds(verdict(of, drain(of, [(["n1"], pods)], dict.fromkeys(pods, "n2"))))


def test_a_pending_pod_keeps_the_room_it_has_today() -> None:
    waiting = w.pod("p-0", "", w.spec(3000), phase=Phase.PENDING)
    of = w.cluster([w.node("n1"), w.node("n2")], [waiting])
    assert kinds(verdict(of, drain(of, [(["n1", "n2"], [])], {}))) == {FaultKind.PENDING}
    assert verdict(of, drain(of, [(["n1"], [])], {})).accepted
    huge = replace(of, pods=(w.pod("p-0", "", w.spec(9000), phase=Phase.PENDING),))
    assert verdict(huge, drain(huge, [(["n1", "n2"], [])], {})).accepted


def test_an_unpriced_fleet_has_no_cost() -> None:
    of = two_pods()
    plan = replace(drain(of, [(["n1"], ["a-0"])], {"a-0": "n2"}), cost_before_micros=0, cost_after_micros=0)
    judgement = judge(of, plan, dict.fromkeys(("n1", "n2", "n3")))
    assert judgement.accepted
    assert judgement.cost_after_micros is None


def test_pods_that_change_places_together() -> None:
    """Neither can go first; together they can, as long as no budget forbids it."""
    big = w.spec(3000)
    of = w.cluster([w.node("n1"), w.node("n2")], [w.pod("a-0", "n1", big), w.pod("b-0", "n2", big)])
    swap = Placement({"default/a-0": "n2", "default/b-0": "n1"}, ())
    assert verdict(of, swap).accepted
    tight = DisruptionBudget("default", "b", None, disruptions_allowed=0)
    assert verdict(replace(of, budgets=(tight,)), swap).accepted
    tight = replace(tight, selector=w.app("a"), current_healthy=1, desired_healthy=1)
    assert FaultKind.BUDGET in kinds(verdict(replace(of, budgets=(tight,)), swap))
