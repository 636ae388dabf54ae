"""Drain plans carried out by kube-scheduler's own code: no pod may pend, whatever the ties."""

import gzip
import json
from collections.abc import Iterator
from random import Random

import pytest

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.search import SearchOptions, search
from ksolver_cli.snapshot.model import Snapshot
from tests.live.oracle import Oracle
from tests.live.scoring import Json
from tests.paths import DATA

FOLDER = DATA / "drain"
KINDS = {
    "Node": "nodes",
    "Pod": "pods",
    "ReplicaSet": "replicasets",
    "Deployment": "deployments",
    "DaemonSet": "daemonsets",
}
RUNS = 3
JITTER = 5.0


def filled(name: str) -> Json:
    if not FOLDER.exists():
        pytest.skip("the shared clusters are not here")
    cluster: Json = {}
    for item in json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))["items"]:
        cluster.setdefault(KINDS[item["kind"]], []).append(item)
    return cluster


def prices_of(cluster: Cluster) -> dict[str, int]:
    """Micro-dollars an hour by node name."""
    facts = json.loads((FOLDER / "expect.json").read_text())["prices_per_hour"]
    return {n.name: round(1e6 * facts[n.labels["node.kubernetes.io/instance-type"]]) for n in cluster.nodes}


def planned(cluster: Json) -> DrainPlan:
    kinds = {key: tuple(value) for key, value in cluster.items()}
    seen = normalise(Snapshot(objects=kinds, server_version="v1.36.3"))
    result = search(seen, classify(seen), prices_of(seen), Limits(effort=0.3), SearchOptions(curve=False))
    assert result.judgement.accepted
    return result.plan


def steps(plan: DrainPlan, jitter: float, seed: int) -> Iterator[Json]:
    """The plan as the oracle's operations, evictions moved by up to `jitter` places within their wave."""
    random = Random(seed)
    for node in plan.nodes:
        yield {"op": "cordon", "node": node}
    for wave in plan.waves:
        keyed = [(place + random.uniform(0, jitter), e.pod) for place, e in enumerate(wave.evictions)]
        for _, pod in sorted(keyed):
            yield {"op": "evict", "pod": pod}
        for node in wave.nodes:
            yield {"op": "remove_node", "node": node}


@pytest.mark.parametrize("name", ["c50_1", "c50_2", pytest.param("c200_1", marks=pytest.mark.slow)])
def test_no_pod_pends(oracle: Oracle, name: str) -> None:
    cluster = filled(name)
    plan = planned(cluster)
    assert plan.nodes
    for seed in range(RUNS):
        for jitter in (0.0, JITTER):
            placed = oracle.schedule(cluster, list(steps(plan, jitter, seed)), seed=seed + 1)["steps"]
            pending = [p for step in placed for p in step if not p["node"]]
            assert not pending, (seed, jitter)
