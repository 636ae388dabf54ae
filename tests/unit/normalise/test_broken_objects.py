"""Whatever JSON or YAML can put in place of a field costs at most the object it stands in, and never goes unsaid."""

import copy
import json
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ksolver_cli.domain.cluster import CaveatKind, Cluster
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from tests.paths import CASES, DATA

if not (CASES / "filter_cases.json").exists():
    pytest.skip("no real objects to break", allow_module_level=True)

DEEP = json.loads("[" * 500 + "]" * 500)
SCALARS = (None, True, False, 0, -1, 1.5, 10**30, float("nan"), float("inf"), "", "junk", "-5", "1e999", "1" * 5000)
CONTAINERS = ([], {}, [None], [[]], [{}], [3], {"": None}, {"a": {}}, {"cpu": -1}, {1: 2}, DEEP, b"raw")
JUNK = st.sampled_from([*SCALARS, *CONTAINERS, "\x00"])


@cache
def real_objects() -> dict[str, list[dict]]:
    """Objects of every kind that the recorded cases and the dumps hold, about a dozen of each."""
    found: dict[str, list[dict]] = {}
    for case in json.loads((CASES / "filter_cases.json").read_text())["cases"]:
        for kind, items in {**case, "pods": [*case.get("pods", []), case["pod"]]}.items():
            if isinstance(items, list) and items and isinstance(items[0], dict) and "metadata" in items[0]:
                found.setdefault(kind, []).extend(items[:2])
    for path in sorted(DATA.glob("dumps/*/*.json")):
        kind = path.stem.split("_")[-1]
        document = json.loads(path.read_text())
        items = document.get("items", []) if isinstance(document, dict) else document
        found.setdefault(kind, []).extend(item for item in items[:8] if isinstance(item, dict))
    found["poddisruptionbudgets"] = [budget(f"b{index}") for index in range(3)]
    return {kind: items[:: max(1, len(items) // 12)][:14] for kind, items in found.items() if items}


def budget(name: str) -> dict:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}},
        "status": {"disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, "expectedPods": 2},
    }


def paths(value: object, at: tuple = ()) -> Iterator[tuple]:
    yield at
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from paths(child, (*at, key))


def broken(value: object, path: tuple, junk: object) -> object:
    if not path:
        return junk
    made = copy.copy(value)
    made[path[0]] = broken(value[path[0]], path[1:], junk)
    return made


@st.composite
def breakage(draw: st.DrawFn) -> tuple[str, int, dict, object, tuple]:
    kind = draw(st.sampled_from(sorted(real_objects())))
    index = draw(st.integers(0, len(real_objects()[kind]) - 1))
    whole = real_objects()[kind][index]
    path = draw(st.sampled_from(list(paths(whole))))
    return kind, index, whole, broken(whole, path, draw(JUNK)), path


def cluster_with(kind: str, index: int, instead: object) -> Cluster:
    items = list(real_objects()[kind])
    items[index] = instead
    objects = {name: tuple(found) for name, found in real_objects().items()} | {kind: tuple(items)}
    return normalise(Snapshot(objects=objects))


@cache
def unbroken() -> Cluster:
    return normalise(Snapshot(objects={kind: tuple(items) for kind, items in real_objects().items()}))


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(breakage())
def test_a_broken_object_costs_itself_and_nothing_else(made: tuple[str, int, dict, object, tuple]) -> None:
    kind, index, whole, instead, path = made
    before, after = unbroken(), cluster_with(kind, index, instead)
    classify(after)
    if kind == "pods":
        name = f"{whole['metadata'].get('namespace', 'default')}/{whole['metadata']['name']}"
        kept_before = {pod.key for pod in before.pods} - {name}
        assert kept_before <= {pod.key for pod in after.pods}
    lost = {node.name for node in before.nodes} - {node.name for node in after.nodes}
    assert len(lost) <= (kind == "nodes")
    assert len(after.budgets) >= len(before.budgets) - (path[:1] in [(), ("metadata",)])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(index=st.integers(0, 9), junk=JUNK, where=st.sampled_from(["value", "requests", "resources", "containers"]))
@example(index=0, junk=float("nan"), where="value")
def test_requests_that_cannot_be_read_never_read_as_none(index: int, junk: object, where: str) -> None:
    raw = copy.deepcopy(real_objects()["pods"][index])
    raw["metadata"] |= {"name": "the-pod", "namespace": "ns"}
    raw["spec"]["nodeName"] = "the-node"
    raw["status"] = {"phase": "Running"}
    container = raw["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "1"}}
    places = {
        "value": (container["resources"]["requests"], "cpu"),
        "requests": (container["resources"], "requests"),
        "resources": (container, "resources"),
        "containers": (raw["spec"], "containers"),
    }
    holder, key = places[where]
    holder[key] = junk
    cluster = normalise(Snapshot(objects={"pods": (raw,)}))
    said = [c for c in cluster.caveats if c.kind is CaveatKind.BAD_OBJECT and "ns/the-pod" in c.objects]
    if cluster.pods:
        assert not said
        assert cluster.unreadable_nodes == frozenset()
        # Only a map of amounts that is not there says that nothing is asked for.
        assert where != "containers" or junk == [{}]
        assert where != "value" or cluster.pods[0].spec.requests.get("cpu", -1) >= 0
        assert where in {"value", "containers"} or junk is None or isinstance(junk, dict)
    else:
        assert said
        assert "the-node" in said[0].objects
        assert cluster.unreadable_nodes == {"the-node"}
        assert said[0].detail.startswith("Pod ns/the-pod: spec.")


@pytest.mark.parametrize("amount", [None, True, -1, "-1", "1Gib", "", float("nan"), [], {}, "1e401"])
def test_an_amount_that_is_none_is_refused_with_its_path(amount: object) -> None:
    raw = pod_asking({"cpu": amount})
    (caveat,) = [c for c in normalise(Snapshot(objects={"pods": (raw,)})).caveats if c.kind is CaveatKind.BAD_OBJECT]
    assert "spec.containers[0].resources.requests.cpu: expected a quantity" in caveat.detail
    assert caveat.objects == ("ns/p", "n1")


def pod_asking(requests: object) -> dict:
    return {
        "metadata": {"name": "p", "namespace": "ns"},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "resources": {"requests": requests}}]},
        "status": {"phase": "Running"},
    }


