"""Why a pod fits nowhere: equal objections of many nodes are one line, and every node that objects is counted once."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.explain.reasons import Reasons
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.render.blockers import counted
from ksolver_cli.snapshot.model import Snapshot

TAINTS = st.sampled_from([[], [{"key": "gpu", "effect": "NoSchedule"}], [{"key": "db", "effect": "NoExecute"}]])
NODES = st.lists(st.tuples(st.sampled_from(["1", "4"]), TAINTS), min_size=1, max_size=8)


def _cluster(nodes: list[tuple[str, list[dict[str, str]]]]) -> Snapshot:
    raws = [
        {
            "metadata": {"name": f"n{number}"},
            "spec": {"taints": taints},
            "status": {"allocatable": {"cpu": cpu, "memory": "1Gi", "pods": "9"}},
        }
        for number, (cpu, taints) in enumerate(nodes)
    ]
    requests = {"requests": {"cpu": "2", "memory": "2Gi"}}
    pod = {
        "metadata": {"name": "p", "namespace": "a"},
        "spec": {"containers": [{"name": "c", "resources": requests}]},
        "status": {"phase": "Pending"},
    }
    return Snapshot({"nodes": tuple(raws), "pods": (pod,)})


@given(nodes=NODES)
@settings(max_examples=60)
def test_each_node_counts_once_under_the_schedulers_first_objection(
    nodes: list[tuple[str, list[dict[str, str]]]],
) -> None:
    cluster = normalise(_cluster(nodes), complete=True)
    counts = Reasons(cluster, classify(cluster)).elsewhere(cluster.pods[0])
    judge = prepare(cluster.pods[0], State(cluster))
    assert sum(count.nodes for count in counts) == sum(judge.first(node.name) is not None for node in cluster.nodes)
    assert len({count.verdict for count in counts}) == len(counts)
    # Whatever the number of nodes, there are as many different lines as there are kinds of node.
    assert len(counts) <= 4


def test_words_are_counted_as_the_scheduler_counts_them() -> None:
    cluster = normalise(_cluster([("1", []), ("4", []), ("4", []), ("4", [{"key": "gpu", "effect": "NoSchedule"}])]))
    counts = Reasons(cluster, classify(cluster)).elsewhere(cluster.pods[0])
    expected = "3 × Insufficient memory; 1 × Insufficient cpu; 1 × node(s) had untolerated taint(s) (gpu:NoSchedule)"
    assert counted(counts) == expected
