"""A plan carried out wave by wave with a fresh look before each, kube-scheduler's own code choosing every placement."""

import pytest

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.next_wave import remainder, search_on
from ksolver_cli.plan.search import SearchOptions, never, silent
from ksolver_cli.snapshot.model import Snapshot
from tests.live.oracle import Oracle
from tests.live.scoring import Json
from tests.live.test_drains import filled, planned, prices_of, steps

QUICK = SearchOptions(exact=4, jittered=4, curve=False)


def as_cluster(objects: Json) -> Cluster:
    return normalise(Snapshot(objects={k: tuple(v) for k, v in objects.items()}, server_version="v1.36.3"))


def after(objects: Json, gone: tuple[str, ...], where: Json) -> Json:
    """The cluster once a wave is done: nodes gone with their daemons, pods where the scheduler put them."""
    nodes = [n for n in objects["nodes"] if n["metadata"]["name"] not in gone]
    pods = []
    for pod in objects["pods"]:
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if where.get(key):
            pods.append(pod | {"spec": pod["spec"] | {"nodeName": where[key]}})
    return objects | {"nodes": nodes, "pods": pods}


def first_wave(plan: DrainPlan) -> DrainPlan:
    return DrainPlan(plan.waves[:1], plan.cost_before_micros, plan.cost_after_micros)


@pytest.mark.parametrize("name", ["c50_2"])
def test_the_loop_ends_no_dearer_than_the_plan(oracle: Oracle, name: str) -> None:
    objects = filled(name)
    plan = planned(objects)
    promised = plan.cost_after_micros
    for wave in range(12):
        if not plan.waves:
            break
        # Cordon all that will go, carry out one wave with its order jittered by 20.
        ops = [{"op": "cordon", "node": n} for n in plan.nodes if n not in plan.waves[0].nodes]
        ops += list(steps(first_wave(plan), 20.0, wave))
        said = oracle.schedule(objects, ops, seed=wave + 1, assignments=True)
        assert not [p for step in said["steps"] for p in step if not p["node"]], wave
        objects = after(objects, plan.waves[0].nodes, said["assignments"])
        rest = remainder(as_cluster(objects), plan.waves)
        prices = prices_of(rest.cluster)
        found = search_on(rest, classify(rest.cluster), prices, Limits(effort=0.1), QUICK, (silent, never))
        assert found.judgement.accepted
        plan = found.plan
    left = sum(prices_of(as_cluster(objects)).values())
    assert left <= promised
