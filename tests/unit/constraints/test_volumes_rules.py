"""Disks, limits and matching, against plain restatements of the rules."""

from random import Random

import pytest

from ksolver_cli.constraints.state import State
from ksolver_cli.constraints.volumes.binding import VolumeBinding
from ksolver_cli.constraints.volumes.limits import NodeVolumeLimits
from ksolver_cli.constraints.volumes.matching import best_volume, matched
from ksolver_cli.constraints.volumes.restrictions import VolumeRestrictions, conflicts
from ksolver_cli.domain.pod import Volume, VolumeKind
from ksolver_cli.domain.quantity import Quantity, parse_quantity
from ksolver_cli.domain.storage import PersistentVolume, VolumeClaim
from ksolver_cli.domain.verdict import Reason, Rejection
from tests.unit.constraints.storage_world import (
    claim,
    cluster,
    csi_node,
    find,
    node,
    on_node,
    pod,
    storage_class,
    verdicts,
    volume,
)

SEEDS = range(60)


def reason(verdict: object) -> Reason | None:
    return verdict.reason if isinstance(verdict, Rejection) else None


@pytest.mark.parametrize("seed", SEEDS)
def test_conflicts_do_not_depend_on_who_came_first(seed: int) -> None:
    random = Random(seed)
    kinds = (VolumeKind.GCE_PD, VolumeKind.AWS_EBS, VolumeKind.ISCSI, VolumeKind.RBD, VolumeKind.HOST_PATH)
    one, two = (
        Volume(
            "v", random.choice(kinds), random.choice("ab"), random.random() < 0.5, (("monitors", "m"), ("pool", "p"))
        )
        for _ in range(2)
    )
    assert conflicts(one, two) == conflicts(two, one)
    if one.kind is two.kind and one.source == two.source and one.kind is not VolumeKind.HOST_PATH:
        both_read = one.read_only and two.read_only and one.kind is not VolumeKind.AWS_EBS
        assert conflicts(one, two) is not both_read
    else:
        assert not conflicts(one, two)


def test_rbd_images_are_the_same_on_a_common_monitor_only() -> None:
    def image(monitors: str) -> Volume:
        return Volume("v", VolumeKind.RBD, "disk", False, (("monitors", monitors), ("pool", "rbd")))

    assert conflicts(image("a,b"), image("b,c"))
    assert not conflicts(image("a,b"), image("c,d"))


def test_a_claim_for_one_pod_is_free_once_its_pod_is_gone() -> None:
    only = claim("c", volumeName="pv", accessModes=["ReadWriteOncePod"])
    where = cluster(
        nodes=[node("n1"), node("n2")],
        pods=[pod("old", "c", node_name="n1"), pod("new", "c")],
        persistentvolumeclaims=[only],
        persistentvolumes=[volume("pv")],
    )
    state = State(where)
    held = verdicts(VolumeRestrictions(), where, "new", state)
    assert {reason(verdict) for verdict in held.values()} == {Reason.CLAIM_IN_USE}
    state.remove(find(where, "old"))
    assert set(verdicts(VolumeRestrictions(), where, "new", state).values()) == {None}


