"""Plans for several snapshots against an oracle that tries every set of nodes in every snapshot."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from random import Random

import pytest

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import Limits
from ksolver_cli.domain.pod import Pod
from ksolver_cli.explain.potential import Solver, potential
from ksolver_cli.explain.robust_facts import Several, robust_facts
from ksolver_cli.normalise.classes import classify
from ksolver_cli.plan.robust.robust import Robust, robust
from ksolver_cli.plan.robust.worlds import World
from ksolver_cli.plan.search import SearchOptions, search
from tests.unit.verify import world as w

QUICK = SearchOptions(exact=2, jittered=2)
LIMITS = Limits(effort=0.2)
Prices = dict[str, int | None]


@dataclass(frozen=True, eq=False)
class Case:
    """Snapshots of one small cluster, the newest first, and prices of the newest one's nodes."""

    clusters: tuple[Cluster, ...]
    prices: Prices

    @cached_property
    def worlds(self) -> tuple[World, ...]:
        return tuple(World(of, classify(of)) for of in self.clusters)

    @cached_property
    def plan(self) -> Robust:
        return robust(self.worlds, self.prices, LIMITS, QUICK)

    @cached_property
    def possible(self) -> tuple[frozenset[str], ...]:
        """Every set of nodes that may go in all."""
        return tuple(sets_that_hold(self))

    def saving(self, nodes: frozenset[str]) -> int:
        return sum(self.prices[name] or 0 for name in nodes)


def case(seed: int) -> Case:
    """Two or three times: other pods each, some of them pinned to their node; now and then a node is there or not."""
    random = Random(seed)
    names = [f"n{i}" for i in range(6)]
    cpu = {name: random.choice((3000, 4000, 6000)) for name in names}
    clusters = []
    for moment in range(random.choice((2, 2, 3))):
        there = [name for name in names if moment == 0 or random.random() < 0.9]
        left, pods = {name: cpu[name] for name in there}, []
        for number in range(random.randint(3, 9)):
            name, asked = random.choice(there), random.choice((500, 1000, 1500, 2500))
            if asked <= left[name]:
                left[name] -= asked
                bare = random.random() < 0.08
                pods.append(w.pod(f"t{moment}p{number}-0", name, w.spec(asked), kind="" if bare else "ReplicaSet"))
        clusters.append(w.cluster([w.node(name, cpu=cpu[name]) for name in there], pods))
    newest = {node.name for node in clusters[0].nodes}
    return Case(tuple(clusters), {name: random.choice((100_000, 200_000, 350_000)) for name in sorted(newest)})


def fits(cluster: Cluster, gone: frozenset[str]) -> bool:
    """Whether the pods on these nodes can all be put on the others, those there staying; by trying everything."""
    free = {n.name: n.allocatable["cpu"] for n in cluster.nodes}
    for pod in cluster.pods:
        free[pod.node_name] -= pod.spec.requests["cpu"]
    movers = [pod for pod in cluster.pods if pod.node_name in gone]
    if any(pod.controller is None for pod in movers):
        return False
    return _packs(movers, {name: room for name, room in free.items() if name not in gone})


def _packs(movers: list[Pod], free: dict[str, int]) -> bool:
    if not movers:
        return True
    first, *rest = sorted(movers, key=lambda pod: -pod.spec.requests["cpu"])
    asked = first.spec.requests["cpu"]
    return any(_packs(rest, {**free, name: room - asked}) for name, room in free.items() if room >= asked)


def sets_that_hold(given: Case) -> Iterator[frozenset[str]]:
    names = sorted(given.prices)
    for size in range(len(names) + 1):
        for chosen in map(frozenset, combinations(names, size)):
            if all(fits(of, chosen & {n.name for n in of.nodes}) for of in given.clusters):
                yield chosen


CASES = [case(seed) for seed in range(32)]


@pytest.mark.parametrize("given", CASES, ids=range(len(CASES)))
def test_the_set_holds_in_all_and_the_bounds_are_bounds(given: Case) -> None:
    found = given.plan
    nodes = frozenset(found.found.plan.nodes)
    assert found.found.judgement.accepted
    assert nodes in given.possible
    best = max(map(given.saving, given.possible))
    for world in given.worlds:
        here = nodes & world.names
        alone = search(
            world.cluster, world.classes, world.weights(given.prices, here), LIMITS, replace(QUICK, planned=tuple(here))
        )
        assert not here or frozenset(alone.plan.nodes) == here
        assert alone.judgement.accepted
    facts = _facts(given, found)
    assert facts.saving is not None
    assert facts.saving.at_least_micros == given.saving(nodes) <= best <= facts.saving.at_most_micros
    for row in facts.snapshots:
        assert row.at_most_micros is not None
        assert row.alone_micros is not None
        assert row.alone_micros <= row.at_most_micros
        assert row.together_micros is None or given.saving(nodes) <= row.together_micros <= row.at_most_micros


def _facts(given: Case, found: Robust):  # type: ignore[no-untyped-def]  # as inferred
    newest = given.worlds[0]
    solver = Solver(LIMITS, lambda: False, lambda progress: None)
    reach = potential(newest.cluster, newest.classes, given.prices, found.found.plan, solver)
    sources = [str(index) for index in range(len(given.clusters))]
    return robust_facts(Several(sources, given.worlds, given.prices, found, reach), solver, priced=True)


def test_most_of_what_is_possible_is_found() -> None:
    """The scheduler spreads pods where an oracle may pack them, so not all of it can be reached."""
    saved = possible = 0
    for given in CASES:
        saved += given.saving(frozenset(given.plan.found.plan.nodes))
        possible += max(map(given.saving, given.possible))
    assert saved >= 0.93 * possible


@pytest.mark.parametrize("given", CASES[:12], ids=range(12))
def test_the_newest_once_more_changes_nothing(given: Case) -> None:
    newest = given.clusters[0]
    twice = Case((newest, newest), given.prices).plan
    once = search(newest, classify(newest), given.prices, LIMITS, replace(QUICK, curve=False))
    assert twice.found.plan == once.plan
    assert twice.held[0].binds
    assert twice.held[1].given_back == twice.held[1].blocked == 0


@pytest.mark.parametrize("given", [c for c in CASES if len(c.clusters) == 3][:8])
def test_what_binds_leaves_least(given: Case) -> None:
    found = given.plan
    pairs = [held.together for held in found.held[1:]]
    alone = found.held[0].alone
    assert None not in pairs
    assert alone is not None
    for held in found.held[1:]:
        assert held.binds == (held.together == min(pairs) < alone)  # type: ignore[type-var]  # none is None
