"""Drain plans carried out by kube-scheduler's own code, on clusters given as lists of objects by kind."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Limits
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.next_wave import remainder, search_on
from ksolver_cli.plan.search import SearchOptions, SearchResult, never, silent
from ksolver_cli.snapshot.model import Snapshot
from tests.live.oracle import Oracle

Json = dict[str, Any]
Prices = dict[str, int]
"""Micro-dollars an hour by instance type."""

TYPE = "node.kubernetes.io/instance-type"
LOOK = SearchOptions(exact=4, jittered=4, curve=False)
"""What a fresh look between waves is held to."""
MOST_WAVES = 24


def by_kind(items: Sequence[Json]) -> Json:
    """Objects of a List, by plural."""
    found: Json = {}
    for item in items:
        kind = item["kind"].lower()
        found.setdefault(kind[:-1] + "ies" if kind.endswith("y") else kind + "s", []).append(item)
    return found


def shared(folder: Path, name: str) -> tuple[Json, Prices]:
    """One of the given clusters, and its prices."""
    facts = json.loads((folder / "expect.json").read_text())["prices_per_hour"]
    items = json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))["items"]
    return by_kind(items), {kind: round(1e6 * price) for kind, price in facts.items()}


def as_cluster(objects: Json) -> Cluster:
    """The cluster as ksolver reads it."""
    return normalise(Snapshot(objects={k: tuple(v) for k, v in objects.items()}, server_version="v1.36.3"))


def prices_of(cluster: Cluster, prices: Prices) -> dict[str, int]:
    """Micro-dollars an hour by node name."""
    return {n.name: prices[n.labels[TYPE]] for n in cluster.nodes}


def steps(plan: DrainPlan, jitter: float, seed: int) -> Iterator[Json]:
    """The plan as the oracle's operations, evictions moved by up to `jitter` places within their wave."""
    random = Random(seed)
    for node in plan.cordoned_first:
        yield {"op": "cordon", "node": node}
    for wave in plan.waves:
        if wave.alone:
            yield from ({"op": "drain", "node": node} for node in wave.nodes)
        else:
            keyed = [(place + random.uniform(0, jitter), e.pod) for place, e in enumerate(wave.evictions)]
            for _, pod in sorted(keyed):
                yield {"op": "evict", "pod": pod}
        for node in wave.nodes:
            yield {"op": "remove_node", "node": node}
        if wave.alone:
            yield {"op": "retry"}


def pending(ops: Sequence[Json], said: Json) -> list[Json]:
    """Placements that left a pod pending where none may: everywhere but before a drained node is gone."""
    judged = [
        (op, step) for op, step in zip(ops, said["steps"], strict=True) if op["op"] not in ("drain", "remove_node")
    ]
    return [placed for _, step in judged for placed in step if not placed["node"]]


def after(objects: Json, gone: Sequence[str], where: Json) -> Json:
    """The cluster once a wave is done: nodes gone with their daemons, pods where the scheduler put them."""
    nodes = [n for n in objects["nodes"] if n["metadata"]["name"] not in gone]
    pods = []
    for pod in objects["pods"]:
        key = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        if where.get(key):
            pods.append(pod | {"spec": pod["spec"] | {"nodeName": where[key]}})
    return objects | {"nodes": nodes, "pods": pods}


class Loop:
    """A plan carried out wave by wave with a fresh look before each."""

    def __init__(self, oracle: Oracle, objects: Json, prices: Prices, effort: float) -> None:
        self._oracle = oracle
        self.objects = objects
        self._prices = prices
        self._effort = effort
        self.evictions = 0
        self.pended = 0

    @property
    def cost(self) -> int:
        """Micro-dollars an hour of the nodes that are there now."""
        return sum(prices_of(as_cluster(self.objects), self._prices).values())

    def run(self, plan: DrainPlan, jitter: float, seed: int) -> None:
        """Until a look finds nothing more to do."""
        for number in range(MOST_WAVES):
            if not plan.waves:
                return
            self._wave(plan, jitter, 100 * seed + number)
            plan = self._look(plan).plan

    def _wave(self, plan: DrainPlan, jitter: float, seed: int) -> None:
        """Cordon all that will go, carry out one wave."""
        first = plan.waves[0]
        ops = [{"op": "cordon", "node": n} for n in plan.cordoned_first if n not in first.nodes]
        ops += list(steps(DrainPlan((first,), 0, 0), jitter, seed))
        said = self._oracle.schedule(self.objects, ops, seed=seed + 1, assignments=True)
        self.pended += len(pending(ops, said))
        self.evictions += len(first.evictions)
        self.objects = after(self.objects, first.nodes, said["assignments"])

    def _look(self, plan: DrainPlan) -> SearchResult:
        rest = remainder(as_cluster(self.objects), plan.waves)
        prices = prices_of(rest.cluster, self._prices)
        limits = Limits(effort=self._effort, seconds=600.0)
        return search_on(rest, classify(rest.cluster), prices, limits, LOOK, (silent, never))
