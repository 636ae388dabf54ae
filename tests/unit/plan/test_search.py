"""The drain search on clusters whose answer is plain."""

from collections.abc import Callable
from dataclasses import replace

from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.plan import Eviction, Limits, Wave
from ksolver_cli.domain.pod import Phase
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.next_wave import planned_waves, remainder, search_on
from ksolver_cli.plan.search import SearchOptions, SearchResult, never, search, silent
from tests.unit.verify import world as w

QUICK = SearchOptions(exact=3, jittered=3)


def found(of: Cluster, options: SearchOptions = QUICK, stop: Callable[[], bool] = never) -> SearchResult:
    return search(of, classify(of), w.prices(of), Limits(effort=0.1), options, (silent, stop))


def spread_out(count: int = 6, cpu: int = 1000) -> Cluster:
    """A pod on each node; three fit one."""
    nodes = [w.node(f"n{i}") for i in range(count)]
    return w.cluster(nodes, [w.pod(f"a{i}-0", f"n{i}", w.spec(cpu)) for i in range(count)])


def test_consolidates_onto_half_the_nodes() -> None:
    result = found(spread_out())
    assert result.judgement.accepted
    assert result.plan.cost_after_micros == 200_000
    assert len(result.plan.moves) == 4
    assert result.plan.replays >= 6


def test_pods_that_do_not_fit_together_save_nothing_and_move_nothing() -> None:
    result = found(spread_out(4, cpu=3000))
    assert result.plan.waves == ()
    assert result.plan.moves == ()
    assert result.plan.cost_after_micros == result.plan.cost_before_micros == 400_000
    assert result.judgement.accepted


def test_anti_affine_replicas_keep_their_nodes() -> None:
    shy = w.spec(100, anti_affinity=w.apart("a"))
    of = w.cluster([w.node(f"n{i}") for i in range(4)], [w.pod(f"a-{i}", f"n{i}", shy) for i in range(3)])
    assert found(of).plan.nodes == ("n3",)


def test_idle_nodes_go_without_moving_a_pod() -> None:
    of = w.cluster([w.node(f"n{i}") for i in range(3)], [w.pod("a-0", "n0", w.spec(3500), kind="")])
    result = found(of)
    assert sorted(result.plan.nodes) == ["n1", "n2"]
    assert result.plan.moves == ()


def test_unpriced_and_free_nodes_stay() -> None:
    of = spread_out(3, cpu=100)
    prices: dict[str, int | None] = {"n0": None, "n1": 0, "n2": 5}
    result = search(of, classify(of), prices, Limits(effort=0.1), QUICK)
    assert result.plan.nodes == ("n2",)
    assert (result.plan.cost_before_micros, result.judgement.cost_after_micros) == (5, 0)


def test_a_budget_that_allows_none_keeps_its_node() -> None:
    of = spread_out(3)
    strict = DisruptionBudget("default", "b", w.app("a0"), max_unavailable="0")
    assert "n0" not in found(replace(of, budgets=(strict,))).plan.nodes


def test_pending_pods_that_fit_today_keep_their_room() -> None:
    of = w.cluster([w.node("n0"), w.node("n1")], [w.pod("p-0", "", w.spec(3000), phase=Phase.PENDING)])
    result = found(of)
    assert len(result.plan.nodes) == 1
    assert [m.source for m in result.plan.moves] == [""]
    assert result.judgement.accepted


def test_a_move_budget_bounds_the_moves() -> None:
    for budget in range(5):
        result = found(spread_out(), replace(QUICK, move_budget=budget))
        assert len(result.plan.moves) <= budget
        assert len(result.plan.nodes) == budget


def test_the_curve_rises_and_ends_at_the_plan() -> None:
    result = found(spread_out(12, cpu=300))
    moves = [p.moves for p in result.curve]
    saved = [p.saving_micros for p in result.curve]
    assert moves == sorted(set(moves))
    assert saved == sorted(set(saved))
    assert moves[-1] == len(result.plan.moves)
    assert saved[-1] == result.plan.cost_before_micros - result.plan.cost_after_micros


def test_the_same_answer_twice() -> None:
    assert found(spread_out(9)).plan == found(spread_out(9)).plan


def test_an_interrupt_still_gives_a_judged_plan() -> None:
    result = found(spread_out(), stop=lambda: True)
    assert result.judgement.accepted
    assert result.limited_by == "interrupt"


def test_an_empty_cluster() -> None:
    result = found(w.cluster([], []))
    assert result.plan.waves == ()
    assert result.judgement.cost_after_micros is None


def test_going_on_takes_up_what_is_left() -> None:
    of = spread_out()
    plan = found(of).plan
    first = plan.nodes[0]
    moved = {m.pod: m.target for m in plan.moves}
    pods = tuple(replace(p, node_name=moved[p.key]) if p.node_name == first else p for p in of.pods)
    cordoned = tuple(replace(n, unschedulable=n.name in plan.nodes) for n in of.nodes if n.name != first)
    rest = remainder(replace(of, nodes=cordoned, pods=pods), plan.waves)
    assert rest.gone == (first,)
    prices = w.prices(rest.cluster)
    result = search_on(rest, classify(rest.cluster), prices, Limits(effort=0.1), QUICK, (silent, never))
    assert set(result.plan.nodes) == set(plan.nodes) - {first}


def test_reading_a_stored_plan() -> None:
    wave = {"nodes": ["n1", "n2"], "evictions": [{"pod": "d/a", "node": "n1"}]}
    read = Wave(("n1", "n2"), (Eviction("d/a", "n1"),))
    assert planned_waves({"plan": {"waves": [wave]}}) == (read,)
    assert planned_waves({"waves": [wave, {"nodes": ["n3"]}]}) == (read, Wave(("n3",), ()))
    for broken in (None, [], {}, {"plan": None}, {"waves": [1]}, {"waves": [{"nodes": [1]}]}):
        assert planned_waves(broken) is None


def test_a_pod_on_a_node_that_is_missing_changes_nothing() -> None:
    of = spread_out()
    lost = replace(of, pods=(*of.pods, w.pod("lost-0", "nowhere", w.spec(), kind="")))
    assert found(lost).plan.nodes == found(of).plan.nodes


def test_an_interrupt_in_the_middle_ends_with_a_plan() -> None:
    """However early it comes once there is something to look at, the plan is judged and repeats nothing."""
    for polls in (5, 20, 60, 200):
        left = iter(range(polls))
        result = found(spread_out(12, cpu=700), stop=lambda left=left: next(left, None) is None)  # type: ignore[misc] # bound
        assert result.judgement.accepted
        assert len(set(result.plan.nodes)) == len(result.plan.nodes)
