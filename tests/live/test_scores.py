"""The replay's filter and scores against kube-scheduler's own, node by node."""

import gzip
import json
from random import Random

import pytest

from tests.live.oracle import Oracle
from tests.live.scoring import Json, board, random_cluster, scores
from tests.paths import DATA

KINDS = {"Node": "nodes", "Pod": "pods", "ReplicaSet": "replicasets", "Service": "services"}


def compare(oracle: Oracle, cluster: Json, pods: list[str], version: str) -> int:
    """Assert that both agree on every pod; the number of (pod, node) pairs compared.

    Totals are compared up to a constant, since a plugin that likes all nodes alike leaves itself out of the replay.
    """
    on = board(cluster, version)
    pairs = 0
    for pod in pods:
        theirs = oracle.score(cluster, pod)["nodes"]
        ours = scores(on, pod)
        assert set(ours) == set(theirs), pod
        for plugin in {p for node in ours.values() for p in node["plugins"]}:
            want = {n: said["plugins"].get(plugin, {}).get("normalized", 0) for n, said in theirs.items()}
            assert {n: said["plugins"][plugin] for n, said in ours.items()} == want, (pod, plugin)
        shifts = {theirs[n]["total"] - ours[n]["total"] for n in ours}
        assert len(shifts) <= 1, (pod, shifts)
        pairs += len(ours)
    return pairs


@pytest.mark.parametrize("seed", range(40))
def test_scores_of_random_clusters(oracle: Oracle, oracle_134: Oracle, seed: int) -> None:
    cluster = random_cluster(seed)
    pods = [f"default/{p['metadata']['name']}" for p in cluster["pods"]]
    chosen = Random(seed).sample(pods, min(len(pods), 8))
    assert compare(oracle, cluster, chosen, "v1.36.3") > 0
    assert compare(oracle_134, cluster, chosen, "v1.34.4") > 0


@pytest.mark.parametrize("name", ["c50_1", "c50_2"])
def test_scores_of_filled_clusters(oracle: Oracle, name: str) -> None:
    path = DATA / "drain" / f"{name}.json.gz"
    if not path.exists():
        pytest.skip("the shared clusters are not here")
    items = json.loads(gzip.decompress(path.read_bytes()))["items"]
    cluster: Json = {}
    for item in items:
        if item["kind"] in KINDS:
            cluster.setdefault(KINDS[item["kind"]], []).append(item)
    pods = [
        f"{p['metadata']['namespace']}/{p['metadata']['name']}"
        for p in cluster["pods"]
        if "ds" not in p["metadata"]["name"]
    ]
    assert compare(oracle, cluster, Random(1).sample(pods, 60), "v1.36.3") > 500
