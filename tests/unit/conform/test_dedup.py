"""Asking once for nodes that a pod cannot tell apart gives the verdicts of asking for each of them."""

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Comparison
from ksolver_cli.conform.run import Options, compare
from ksolver_cli.domain.verdict import Family
from ksolver_cli.snapshot.model import Snapshot
from tests.live.worlds.everything import world
from tests.live.worlds.nodes import FEATURES, HOST, TAINTS, labels
from tests.unit.conform.samples import ZONE, Json, affinity, node, pod, snapshot, spread
from tests.unit.conform.schedulers import FamilyScheduler

DISK: Json = {"key": "disk", "operator": "In", "values": ["ssd"]}


def required(*terms: Json) -> Json:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


EVERYTHING = Choice(Pods.ALL, 3)


def drawn(seed: int) -> Snapshot:
    """A random cluster whose nodes come in copies, some of which differ in one thing."""
    random = Random(seed)
    found = world(random)
    nodes = [copy for original in found["nodes"] for copy in copies(random, original)]
    if random.random() < 0.3:
        for raw in nodes:
            raw["metadata"]["labels"]["kubernetes.io/arch"] = random.choice(("amd64", "arm64"))
        found["pod"]["spec"]["nodeSelector"] = {"beta.kubernetes.io/arch": "amd64"}
    objects = {kind: tuple(items) for kind, items in found.items() if kind not in ("pod", "nodes", "pods")}
    return Snapshot({**objects, "nodes": tuple(nodes), "pods": (*found["pods"], found["pod"])})


def copies(random: Random, original: Json) -> list[Json]:
    made = [original]
    for number in range(1, random.choice((1, 2, 4))):
        name = f"{original['metadata']['name']}-{number}"
        copy: Json = json.loads(json.dumps(original))
        copy["metadata"]["name"] = name
        if HOST in copy["metadata"]["labels"]:
            copy["metadata"]["labels"][HOST] = name
        changed = random.choice(("nothing", "nothing", "allocatable", "taints", "declaredFeatures", "labels"))
        if changed == "labels":
            copy["metadata"]["labels"] |= labels(random, name)
        elif changed == "taints":
            copy["spec"]["taints"] = [random.choice(TAINTS)]
        elif changed == "allocatable":
            copy["status"]["allocatable"] |= {"cpu": "60m", "memory": "100Mi"}
        elif changed == "declaredFeatures":
            copy["status"]["declaredFeatures"] = list(FEATURES) if random.random() < 0.5 else []
        made.append(copy)
    return made


def verdicts(found: Comparison) -> dict[tuple[str, str], tuple[str, str, tuple[str, ...]]]:
    return {
        (pair.pod, pair.node): (pair.outcome.value, pair.theirs.said.value, pair.expected)
        for pairs in found.pods.values()
        for pair in pairs
    }


@settings(max_examples=100, deadline=None)
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
    assert probes(pod("p", affinity=required(term)), *nodes) == 3
    assert probes(pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]), *nodes) == 3


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"disk": "ssd"}},
        {"affinity": required({"matchExpressions": [{"key": "disk", "operator": "Exists"}]})},
        {
            "affinity": required(
                {"matchExpressions": [{"key": "x", "operator": "Exists"}]}, {"matchExpressions": [DISK]}
            )
        },
        {"affinity": {**affinity("podAffinity", "p", "disk")}},
        {"affinity": {**affinity("podAntiAffinity", "p", "disk")}},
        {"topologySpreadConstraints": [spread() | {"topologyKey": "disk"}]},
    ],
)
def test_a_label_that_the_pod_looks_at_tells_nodes_apart(spec: Json) -> None:
    nodes = node("a", labels={"disk": "ssd"}), node("b", labels={"disk": "hdd"}), node("c", labels={"disk": "ssd"})
    assert probes(pod("p"), *nodes) == 1
    assert probes(pod("p", **spec), *nodes) == 2


@pytest.mark.parametrize("part", ["taints", "allocatable", "declaredFeatures"])
def test_what_any_pod_meets_tells_nodes_apart(part: str) -> None:
    other = node("b")
    if part == "taints":
        other["spec"]["taints"] = [TAINTS[0]]
    elif part == "allocatable":
        other["status"]["allocatable"] = {"cpu": "5", "memory": "8Gi", "pods": "110"}
    else:
        other["status"]["declaredFeatures"] = ["x"]
    assert probes(pod("p"), node("a"), other, node("c")) == 2


@pytest.mark.parametrize("key", ["os", "arch"])
def test_a_label_that_a_controller_copies_tells_nodes_apart_by_what_it_is_copied_from(key: str) -> None:
    nodes = [node(name, labels={f"kubernetes.io/{key}": name}) for name in ("linux", "windows")]
    cluster = snapshot(nodes, [pod("p", nodeSelector={f"beta.kubernetes.io/{key}": "linux"})])
    once = compare(cluster, FamilyScheduler(), Options(EVERYTHING, dedup=True))
    assert (once.probes, once.strict.answered, once.strict.mismatches) == (2, 2, ())
