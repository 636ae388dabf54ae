"""Beside a pod that could not be read nobody can say what is free."""

from ksolver_cli.constraints.matrix import UNKNOWN, verdict_matrix
from ksolver_cli.constraints.registry import first_rejection
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.verdict import Family, Rejection, Unknown
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot


def pod(name: str, cpu: object, node: str = "") -> dict:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": spec | ({"nodeName": node} if node else {})}


def cluster(cpu: str) -> Cluster:
    nodes = tuple(
        {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}} for name in ("n1", "n2")
    )
    return normalise(
        Snapshot(objects={"nodes": nodes, "pods": (pod("new", cpu), pod("broken", "lots", "n1"))}), complete=True
    )


def test_a_pod_that_would_fit_the_empty_node_is_unsure_there() -> None:
    found = cluster("1")
    (new,) = found.pods
    verdict = first_rejection(new, "n1", State(found))
    assert isinstance(verdict, Unknown)
    assert (verdict.family, verdict.missing) == (Family.NODE_RESOURCES_FIT, "pods")
    assert first_rejection(new, "n2", State(found)) is None
    assert [int(code) == int(UNKNOWN) for code in verdict_matrix(found, [new])[0]] == [True, False]


def test_a_pod_that_is_too_big_for_the_node_is_rejected_all_the_same() -> None:
    found = cluster("5")
    assert isinstance(first_rejection(found.pods[0], "n1", State(found)), Rejection)
