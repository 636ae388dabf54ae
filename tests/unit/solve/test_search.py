"""What the search does beyond the linear programme: shared hosts, opened nodes, work limits, the guard."""

from pathlib import Path

import numpy as np

from ksolver_cli.domain.plan import Limits
from ksolver_cli.solve.bound.cliques import host_cliques
from ksolver_cli.solve.bound.highs import Ended
from ksolver_cli.solve.bound.lower import lower_bound
from ksolver_cli.solve.drain import DrainModel
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.place.rescue import rescue
from ksolver_cli.solve.place.state import State
from ksolver_cli.solve.solution import Run
from tests.unit.solve.raw import anti_affinity, cluster_of, node, pod, problem_of, spread


def test_a_bare_pod_that_the_anti_affinity_of_others_sees_takes_a_host_of_its_own(tmp_path: Path) -> None:
    nodes = [node(f"n{i}") for i in range(5)]
    replicas = [pod(f"p{i}", f"n{i}", affinity=anti_affinity()) for i in range(1, 3)]
    bare = pod("bare", "n0", owner="", affinity=anti_affinity())
    problem = problem_of(cluster_of(tmp_path, *nodes, *replicas, bare))
    assert len(host_cliques(problem)) == 1
    assert lower_bound(problem, Run(Limits())).certificate == 3_000_000


def test_a_node_is_kept_after_all_where_the_others_are_too_full(tmp_path: Path) -> None:
    nodes = [node(f"n{i}", cpu="4") for i in range(3)]
    pods = [pod(f"p{i}", f"n{i}", cpu="3") for i in range(3)]
    problem = problem_of(cluster_of(tmp_path, *nodes, *pods))
    kept = np.array([True, True, False])
    state = State(problem, kept, np.ones(problem.num_pods, dtype=bool))
    state.put(int(state.homeless()[0]), 0)
    assert not state.is_complete()
    assert not rescue(state, np.random.default_rng(0), ceiling=3_000_000)
    assert rescue(state, np.random.default_rng(0), ceiling=3_000_001)
    assert state.kept.all()


def test_a_step_that_the_clock_ended_is_told_of_afterwards() -> None:
    run = Run(Limits(seconds=60.0))
    assert run.limited_by() is None
    run.note_time()
    assert run.limited_by() == "time"
    assert Run(Limits(), interrupted=lambda: True).limited_by() == "interrupt"


def test_a_drain_programme_without_time_says_that_time_ended_it(tmp_path: Path) -> None:
    nodes = [node(f"n{i}") for i in range(6)]
    pods = [pod(f"p{i}", f"n{i}", cpu=f"{300 + 170 * i}m", app=f"w{i}") for i in range(6)]
    problem = problem_of(cluster_of(tmp_path, *nodes, *pods))
    in_time = Run(Limits(seconds=60.0))
    reserve = np.zeros((problem.num_classes, len(problem.resources)))
    assert DrainModel(problem).solve(reserve, 2000, in_time)
    assert in_time.limited_by() is None
    late = Run(Limits(seconds=0.0))
    assert not DrainModel(problem).solve(reserve, 2000, late)
    assert late.limited_by() == "time"


def test_an_interrupt_ends_a_linear_programme_within_it(tmp_path: Path) -> None:
    nodes = [node(f"n{i}", cpu=str(4 + i % 3)) for i in range(9)]
    pods = [pod(f"p{i}", f"n{i % 9}", cpu=f"{300 + 90 * (i % 7)}m", app=f"w{i % 7}") for i in range(27)]
    problem = problem_of(cluster_of(tmp_path, *nodes, *pods))
    asked = []

    def interrupted() -> bool:
        asked.append(1)
        return True

    assert lower_bound(problem, Run(Limits(), interrupted)).point.ended is Ended.STOPPED
    assert asked


def test_a_pending_pod_is_not_seated_where_it_leaves_an_earlier_one_against_its_rule(tmp_path: Path) -> None:
    # `web` may arrive beside at most one `db` in the only zone (two are asked for): the second `db` is no demand.
    rule = spread("db")[0] | {"minDomains": 2}
    problem = problem_of(
        cluster_of(
            tmp_path,
            node("n1"),
            node("n2"),
            pod("db-1", "n1", app="db"),
            pod("db-2", "", app="db"),
            pod("web-1", "", priority=10, topologySpreadConstraints=[rule]),
        )
    )
    assert sorted(problem.pod_keys) == ["app/db-1", "app/web-1"]
    assert problem.left_out.sum() == 1
    assert faults(problem, np.ones(2, dtype=bool), problem.pod_seat) == []
