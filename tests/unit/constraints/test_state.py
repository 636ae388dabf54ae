"""Occupancy follows pods as they come and go."""

import pytest

from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT
from ksolver_cli.constraints.registry import judge
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import HostPort, Phase, Pod, PodSpec, Toleration
from ksolver_cli.domain.verdict import Family

ROOM = {"cpu": 4000, "memory": 1 << 30, "pods": 10}
SPEC = PodSpec({"cpu": 1000}, host_ports=(HostPort(80),))


def pod(name: str, node_name: str = "", **more: object) -> Pod:
    return Pod("default", name, SPEC, node_name=node_name, **more)


def cluster(*pods: Pod) -> Cluster:
    return Cluster((Node("n1", ROOM), Node("n2", ROOM)), pods, complete=True)


def families(pod_: Pod, node_name: str, state: State) -> set[Family]:
    return {verdict.family for verdict in judge(pod_, node_name, state)}


def test_bound_pods_are_there_from_the_start_and_finished_or_homeless_ones_are_not() -> None:
    here, done, lost = pod("here", "n1"), pod("done", "n1", phase=Phase.SUCCEEDED), pod("lost", "gone")
    state = State(cluster(here, done, lost, pod("waiting")))
    assert [(found.name, at) for found, at in state.pods()] == [("here", "n1")]
    assert state.node_of(here) == "n1"
    assert state.node_of(lost) is None


def test_what_a_pod_holds_is_given_back() -> None:
    state = State(cluster())
    new = pod("a")
    state.add(new, "n1")
    assert state.nodes["n1"].requested == {"cpu": 1000, "pods": 1}
    assert state.nodes["n1"].ports == {HostPort(80): 1}
    state.remove(new)
    assert state.nodes["n1"].requested == {"cpu": 0, "pods": 0}
    assert not state.nodes["n1"].ports
    assert not state.nodes["n1"].pods


def test_a_resized_pod_holds_more_only_where_it_runs() -> None:
    resized = pod("a", "n1", requests_bound={"cpu": 3000})
    state = State(cluster(resized))
    assert state.nodes["n1"].requested["cpu"] == 3000
    state.remove(resized)
    assert state.nodes["n1"].requested["cpu"] == 0
    state.add(resized, "n2")
    assert state.nodes["n2"].requested["cpu"] == 1000


def test_a_pod_is_in_one_place() -> None:
    state = State(cluster(pod("a", "n1")))
    with pytest.raises(ValueError, match="already on n1"):
        state.add(pod("a"), "n2")
    with pytest.raises(KeyError):
        state.remove(pod("b"))


def test_cordon_adds_the_taint_once_and_both_families_object() -> None:
    state = State(cluster())
    state.cordon("n1")
    state.cordon("n1")
    assert state.nodes["n1"].taints == (UNSCHEDULABLE_TAINT,)
    assert families(pod("a"), "n1", state) == {Family.NODE_UNSCHEDULABLE, Family.TAINT_TOLERATION}
    tolerant = Pod("default", "b", PodSpec({}, tolerations=(Toleration(UNSCHEDULABLE_TAINT.key, "Exists"),)))
    assert families(tolerant, "n1", state) == set()


def test_a_node_cordoned_before_has_only_the_taints_it_shows() -> None:
    state = State(Cluster((Node("n1", ROOM, unschedulable=True),), (), complete=True))
    assert families(pod("a"), "n1", state) == {Family.NODE_UNSCHEDULABLE}


def test_a_removed_node_takes_its_pods_with_it() -> None:
    daemon = pod("daemon", "n1")
    state = State(cluster(daemon))
    state.remove_node("n1")
    assert list(state.nodes) == ["n2"]
    assert state.node_of(daemon) is None


def test_an_evicted_pod_comes_back_as_new() -> None:
    new = as_new(pod("a", "n1", deleting=True, nominated_node="n2", requests_bound={"cpu": 9}))
    assert (new.node_name, new.nominated_node, new.deleting, new.requests_bound) == ("", "", False, None)
    assert new.phase is Phase.PENDING
    assert new.key == "default/a"
