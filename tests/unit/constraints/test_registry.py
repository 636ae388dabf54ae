"""Families come in the scheduler's order, by version, and objections in the order in which it meets them."""

import pytest

from ksolver_cli.constraints.registry import families, first_of, first_rejection, judge
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodAffinityTerm, PodSpec, Volume, VolumeKind
from ksolver_cli.domain.verdict import Family, Reason, Rejection, Unknown

NODE = Node("n1", {"cpu": 1000, "pods": 5}, labels={"zone": "a"}, unschedulable=True)
TEAM = LabelSelector((Requirement("team", Operator.EXISTS),))


def names(version: tuple[int, int]) -> list[Family]:
    return [rule.family for rule in families(version)]


def test_every_filter_family_is_there_once() -> None:
    assert sorted(names((1, 36))) == sorted(set(Family) - {Family.SCHEDULING_GATES})


@pytest.mark.parametrize(
    ("version", "first", "last"),
    [
        ((1, 34), Family.NODE_UNSCHEDULABLE, Family.DYNAMIC_RESOURCES),
        ((1, 36), Family.NODE_UNSCHEDULABLE, Family.NODE_DECLARED_FEATURES),
        ((1, 37), Family.NODE_NAME, Family.NODE_DECLARED_FEATURES),
    ],
)
def test_order_by_version(version: tuple[int, int], first: Family, last: Family) -> None:
    assert (names(version)[0], names(version)[-1]) == (first, last)
    if first is Family.NODE_NAME:
        assert names(version)[1] is Family.NODE_UNSCHEDULABLE


def test_what_is_found_before_nodes_are_looked_at_comes_first() -> None:
    claim = Volume("data", VolumeKind.CLAIM, "gone")
    named = NodeSelector((NodeSelectorTerm(fields=(Requirement("metadata.name", Operator.IN, ("n9",)),)),))
    spec = PodSpec({"cpu": 2000}, node_affinity=named, volumes=(claim,))
    found = judge(Pod("default", "p", spec), "n1", State(Cluster((NODE,), (), complete=True)))
    assert [verdict.family for verdict in found] == [
        Family.VOLUME_RESTRICTIONS,
        Family.VOLUME_BINDING,
        Family.VOLUME_ZONE,
        Family.NODE_AFFINITY,
        Family.NODE_UNSCHEDULABLE,
        Family.NODE_RESOURCES_FIT,
        Family.NODE_VOLUME_LIMITS,
    ]


def test_a_rejection_outranks_what_is_unknown() -> None:
    unknown = Unknown(Family.VOLUME_BINDING, "persistentvolumeclaims")
    rejection = Rejection(Family.NODE_RESOURCES_FIT, Reason.TOO_MANY_PODS)
    assert first_of((unknown, rejection)) is rejection
    assert first_of((unknown,)) is unknown
    assert first_of(()) is None


def wide(topology_key: str = "zone") -> PodAffinityTerm:
    return PodAffinityTerm(topology_key, LabelSelector(), (), TEAM)


def test_missing_namespaces_make_affinity_unknown_unless_complete() -> None:
    node = Node("n1", {"pods": 5}, labels={"zone": "a"})
    holder = Pod("one", "holder", PodSpec({}, anti_affinity=(wide(),)), node_name="n1")
    seeker = Pod("two", "seeker", PodSpec({}, affinity=(wide(),)))
    plain = Pod("three", "plain", PodSpec({}))
    blind, complete = (State(Cluster((node,), (holder,), complete=whole)) for whole in (False, True))
    for pod in (seeker, plain):
        assert isinstance(first_rejection(pod, "n1", blind), Unknown)
    assert isinstance(first_rejection(seeker, "n1", complete), Rejection)
    assert first_rejection(plain, "n1", complete) is None


def test_a_family_without_doubt_still_rejects_where_namespaces_are_missing() -> None:
    node = Node("n1", {"pods": 5}, labels={"zone": "a"})
    own = PodAffinityTerm("zone", LabelSelector(), ("one",))
    holder = Pod("one", "holder", PodSpec({}), node_name="n1")
    pod = Pod("two", "p", PodSpec({}, anti_affinity=(wide(), own)))
    verdict = first_rejection(pod, "n1", State(Cluster((node,), (holder,))))
    assert isinstance(verdict, Rejection)
    assert verdict.reason is Reason.ANTI_AFFINITY
