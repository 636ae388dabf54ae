"""What repair cannot mend: whole pods in the rows plans are held to, nodes given back, work counted by size."""

from pathlib import Path

import numpy as np
import pytest

from ksolver_cli.domain.plan import Limits
from ksolver_cli.solve.bound import cuts
from ksolver_cli.solve.bound.cuts import strict_spread_rows, violated
from ksolver_cli.solve.bound.highs import MipBudget
from ksolver_cli.solve.bound.lower import lower_bound
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.place.realise import incumbent_of
from ksolver_cli.solve.place.rescue import rescue
from ksolver_cli.solve.place.state import State
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Run
from tests.unit.solve.raw import cluster_of, node, pod, problem_of, spread

ZONES = "abc"


def _spread_pods(folder: Path, count: int, skew: int) -> Problem:
    nodes = [node(f"n{z}{i}", zone=z) for z in ZONES for i in range(2)]
    pods = [
        pod(f"p{i}", f"n{ZONES[i % 3]}0", cpu="100m", topologySpreadConstraints=spread(skew=skew)) for i in range(count)
    ]
    return problem_of(cluster_of(folder, *nodes, *pods))


@pytest.mark.parametrize(("count", "skew"), [(4, 1), (5, 1), (6, 1), (2, 1), (7, 2), (8, 3)])
def test_spread_rows_for_plans_allow_exactly_what_whole_pods_can_do_in_a_domain(
    count: int, skew: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "WHOLE_PODS", 0)
    problem = _spread_pods(tmp_path, count, skew)
    relaxation = lower_bound(problem, Run(Limits())).relaxation
    rows = strict_spread_rows(relaxation)
    (zone,) = (row for key, row in zip(problem.keys, problem.domain, strict=True) if not problem.is_host_key(key))
    zone_of_class = np.array([zone[nodes[0]] for nodes in problem.class_nodes])
    whole = [
        (a, b, count - a - b) for a in range(count + 1) for b in range(count + 1 - a)
        if max(a, b, count - a - b) - min(a, b, count - a - b) <= skew
    ]  # fmt: skip
    reached = {share[0] for share in whole}
    for tenths in range(10 * count + 1):
        first = tenths / 10
        point = np.zeros(relaxation.num_columns)
        for z, share in enumerate((first, (count - first) / 2, (count - first) / 2)):
            (c,) = np.flatnonzero(zone_of_class == z)
            point[relaxation.column_of[0, c]] = share
        inside = min(reached) <= first <= max(reached)
        paired = abs(first - (count - first) / 2) <= skew
        assert (not violated(rows, point).any()) == (inside and paired), first


def test_as_many_nodes_are_given_back_at_once_as_a_class_is_short_of(tmp_path: Path) -> None:
    nodes = [node(f"n{i:02}", cpu="4") for i in range(60)]
    pods = [pod(f"p{i}", f"n{i:02}", cpu="1500m") for i in range(60)]
    problem = problem_of(cluster_of(tmp_path, *nodes, *pods))
    kept = np.arange(60) < 4
    state = State(problem, kept, np.ones(problem.num_pods, dtype=bool))
    for index, homeless in enumerate(state.homeless().tolist()):
        state.put(homeless, index % 4)
    assert not state.is_complete()
    assert rescue(state, np.random.default_rng(0), ceiling=60_000_000)
    found = incumbent_of(state)
    assert not faults(problem, found.kept, found.node)
    assert 30 <= int(found.kept.sum()) < 40


def test_no_node_is_given_back_that_rules_keep_from_helping(tmp_path: Path) -> None:
    # The small zone must hold two of the six spread pods, so only a node of that zone helps its full one.
    nodes = [node("b0", cpu="2", zone="b"), node("b1", cpu="4", zone="b")]
    nodes += [node(f"{z}{i}", cpu="4", zone=z) for z in "ac" for i in range(3)]
    pods = [
        pod(f"p{i}", f"{'abc'[i % 3]}{0 if i % 3 != 1 else 1}", topologySpreadConstraints=spread()) for i in range(6)
    ]
    pods += [pod("fixed", "b0", cpu="500m", app="bare", owner="")]
    problem = problem_of(cluster_of(tmp_path, *nodes, *pods))
    names = list(problem.node_names)
    kept = np.array([name in {"b0", "a0", "c0"} for name in names])
    state = State(problem, kept, np.ones(problem.num_pods, dtype=bool))
    for homeless in state.homeless().tolist():
        state.put(homeless, names.index("b0"))
    assert rescue(state, np.random.default_rng(0), ceiling=problem.cost_now)
    assert {names[n] for n in np.flatnonzero(state.kept)} == {"b0", "b1", "a0", "c0"}


def test_a_class_mip_may_take_more_steps_where_each_is_cheap() -> None:
    budget = MipBudget(nodes=10, steps=500, work=1_000_000)
    assert budget.steps_for(1000) == 500
    assert budget.steps_for(10_000) == 100
    assert budget.steps_for(0) == MipBudget(nodes=10, steps=500).steps_for(10**9) == 500
