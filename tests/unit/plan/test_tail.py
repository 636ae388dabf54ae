"""Nodes that can only go by themselves: with hard spread over hosts, pods come back once their old node is gone."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT
from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Family
from ksolver_cli.explain.steps.commands import wave_commands
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.replay.filters import open_nodes
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.search import SearchOptions, SearchResult, search
from ksolver_cli.verify.referee import judge
from tests.unit.verify import world as w

QUICK = SearchOptions(exact=3, jittered=3, curve=False)


def found(of: Cluster, options: SearchOptions = QUICK) -> SearchResult:
    return search(of, classify(of), w.prices(of), Limits(effort=0.1), options)


def even(count: int = 4, budgets: tuple[DisruptionBudget, ...] = ()) -> Cluster:
    """A replica on each host, never more than one apart; two would fit one."""
    what = w.spec(1900, spread=w.spread("a", w.HOSTNAME))
    nodes = [w.node(f"n{i}") for i in range(count)]
    return w.cluster(nodes, [w.pod(f"a-{i}", f"n{i}", what) for i in range(count)], budgets)


def budget(max_unavailable: str, allowed: int) -> DisruptionBudget:
    return DisruptionBudget(
        "default", "a", w.app("a"), max_unavailable=max_unavailable, disruptions_allowed=allowed, current_healthy=4
    )


def test_nodes_go_one_by_one_where_a_cordoned_node_is_a_domain_still() -> None:
    result = found(even())
    assert result.judgement.accepted
    assert result.plan.cost_after_micros == 200_000
    assert [len(wave.nodes) for wave in result.plan.waves if wave.alone] == [1, 1]
    assert result.plan.cordoned_first == ()


def test_the_same_waves_cordoned_together_are_refused() -> None:
    of = even()
    together = tuple(replace(wave, alone=False) for wave in found(of).plan.waves)
    assert not judge(of, replace(found(of).plan, waves=together), w.prices(of)).accepted


def test_a_budget_that_lets_one_go_lets_a_node_go() -> None:
    assert found(even(budgets=(budget("1", 1),))).plan.cost_after_micros == 200_000


def test_a_budget_may_not_be_short_while_pods_wait() -> None:
    """Both pods of a node wait until it is gone; the second is never let go, and the node never goes."""
    what = w.spec(900, spread=w.spread("a", w.HOSTNAME))
    nodes = [w.node(f"n{i}", cpu=4000) for i in range(3)]
    pods = [w.pod(f"a-{i}", f"n{i // 2}", what) for i in range(6)]
    assert found(w.cluster(nodes, pods)).plan.nodes != ()
    assert found(w.cluster(nodes, pods, (budget("1", 1),))).plan.nodes == ()


def test_a_move_budget_holds_for_the_tail_too() -> None:
    assert len(found(even(), replace(QUICK, move_budget=1)).plan.moves) == 1


def test_commands_cordon_drain_and_remove_a_node_before_they_wait() -> None:
    of = even()
    plan = found(of).plan
    for wave, commands in zip(plan.waves, wave_commands(of, classify(of), plan), strict=True):
        said = [command.argv[1] for command in commands]
        assert said[:3] == ["cordon", "drain", "delete"]
        assert all(set(wave.nodes) <= set(command.argv) for command in commands[:3])


def random_even(random: Random) -> Cluster:
    """Workloads with hard spread over hosts or zones of some skew, honouring taints or not, and plain pods between."""
    nodes = [w.node(f"n{i}", random.choice("ab"), cpu=random.choice([2000, 4000])) for i in range(random.randint(2, 6))]
    pods = []
    for number in range(random.randint(1, 3)):
        app = f"w{number}"
        (rule,) = w.spread(app, random.choice([w.HOSTNAME, w.HOSTNAME, w.ZONE]), random.choice([1, 1, 2]))
        rule = replace(rule, honor_node_taints=random.random() < 0.2, min_domains=random.choice([None, None, 2]))
        spec = w.spec(random.choice([200, 600, 1100]), spread=(rule,) if random.random() < 0.8 else ())
        on = random.sample(nodes, len(nodes))
        pods += [w.pod(f"{app}-{i}", on[i % len(on)].name, spec, app) for i in range(random.randint(1, 6))]
    return w.cluster(nodes, pods)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_pods_can_come_back_once_their_node_is_gone(seed: int) -> None:
    """An oracle that knows nothing of the search: all pods of a node leave, it goes, and they come back in any order to
    the node with the most CPU free or, every other time, to any that passes. The rules let some such run end well.
    """
    random = Random(seed)
    of = random_even(random)
    plan = found(of).plan
    if all(wave.alone for wave in plan.waves):
        assert any(carried_out(of, plan, random, choosy=number % 2 == 0) for number in range(50))


def test_pods_come_back_once_their_node_is_gone() -> None:
    """The oracle's scores are not the scheduler's, so that some runs of it end otherwise; most may not."""
    runs = []
    for seed in range(300):
        random = Random(seed)
        of = random_even(random)
        plan = found(of).plan
        if plan.waves and all(wave.alone for wave in plan.waves):
            runs += [carried_out(of, plan, random) for _ in range(20)]
    assert len(runs) >= 400
    assert sum(runs) >= 0.98 * len(runs)


def carried_out(of: Cluster, plan: DrainPlan, random: Random, *, choosy: bool = True) -> bool:
    """Whether no pod pends once a node is gone, choosing the least requested node as the scheduler's scores do."""
    state, home = State(of), {p.key: p.node_name for p in of.pods}
    for wave in plan.waves:
        (node,) = wave.nodes
        state.cordon(node)
        leaving = [p for p in of.pods if home[p.key] == node]
        random.shuffle(leaving)
        for pod in leaving:
            state.remove(pod)
        state.remove_node(node)
        while leaving:
            placed = [pod for pod in leaving if _placed(state, pod, home, random, choosy=choosy)]
            if not placed:
                return False
            leaving = [pod for pod in leaving if pod not in placed]
    return True


