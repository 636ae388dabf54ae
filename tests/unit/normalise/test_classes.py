"""Members of a class answer alike: splitting classes into single objects never changes a verdict."""

import copy
import gzip
import json
from dataclasses import replace

import pytest

from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.classes import Classes, NodeClass, PodClass
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.verdict import Rejection
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from tests.paths import CASES

FUZZ = CASES / "filter_fuzz.jsonl.gz"
if not FUZZ.exists():
    pytest.skip("the recorded clusters are not here", allow_module_level=True)
HOSTNAME = "kubernetes.io/hostname"


def twins(line: str) -> Cluster:
    """A recorded cluster with every node twice (the copies empty) and the pending pod three times."""
    case = json.loads(line)
    nodes = [*case["nodes"], *(twin_node(node) for node in case["nodes"])]
    pods = [*(case.get("pods") or []), *(twin_pod(case["pod"], index) for index in range(3))]
    kinds = {kind: tuple(items) for kind, items in case.items() if isinstance(items, list) and kind.islower()}
    kinds.pop("expect", None)
    return normalise(Snapshot(objects=kinds | {"nodes": tuple(nodes), "pods": tuple(pods)}), complete=True)


def twin_node(node: dict) -> dict:
    made = copy.deepcopy(node)
    name = f"{made['metadata']['name']}-twin"
    made["metadata"]["name"] = name
    if HOSTNAME in made["metadata"].get("labels") or {}:
        made["metadata"]["labels"][HOSTNAME] = name
    return made


def twin_pod(pod: dict, index: int) -> dict:
    made = copy.deepcopy(pod)
    made["metadata"] |= {"name": f"twin-{index}", "uid": f"twin-{index}"}
    made["metadata"]["labels"] = (made["metadata"].get("labels") or {}) | {"nobody-looks-at": str(index)}
    return made


def lines(every: int) -> list[str]:
    with gzip.open(FUZZ, "rt") as file:
        return [line for index, line in enumerate(file) if index % every == 0]


def answers(verdicts: tuple) -> list[tuple]:
    return [(v.family, v.reason if isinstance(v, Rejection) else v.missing) for v in verdicts]


@pytest.mark.parametrize("line", lines(25), ids=lambda line: json.loads(line)["id"])
def test_members_of_a_class_get_the_same_answers(line: str) -> None:
    cluster = twins(line)
    classes = classify(cluster)
    twin_class = {classes.pod_class_of[f"{pod.namespace}/{pod.name}"] for pod in cluster.pods if is_twin(pod.name)}
    assert len(twin_class) == 1
    state = State(cluster)
    for node in cluster.nodes:
        heard = {str(answers(prepare(p, state).objections(node.name))) for p in cluster.pods if is_twin(p.name)}
        assert len(heard) == 1
    empty = State.empty(cluster)
    for pod_class in classes.pods:
        judge = prepare(replace(pod_class.sample, node_name=""), empty)
        for node_class in classes.nodes:
            assert len({str(answers(judge.objections(node.name))) for node in node_class.members}) == 1


def is_twin(name: str) -> bool:
    return name.startswith("twin-")


@pytest.mark.parametrize("line", lines(25), ids=lambda line: json.loads(line)["id"])
def test_splitting_every_class_changes_no_feasibility(line: str) -> None:
    cluster = twins(line)
    classes = classify(cluster)
    pods = [pod for pod in cluster.pods if not pod.is_finished]
    single = Classes(
        pods=tuple(PodClass(i, (pod,), pod.labels) for i, pod in enumerate(pods)),
        nodes=tuple(NodeClass(i, (node,), node.labels) for i, node in enumerate(cluster.nodes)),
        pod_class_of={pod.key: i for i, pod in enumerate(pods)},
        node_class_of={node.name: i for i, node in enumerate(cluster.nodes)},
    )
    grouped, split = static_feasibility(cluster, classes), static_feasibility(cluster, single)
    for pod in pods:
        for node in cluster.nodes:
            at = classes.pod_class_of[pod.key], classes.node_class_of[node.name]
            assert grouped[at] == split[single.pod_class_of[pod.key], single.node_class_of[node.name]]


def test_the_recorded_clusters_do_share_classes() -> None:
    sizes = [len(classify(cluster).nodes) / len(cluster.nodes) for cluster in map(twins, lines(50))]
    assert sum(sizes) / len(sizes) < 0.7
