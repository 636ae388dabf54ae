"""Drain plans carried out by kube-scheduler's own code: no pod may pend, whatever the ties."""

import pytest

from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.search import SearchOptions, search
from tests.live.drains import Json, Loop, Prices, as_cluster, pending, prices_of, shared, steps
from tests.live.oracle import Oracle
from tests.paths import DATA

FOLDER = DATA / "drain"
RUNS = 3
JITTER = 5.0
pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the shared clusters are not here")


def planned(objects: Json, prices: Prices) -> DrainPlan:
    seen = as_cluster(objects)
    limits = Limits(effort=0.3, seconds=300.0)
    result = search(seen, classify(seen), prices_of(seen, prices), limits, SearchOptions(curve=False))
    assert result.judgement.accepted
    return result.plan


@pytest.mark.parametrize("name", ["c50_1", "c50_2", pytest.param("c200_1", marks=pytest.mark.slow)])
def test_no_pod_pends(oracle: Oracle, name: str) -> None:
    objects, prices = shared(FOLDER, name)
    plan = planned(objects, prices)
    assert plan.nodes
    for seed in range(RUNS):
        for jitter in (0.0, JITTER):
            ops = list(steps(plan, jitter, seed))
            assert not pending(ops, oracle.schedule(objects, ops, seed=seed + 1)), (seed, jitter)


@pytest.mark.parametrize("name", ["c50_2"])
def test_the_loop_ends_no_dearer_than_the_plan(oracle: Oracle, name: str) -> None:
    """Wave by wave with a fresh look before each, evictions in another order than planned."""
    objects, prices = shared(FOLDER, name)
    plan = planned(objects, prices)
    loop = Loop(oracle, objects, prices, effort=0.1)
    loop.run(plan, jitter=20.0, seed=1)
    assert loop.pended == 0
    assert loop.cost <= plan.cost_after_micros
