"""Pods that are pending and fit today keep their room: a drain that takes it from them is given back, in good time."""

import pytest

from ksolver_cli.domain.plan import Limits
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.search import SearchResult, search
from ksolver_cli.snapshot.model import Snapshot


def _node(number: int) -> dict[str, object]:
    room = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    return {"kind": "Node", "metadata": {"name": f"n{number}"}, "status": {"allocatable": room, "capacity": room}}


def _pod(name: str, cpu: str, node: str = "") -> dict[str, object]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": name, "controller": True}
    spec: dict[str, object] = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    if node:
        spec["nodeName"] = node
    metadata = {"name": name, "namespace": "a", "ownerReferences": [owner]}
    return {"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running" if node else "Pending"}}


def _searched(nodes: int, pods: list[dict[str, object]]) -> SearchResult:
    objects = {"nodes": tuple(map(_node, range(nodes))), "pods": tuple(pods)}
    cluster = normalise(Snapshot(objects), complete=True)
    prices = {node.name: 1_000_000 for node in cluster.nodes}
    return search(cluster, classify(cluster), prices, Limits(seconds=600))


@pytest.mark.parametrize(("nodes", "pending"), [(1, 1), (2, 1), (4, 1), (6, 2), (5, 5), (8, 3)])
def test_idle_nodes_go_but_for_those_that_pending_pods_need(nodes: int, pending: int) -> None:
    found = _searched(nodes, [_pod(f"p{i}", "3") for i in range(pending)])
    assert len(found.plan.nodes) == nodes - pending
    assert found.judgement.accepted
    assert found.limited_by is None


@pytest.mark.parametrize(("running", "pending"), [(1, 1), (3, 2), (4, 1)])
def test_pods_that_must_move_do_not_take_the_room_of_those_that_wait(running: int, pending: int) -> None:
    bound = [_pod(f"r{i}", "1", f"n{i}") for i in range(running)]
    found = _searched(running + pending, [*bound, *(_pod(f"p{i}", "3") for i in range(pending))])
    # Each waiting pod leaves one core on its node, so a running pod fits beside each of them.
    needed = pending + (0 if running <= pending else 1)
    assert len(found.plan.nodes) == running + pending - needed
    assert found.judgement.accepted
