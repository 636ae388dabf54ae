"""The solver against oracles that try everything on tiny clusters with every kind of rule."""

import os
from random import Random
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.domain.plan import Limits, Status
from ksolver_cli.solve.bound import lower
from ksolver_cli.solve.bound.branch import branch
from ksolver_cli.solve.bound.lower import lower_bound
from ksolver_cli.solve.place.check import faults
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Run
from ksolver_cli.solve.solve import solve
from tests.property.tiny import end_state_optimum, reachable_optimum, tiny_problem

EXAMPLES = int(os.environ.get("KSOLVER_EXAMPLES", "200"))
LIMITS = Limits(seconds=30.0)
RANDOMS = st.randoms(use_true_random=False)


def _sound(problem: Problem) -> tuple[int, int, Status]:
    solution = solve(problem, LIMITS)
    index = {name: n for n, name in enumerate(problem.node_names)}
    node = np.array(
        [index[solution.node_of[k]] if k in solution.node_of else -1 for k in problem.pod_keys], dtype=np.int64
    )
    kept = np.array([name not in solution.removed for name in problem.node_names], dtype=bool)
    assert faults(problem, kept, node) == []
    assert problem.cost(kept) == solution.proof.cost_micros
    return solution.proof.cost_micros, solution.proof.bound_micros, solution.proof.status


@settings(max_examples=EXAMPLES * 2, deadline=None)
@given(RANDOMS)
def test_today_with_what_pends_and_fits_is_an_end_state(random: Random) -> None:
    problem = tiny_problem(random)
    assert faults(problem, np.ones(problem.num_nodes, dtype=bool), problem.pod_seat) == []


@settings(max_examples=EXAMPLES, deadline=None)
@given(RANDOMS)
def test_bound_and_cost_enclose_the_cheapest_end_state(random: Random) -> None:
    problem = tiny_problem(random)
    cost, bound, status = _sound(problem)
    best = end_state_optimum(problem)
    assert bound <= best <= cost
    if status is Status.OPTIMAL:
        assert cost == best


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(RANDOMS)
def test_a_bound_certified_from_coarse_groups_holds_too(random: Random) -> None:
    problem = tiny_problem(random)
    fine = lower_bound(problem, Run(LIMITS)).bound
    with patch.object(lower, "FINE_GROUPS", 0):
        coarse = lower_bound(problem, Run(LIMITS)).bound
    assert coarse <= end_state_optimum(problem)
    assert coarse <= fine or fine <= end_state_optimum(problem)


@settings(max_examples=EXAMPLES, deadline=None)
@given(RANDOMS)
def test_bound_is_never_above_the_cheapest_reachable_state(random: Random) -> None:
    problem = tiny_problem(random, max_nodes=4, max_pods=5, gangs=False)
    _, bound, _ = _sound(problem)
    best = reachable_optimum(problem)
    if best is not None:
        assert bound <= best


@settings(max_examples=EXAMPLES, deadline=None)
@given(RANDOMS, st.booleans())
def test_branches_lift_the_bound_but_never_above_the_cheapest_state(random: Random, coarse: bool) -> None:
    problem = tiny_problem(random, max_nodes=4, max_pods=5, gangs=False)
    best = reachable_optimum(problem)
    ceiling = end_state_optimum(problem) if best is None else best
    run = Run(LIMITS)
    with patch.object(lower, "FINE_GROUPS", 0 if coarse else 1500):
        bounded = lower_bound(problem, run)
    if not bounded.boxes:
        return
    lifted = branch(bounded, run, problem.cost_now + 1, patience=40)
    assert lifted <= ceiling * (1 + 1e-9)
    assert lifted >= min(value for value, _ in bounded.boxes) - 1.0
