"""Devices are found if and only if there is a way to find them, and follow pods in a replay."""

from itertools import permutations
from random import Random

import pytest

from ksolver_cli.constraints.dynamic_resources.rule import DynamicResources
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.verdict import Reason, Rejection, Unknown
from tests.unit.constraints.devices_world import claim, device, device_class, pod, pool, request
from tests.unit.constraints.storage_world import cluster, find, node

SEEDS = range(80)


def answer(where: Cluster, name: str, node_name: str, state: State | None = None) -> Reason | str | None:
    """Reason of the rejection, what is unknown, or None for a pass."""
    state = state or State(where)
    judged = find(where, name)
    if state.node_of(judged) is not None:
        state.remove(judged)
    judge = prepare(as_new(judged) if judged.is_bound else judged, state, (DynamicResources(),))
    verdict = next(iter(judge.objections(node_name)), None)
    if isinstance(verdict, Unknown):
        return verdict.missing
    return verdict.reason if isinstance(verdict, Rejection) else None


def model(*names: str) -> dict[str, object]:
    """Selectors that take devices of these models."""
    return {"selectors": [{"cel": {"expression": f"device.attributes['gpu.example.com'].model in {list(names)}"}}]}


@pytest.mark.parametrize("seed", SEEDS)
def test_devices_are_found_where_any_choice_works(seed: int) -> None:
    random = Random(seed)
    models = [random.choice("abc") for _ in range(random.randint(1, 5))]
    taken = [index for index in range(len(models)) if random.random() < 0.2]
    wanted = [random.sample("abc", random.randint(1, 2)) for _ in range(random.randint(1, 4))]
    devices = [device(f"d{i}", attributes={"model": {"string": found}}) for i, found in enumerate(models)]
    claims = [claim("mine", *(request(f"r{i}", **model(*names)) for i, names in enumerate(wanted)))]
    claims += [claim(f"held{index}", allocated=f"n1/d{index}") for index in taken]
    where = cluster(
        nodes=[node("n1")],
        pods=[pod("p", "mine")],
        resourceclaims=claims,
        resourceslices=pool("n1", devices),
        deviceclasses=[device_class()],
    )
    free = [found for index, found in enumerate(models) if index not in taken]
    possible = any(
        all(found in names for found, names in zip(choice, wanted, strict=True))
        for choice in permutations(free, len(wanted))
    )
    assert (answer(where, "p", "n1") is None) == possible


@pytest.mark.parametrize("seed", SEEDS)
def test_partitions_share_what_the_whole_device_has(seed: int) -> None:
    random = Random(seed)
    sizes = [random.randint(1, 4) for _ in range(random.randint(1, 5))]
    taken = [index for index in range(len(sizes)) if random.random() < 0.3]
    count = random.randint(1, 3)
    where = cluster(
        nodes=[node("n1")],
        pods=[pod("p", "mine")],
        resourceclaims=[
            claim("mine", request(count=count)),
            *(claim(f"held{index}", allocated=f"n1/d{index}") for index in taken),
        ],
        resourceslices=pool(
            "n1",
            [device(f"d{index}", counters={"slots": size}) for index, size in enumerate(sizes)],
            counters={"slots": 7},
        ),
        deviceclasses=[device_class()],
    )
    left = 7 - sum(sizes[index] for index in taken)
    free = sorted(size for index, size in enumerate(sizes) if index not in taken)
    assert (answer(where, "p", "n1") is None) == (len(free) >= count and sum(free[:count]) <= left)


def test_two_claims_of_one_pod_do_not_get_one_device() -> None:
    for devices, fits in ((1, False), (2, True)):
        where = cluster(
            nodes=[node("n1")],
            pods=[pod("p", "a", "b")],
            resourceclaims=[claim("a"), claim("b")],
            resourceslices=pool("n1", [device(f"d{index}") for index in range(devices)]),
            deviceclasses=[device_class()],
        )
        assert (answer(where, "p", "n1") is None) == fits


@pytest.mark.parametrize(("kind", "fits"), [("matchAttribute", True), ("distinctAttribute", False)])
def test_constraints_bind_the_devices_of_a_claim(kind: str, fits: bool) -> None:
    where = cluster(
        nodes=[node("n1")],
        pods=[pod("p", "a")],
        resourceclaims=[claim("a", request(count=2), constraints=[{kind: "gpu.example.com/model"}])],
        resourceslices=pool("n1", [device("d0"), device("d1")]),
        deviceclasses=[device_class()],
    )
    assert (answer(where, "p", "n1") is None) == fits


