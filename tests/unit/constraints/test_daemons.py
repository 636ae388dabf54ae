"""DaemonSets run where their controller would start them, with what their pods really ask for."""

import pytest

from ksolver_cli.constraints.daemons import Daemons
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node, Taint
from ksolver_cli.domain.pod import Effect
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.read import read_snapshot
from tests.paths import DATA

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def daemon_set(name: str, **spec: object) -> dict:
    container = {"name": "c", "resources": {"limits": {"cpu": "100m"}, "requests": {"memory": "64Mi"}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], **spec}}
    return {"metadata": {"name": name, "namespace": "kube-system"}, "spec": {"template": template}}


def cluster(*sets: dict, **kinds: tuple) -> Cluster:
    return normalise(Snapshot(objects={"daemonsets": sets, **kinds}))


def names(daemons: Daemons, node: Node) -> list[str]:
    return [daemon.ref.name for daemon in daemons.on(node)]


def test_selectors_affinity_and_taints_decide() -> None:
    types = {"key": "type", "operator": "In", "values": ["gpu"]}
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [types]}]}}}
    daemons = Daemons(
        cluster(
            daemon_set("all", tolerations=[{"operator": "Exists"}]),
            daemon_set("plain"),
            daemon_set("gpu", affinity=affinity),
            daemon_set("zone", nodeSelector={"zone": "a"}),
        )
    )
    assert names(daemons, Node("n", {}, labels={"zone": "a"})) == ["all", "plain", "zone"]
    assert names(daemons, Node("n", {}, labels={"type": "gpu"})) == ["all", "plain", "gpu"]
    tainted = Node("n", {}, taints=(Taint("dedicated", "x", Effect.NO_SCHEDULE),))
    assert names(daemons, tainted) == ["all"]


@pytest.mark.parametrize(
    ("key", "effect", "runs"),
    [
        ("node.kubernetes.io/unschedulable", Effect.NO_SCHEDULE, True),
        ("node.kubernetes.io/memory-pressure", Effect.NO_SCHEDULE, True),
        ("node.kubernetes.io/not-ready", Effect.NO_EXECUTE, True),
        ("node.kubernetes.io/not-ready", Effect.NO_SCHEDULE, False),
        ("node.kubernetes.io/network-unavailable", Effect.NO_SCHEDULE, False),
        ("other", Effect.PREFER_NO_SCHEDULE, True),
    ],
)
def test_the_controller_tolerates_node_trouble_for_its_pods(key: str, effect: Effect, runs: bool) -> None:
    node = Node("n", {}, taints=(Taint(key, "", effect),))
    assert bool(names(Daemons(cluster(daemon_set("d"))), node)) is runs
    if key.endswith("network-unavailable"):
        assert names(Daemons(cluster(daemon_set("d", hostNetwork=True))), node) == ["d"]


def test_the_overhead_is_what_created_pods_ask_for() -> None:
    daemons = Daemons(cluster(daemon_set("a"), daemon_set("b")))
    assert daemons.overhead(Node("n", {})) == {"pods": 2, "cpu": 200, "memory": 2 * 64 * 2**20}
    assert Daemons(cluster()).overhead(Node("n", {})) == {"pods": 0}


@pytest.mark.skipif(not DATA.exists(), reason="the dumps are not here")
@pytest.mark.parametrize("source", ["drain/c50_1.json.gz", "dumps/sonobuoy-aws-2018", "dumps/nri-k8s-1_33"])
def test_real_nodes_run_the_daemons_that_are_said_to_run_there(source: str) -> None:
    """Also where the DaemonSet objects themselves were not collected, and pods stand for their templates."""
    snapshot = read_snapshot([DATA / source])
    found = normalise(snapshot)
    daemons = Daemons(found)
    assert daemons.all
    for node in found.nodes:
        running = {str(pod.controller) for pod in found.pods if pod.is_daemon and pod.node_name == node.name}
        assert {str(daemon.ref) for daemon in daemons.on(node)} == running
