from pathlib import Path

import pytest

from ksolver_cli.domain.plan import Limits, Status
from ksolver_cli.solve.solution import Progress
from ksolver_cli.solve.solve import solve
from tests.unit.solve.raw import anti_affinity, cluster_of, node, pod, problem_of, spread


def test_pods_that_fit_only_one_a_node_save_nothing_and_do_not_move(tmp_path: Path) -> None:
    objects = [node(f"n{i}") for i in range(4)] + [pod(f"p{i}", f"n{i}", cpu="3") for i in range(4)]
    solution = solve(problem_of(cluster_of(tmp_path, *objects)))
    assert solution.removed == ()
    assert solution.moved == 0
    assert solution.proof.status is Status.OPTIMAL
    assert solution.proof.cost_micros == solution.proof.bound_micros == 4_000_000


def test_three_anti_affine_replicas_keep_three_nodes(tmp_path: Path) -> None:
    nodes = [node(f"n{i}") for i in range(6)]
    pods = [pod(f"p{i}", f"n{i}", affinity=anti_affinity()) for i in range(3)]
    others = [pod(f"q{i}", f"n{i}", cpu="100m", app="other") for i in range(3, 6)]
    solution = solve(problem_of(cluster_of(tmp_path, *nodes, *pods, *others)))
    assert len(solution.removed) == 3
    assert solution.proof.status is Status.OPTIMAL
    assert len({solution.node_of[f"app/p{i}"] for i in range(3)}) == 3


def test_a_plan_that_frees_nodes_moves_only_their_pods(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0"), pod("p1", "n0"), pod("p2", "n1")]
    solution = solve(problem_of(cluster_of(tmp_path, *objects)))
    assert solution.removed == ("n1",)
    assert solution.moved == 1


def test_unpriced_nodes_are_kept_but_may_receive(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0"), pod("p1", "n1")]
    solution = solve(problem_of(cluster_of(tmp_path, *objects), unpriced=("n0",)))
    assert solution.removed == ("n1",)
    assert solution.node_of["app/p1"] == "n0"
    nothing = solve(problem_of(cluster_of(tmp_path, *objects), unpriced=("n0", "n1")))
    assert nothing.removed == ()


def test_bare_pods_keep_their_node(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0", owner=""), pod("p1", "n1", owner="")]
    assert solve(problem_of(cluster_of(tmp_path, *objects))).removed == ()


def test_a_pending_pod_that_fits_today_keeps_its_room(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0", cpu="3"), pod("p1", "", cpu="2")]
    solution = solve(problem_of(cluster_of(tmp_path, *objects)))
    assert solution.removed == ()
    assert solution.node_of["app/p1"] == "n1"


def test_a_pending_pod_that_fits_nowhere_is_left_out(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0", cpu="3"), pod("p1", "", cpu="9")]
    solution = solve(problem_of(cluster_of(tmp_path, *objects)))
    assert solution.removed == ("n1",)
    assert "app/p1" not in solution.node_of


def test_daemons_vanish_with_their_node(tmp_path: Path) -> None:
    daemons = [pod(f"d{i}", f"n{i}", app="ds", owner="DaemonSet") for i in range(3)]
    objects = [*(node(f"n{i}") for i in range(3)), *daemons, pod("p0", "n0"), pod("p1", "n1")]
    solution = solve(problem_of(cluster_of(tmp_path, *objects)))
    assert len(solution.removed) == 2
    assert set(solution.node_of) == {"app/p0", "app/p1"}


def test_spread_holds_in_the_end_state(tmp_path: Path) -> None:
    nodes = [node(f"{zone}{i}", zone=zone) for zone in "abc" for i in range(2)]
    pods = [pod(f"p{zone}{i}", f"{zone}{i}", topologySpreadConstraints=spread()) for zone in "abc" for i in range(2)]
    solution = solve(problem_of(cluster_of(tmp_path, *nodes, *pods)))
    counts = sorted(sum(n[0] == zone for n in solution.node_of.values()) for zone in "abc")
    gone = {zone for zone in "abc" if {f"{zone}0", f"{zone}1"} <= set(solution.removed)}
    kept = [c for c, zone in zip(counts, "abc", strict=True) if zone not in gone]
    assert solution.proof.bound_micros <= solution.proof.cost_micros <= 3_000_000
    assert kept


def test_spread_broken_today_may_stay(tmp_path: Path) -> None:
    nodes = [node("a0", zone="a"), node("b0", zone="b"), node("c0", zone="c")]
    pods = [pod(f"p{i}", "a0", topologySpreadConstraints=spread()) for i in range(3)]
    solution = solve(problem_of(cluster_of(tmp_path, *nodes, *pods)))
    assert set(solution.removed) == {"b0", "c0"}
    assert solution.moved == 0


def test_an_interrupt_returns_todays_placement_with_an_honest_proof(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0"), pod("p1", "n1")]
    problem = problem_of(cluster_of(tmp_path, *objects))
    solution = solve(problem, interrupted=lambda: True)
    assert solution.proof.limited_by == "interrupt"
    assert solution.proof.cost_micros == problem.cost_now
    assert solution.proof.bound_micros <= 1_000_000


def test_progress_never_gets_worse(tmp_path: Path) -> None:
    nodes = [node(f"n{i}") for i in range(6)]
    pods = [pod(f"p{i}", f"n{i}", cpu=f"{500 + 137 * i}m", app=f"w{i}") for i in range(6)]
    told: list[Progress] = []
    solve(problem_of(cluster_of(tmp_path, *nodes, *pods)), on_progress=told.append)
    costs, bounds = [p.cost_micros for p in told], [p.bound_micros for p in told]
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert told


def test_equal_input_gives_equal_output(tmp_path: Path) -> None:
    nodes = [node(f"n{i}") for i in range(8)]
    pods = [pod(f"p{i}", f"n{i % 8}", cpu=f"{300 + 97 * (i % 7)}m", app=f"w{i % 5}") for i in range(16)]
    problem = problem_of(cluster_of(tmp_path, *nodes, *pods))
    first, second = (solve(problem, Limits(seed=3)) for _ in range(2))
    assert first == second


def test_a_start_is_never_given_up_for_something_dearer(tmp_path: Path) -> None:
    objects = [node("n0"), node("n1"), pod("p0", "n0"), pod("p1", "n1")]
    problem = problem_of(cluster_of(tmp_path, *objects))
    solution = solve(problem, Limits(seconds=0.0), start={"app/p0": "n1", "app/p1": "n1"})
    assert solution.proof.cost_micros == 1_000_000
    assert solution.removed == ("n0",)


@pytest.mark.parametrize("cpu", ["4", "8"])
def test_an_overloaded_node_may_stay_overloaded_but_receives_nothing(tmp_path: Path, cpu: str) -> None:
    objects = [node("n0", cpu="4"), node("n1", cpu=cpu), *(pod(f"p{i}", "n0") for i in range(5)), pod("q", "n1")]
    solution = solve(problem_of(cluster_of(tmp_path, *objects)))
    assert solution.proof.bound_micros <= solution.proof.cost_micros
    assert solution.removed == ((), ("n0",))[cpu == "8"]