def _placed(state: State, pod: Pod, home: dict[str, str], random: Random, *, choosy: bool) -> bool:
    judged = prepare(as_new(pod), state)
    passing = [name for name in state.nodes if judged.passes(name)]
    if not passing:
        return False
    most = max(state.nodes[name].free("cpu") / state.nodes[name].node.allocatable["cpu"] for name in passing)
    best = [n for n in passing if state.nodes[n].free("cpu") / state.nodes[n].node.allocatable["cpu"] == most]
    chosen = random.choice(best if choosy else passing)
    state.add(as_new(pod), chosen)
    home[pod.key] = chosen
    return True


@pytest.mark.parametrize("told", [True, False])
def test_a_cordoned_node_drops_out_of_honoured_spread_with_its_taint(told: bool) -> None:
    """A snapshot can show a cordoned node to which the node controller has not added the taint yet."""
    taints = (UNSCHEDULABLE_TAINT,) if told else ()
    nodes = [w.node("n0"), w.node("n1", unschedulable=True, taints=taints), w.node("n2")]
    (rule,) = w.spread("a", w.HOSTNAME)
    what = w.spec(100, spread=(replace(rule, honor_node_taints=True),))
    of = w.cluster(nodes, [w.pod("a-0", "n0", what), w.pod("a-1", "n2", what)])
    classes = classify(of)
    board = Board(of, classes, static_feasibility(of, classes, ignore=(Family.NODE_UNSCHEDULABLE,)))
    judged = prepare(replace(as_new(of.pods[0]), name="a-2"), State(of))
    wanted = classes.pod_class_of["default/a-0"]
    opened = open_nodes(board.crew([wanted]), board.start)[0].tolist()
    assert opened == [judged.passes(node.name) for node in nodes] == [told, False, told]
