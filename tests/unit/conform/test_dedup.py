"""Asking once for nodes that a pod cannot tell apart gives the verdicts of asking for each of them."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Comparison
from ksolver_cli.conform.run import Options, compare
from ksolver_cli.domain.verdict import Family
from ksolver_cli.snapshot.model import Snapshot
from tests.live.worlds.everything import world
from tests.live.worlds.nodes import HOST
from tests.unit.conform.samples import ZONE, node, pod, snapshot, spread
from tests.unit.conform.schedulers import FamilyScheduler

EVERYTHING = Choice(Pods.ALL, 3)


def drawn(seed: int) -> Snapshot:
    """A random cluster whose nodes come in copies, so that there is something to ask once for."""
    random = Random(seed)
    found = world(random)
    nodes = []
    for original in found["nodes"]:
        for copy in range(random.choice((1, 2, 4))):
            name = f"{original['metadata']['name']}-{copy}" if copy else original["metadata"]["name"]
            labels = {**original["metadata"]["labels"]}
            if HOST in labels:
                labels[HOST] = name
            nodes.append({**original, "metadata": {"name": name, "labels": labels}})
    objects = {kind: tuple(items) for kind, items in found.items() if kind not in ("pod", "nodes", "pods")}
    return Snapshot({**objects, "nodes": tuple(nodes), "pods": (*found["pods"], found["pod"])})


def verdicts(found: Comparison) -> dict[tuple[str, str], tuple[str, str, tuple[str, ...]]]:
    return {
        (pair.pod, pair.node): (pair.outcome.value, pair.theirs.said.value, pair.expected)
        for pairs in found.pods.values()
        for pair in pairs
    }


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from([frozenset(), frozenset({Family.NODE_AFFINITY, Family.NODE_PORTS})]))
def test_verdicts_are_those_of_the_full_run(seed: int, blind_to: frozenset[Family]) -> None:
    cluster = drawn(seed)
    full = compare(cluster, FamilyScheduler(blind_to), Options(EVERYTHING))
    once = compare(cluster, FamilyScheduler(blind_to), Options(EVERYTHING, dedup=True))
    assert verdicts(once) == verdicts(full)
    assert once.probes <= full.probes == full.pairs_total == once.pairs_total


def probes(raw_pod: dict, *nodes: dict) -> int:
    return compare(snapshot(list(nodes), [raw_pod]), FamilyScheduler(), Options(EVERYTHING, dedup=True)).probes


def test_like_nodes_are_asked_about_once() -> None:
    assert probes(pod("p"), node("a", labels={HOST: "a"}), node("b", labels={HOST: "b"})) == 1


def test_a_topology_key_that_the_pod_names_tells_nodes_apart() -> None:
    nodes = node("a", labels={ZONE: "za"}), node("b", labels={ZONE: "zb"}), node("c")
    assert probes(pod("p"), *nodes) == 1
    assert probes(pod("p", topologySpreadConstraints=[spread()]), *nodes) == 3


def test_a_pod_that_names_nodes_by_field_or_has_a_claim_meets_each_of_them() -> None:
    nodes = node("a"), node("b"), node("c")
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    assert probes(pod("p", affinity={"nodeAffinity": required}), *nodes) == 3
    assert probes(pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]), *nodes) == 3