def test_a_finished_pod_that_cannot_be_read_holds_nothing_on_its_node() -> None:
    raw = pod_asking({"cpu": "much"}) | {"status": {"phase": "Succeeded"}}
    assert normalise(Snapshot(objects={"pods": (raw,)})).unreadable_nodes == frozenset()


def test_a_budget_that_cannot_be_read_allows_nothing() -> None:
    raw = budget("b")
    raw["spec"]["minAvailable"] = {"percent": 3}
    cluster = normalise(Snapshot(objects={"poddisruptionbudgets": (raw,)}))
    (kept,) = cluster.budgets
    assert (kept.max_unavailable, kept.disruptions_allowed) == ("0", 0)
    assert kept.selector is not None
    assert kept.selector.requirements[0].key == "app"
    assert [c.objects for c in cluster.caveats] == [("default/b",)]


def test_the_second_pod_of_a_name_makes_its_own_node_unreadable() -> None:
    first, second = pod_asking({"cpu": "1"}), pod_asking({"cpu": "2"})
    second["spec"] = second["spec"] | {"nodeName": "n2"}
    cluster = normalise(Snapshot(objects={"pods": (first, second)}))
    assert [pod.node_name for pod in cluster.pods] == ["n1"]
    assert cluster.unreadable_nodes == {"n2"}
    assert any("more than one pod" in caveat.detail for caveat in cluster.caveats)