def replayed(template: bool) -> Cluster:
    """Two nodes with one device each; on each a pod that holds it."""
    claims = [
        claim(f"r{index}-made" if template else f"c{index}", allocated=f"n{index}/d0", user=f"r{index}")
        for index in (1, 2)
    ]
    for index, made in enumerate(claims, 1):
        made["metadata"] |= {"ownerReferences": [{"uid": f"uid-r{index}", "controller": template}]}  # type: ignore[operator]
    return cluster(
        nodes=[node("n1"), node("n2")],
        pods=[
            pod(f"r{i}", *([] if template else [f"c{i}"]), template="t" if template else "", node_name=f"n{i}")
            for i in (1, 2)
        ],
        resourceclaims=claims,
        resourceslices=[*pool("n1", [device("d0")]), *pool("n2", [device("d0")])],
        deviceclasses=[device_class()],
    )


@pytest.mark.parametrize("template", [True, False], ids=["template", "named"])
def test_an_evicted_pod_leaves_its_device_and_takes_one_where_it_goes(template: bool) -> None:
    where = replayed(template)
    state = State(where)
    first, second = find(where, "r1"), find(where, "r2")
    state.remove(first)
    assert answer(where, "r1", "n1", state) is None
    assert answer(where, "r1", "n2", state) is Reason.DEVICES_UNAVAILABLE
    state.remove(second)
    assert answer(where, "r1", "n2", state) is None
    state.add(as_new(first), "n2")
    assert answer(where, "r2", "n2", state) is Reason.DEVICES_UNAVAILABLE
    assert answer(where, "r2", "n1", state) is None


def test_a_claim_that_others_still_use_stays_where_it_is() -> None:
    shared = claim("c", allocated="n1/d0", user="a")
    shared["status"]["reservedFor"].append({"resource": "pods", "name": "b", "uid": "uid-b"})  # type: ignore[index]
    where = cluster(
        nodes=[node("n1"), node("n2")],
        pods=[pod(name, "c", node_name="n1") for name in "ab"],
        resourceclaims=[shared],
        resourceslices=[*pool("n1", [device("d0")]), *pool("n2", [device("d0")])],
        deviceclasses=[device_class()],
    )
    state = State(where)
    state.remove(find(where, "a"))
    assert answer(where, "a", "n1", state) is None
    assert answer(where, "a", "n2", state) is Reason.CLAIM_ALLOCATED_ELSEWHERE
    state.remove(find(where, "b"))
    assert answer(where, "a", "n2", state) is None


@pytest.mark.parametrize("amount", [1, 2, 3])
def test_extended_resources_come_from_devices_where_no_plugin_offers_them(amount: int) -> None:
    where = cluster(
        nodes=[node("n1")],
        pods=[pod("p", requests={"example.com/gpu": str(amount)})],
        resourceslices=pool("n1", [device("d0"), device("d1")]),
        deviceclasses=[device_class(extendedResourceName="example.com/gpu")],
    )
    assert (answer(where, "p", "n1") is None) == (amount <= 2)


@pytest.mark.parametrize("hidden", ["resourceclaims", "resourceslices", "deviceclasses"])
def test_a_hidden_kind_is_named(hidden: str) -> None:
    objects = {
        "resourceclaims": [claim("a")],
        "resourceslices": pool("n1", [device("d0")]),
        "deviceclasses": [device_class()],
    }
    world = {"nodes": [node("n1")], "pods": [pod("p", "a")]}
    assert answer(cluster(complete=False, **world, **objects), "p", "n1") is None
    del objects[hidden]
    assert answer(cluster(complete=False, **world, **objects), "p", "n1") == hidden
    assert isinstance(answer(cluster(**world, **objects), "p", "n1"), Reason)


def test_what_is_not_modelled_is_said() -> None:
    odd = [{"cel": {"expression": "device.driver.charAt(0) == 'g'"}}]
    where = cluster(
        nodes=[node("n1")],
        pods=[pod("p", "a")],
        resourceclaims=[claim("a", request(selectors=odd))],
        resourceslices=pool("n1", [device("d0")]),
        deviceclasses=[device_class()],
    )
    assert answer(where, "p", "n1") == "unmodelled: the CEL function charAt with 2 arguments"


def test_a_hopeless_search_ends() -> None:
    distinct = [{"distinctAttribute": "gpu.example.com/model"}]
    where = cluster(
        nodes=[node("n1")],
        pods=[pod("p", "a")],
        resourceclaims=[claim("a", *(request(f"r{i}", count=2) for i in range(12)), constraints=distinct)],
        resourceslices=pool("n1", [device(f"d{i}", attributes={"model": {"string": str(i % 23)}}) for i in range(60)]),
        deviceclasses=[device_class()],
        version="1.37",
    )
    assert answer(where, "p", "n1") == "unmodelled: a choice among more than 50000 combinations of devices"
