"""What a snapshot saw only in part must not look like free room."""

from ksolver_cli.domain.cluster import Gap
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot

_NODE = {"metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}}}


def test_nodes_are_unreadable_where_pods_were_not_read_or_only_in_part() -> None:
    whole = Snapshot({"nodes": (_NODE,), "pods": ()})
    partial = Snapshot({"nodes": (_NODE,), "pods": ()}, (Gap("pods", "only of some namespaces", "a"),))
    unseen = Snapshot({"nodes": (_NODE,)}, (Gap("pods", "forbidden"),))
    assert normalise(whole).unreadable_nodes == frozenset()
    assert normalise(partial).unreadable_nodes == {"n1"}
    assert normalise(unseen).unreadable_nodes == {"n1"}
    assert normalise(unseen, complete=True).unreadable_nodes == frozenset()