@pytest.mark.parametrize("seed", SEEDS)
def test_volumes_count_once_each_and_follow_pods(seed: int) -> None:
    random = Random(seed)
    names = [f"c{index}" for index in range(6)]
    pods = {f"r{index}": random.sample(names, random.randint(0, 3)) for index in range(4)}
    limit = random.randint(0, 6)
    where = cluster(
        nodes=[node("n1")],
        pods=[*(pod(name, *used, node_name="n1") for name, used in pods.items()), pod("p", *random.sample(names, 2))],
        persistentvolumeclaims=[claim(name, volumeName=f"pv-{name}") for name in names],
        persistentvolumes=[volume(f"pv-{name}") for name in names],
        csinodes=[csi_node("n1", limit)],
        volumeattachments=[],
    )
    state, rule = State(where), NodeVolumeLimits()
    new = {v.source for v in find(where, "p").spec.volumes}
    for name in [*pods, None]:
        attached = {used for other in state.nodes["n1"].pods.values() for used in pods[other.name]}
        fits = new <= attached or len(new | attached) <= limit
        assert (verdicts(rule, where, "p", state)["n1"] is None) == fits
        if name is not None:
            state.remove(find(where, name))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_smallest_volume_that_fits_is_taken(seed: int) -> None:
    random = Random(seed)
    sizes = [random.choice(("1Gi", "2Gi", "2Gi", "5Gi")) for _ in range(4)]
    volumes = [
        PersistentVolume(f"pv{i}", capacity=parse_quantity(size), phase="Available") for i, size in enumerate(sizes)
    ]
    asked = VolumeClaim("default", "c", request=parse_quantity(random.choice(("1Gi", "1500Mi", "3Gi", "6Gi"))))
    fitting = [found for found in volumes if found.capacity.value() >= (asked.request or Quantity(0)).value()]
    found = best_volume(asked, volumes, {})
    assert (found is None) == (not fitting)
    assert found is None or found.capacity == min(v.capacity for v in fitting)


def test_a_volume_reserved_for_the_claim_is_taken_whatever_its_phase_or_nothing() -> None:
    mine = PersistentVolume("mine", capacity=Quantity(5), phase="Released", claim_ref=("default", "c", ""))
    other = PersistentVolume("other", capacity=Quantity(5), phase="Available")
    asked = VolumeClaim("default", "c", request=Quantity(1))
    assert best_volume(asked, [other, mine], {}) is mine
    taken = PersistentVolume("taken", capacity=Quantity(5), phase="Available", claim_ref=("default", "else", ""))
    assert best_volume(asked, [taken], {}) is None


def test_two_claims_do_not_share_a_volume() -> None:
    volumes = [PersistentVolume("pv", capacity=Quantity(5), phase="Available")]
    small, large = (VolumeClaim("default", name, request=Quantity(size)) for name, size in (("s", 1), ("l", 3)))
    assert matched([large, small], volumes, {}) == [(small, volumes[0]), (large, None)]
    assert matched([small, small], volumes, {}) == [(small, volumes[0]), (small, None)]


def test_a_pod_placed_before_has_taken_the_volume_that_the_next_one_sees() -> None:
    where = cluster(
        nodes=[node("n1"), node("n2")],
        pods=[pod("first", "a"), pod("second", "b"), pod("third", "a")],
        persistentvolumeclaims=[claim(name, storageClassName="s") for name in "ab"],
        persistentvolumes=[volume("pv", storageClassName="s", nodeAffinity=on_node("n1"))],
        storageclasses=[storage_class("s", "kubernetes.io/no-provisioner")],
    )
    rule, state = VolumeBinding(), State(where)
    assert reason(verdicts(rule, where, "second", state)["n2"]) is Reason.VOLUME_BIND_CONFLICT
    assert verdicts(rule, where, "second", state)["n1"] is None
    state.add(find(where, "first"), "n1")
    assert reason(verdicts(rule, where, "second", state)["n1"]) is Reason.VOLUME_BIND_CONFLICT
    shared = verdicts(rule, where, "third", state)
    assert shared["n1"] is None
    assert reason(shared["n2"]) is Reason.VOLUME_NODE_AFFINITY


def test_a_claim_whose_volume_is_made_for_a_placed_pod_stays_on_that_node() -> None:
    where = cluster(
        nodes=[node("n1"), node("n2")],
        pods=[pod("first", "a"), pod("second", "a")],
        persistentvolumeclaims=[claim("a", storageClassName="s")],
        storageclasses=[storage_class("s")],
    )
    state = State(where)
    state.add(find(where, "first"), "n2")
    seen = verdicts(VolumeBinding(), where, "second", state)
    assert seen["n2"] is None
    assert reason(seen["n1"]) is Reason.VOLUME_BIND_CONFLICT
