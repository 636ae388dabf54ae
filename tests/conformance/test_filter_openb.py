"""Pods of the openb snapshot, each taken out and tried on all 1,523 nodes."""

import gzip
import json

import numpy as np
import pytest

from ksolver_cli.constraints.matrix import FAIL, PASS, verdict_matrix
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from tests.paths import DATA

SNAPSHOT = DATA / "openb" / "k8s_snapshot_gpuspec33_load55.json.gz"
TRUTH = DATA / "openb" / "k8s_snapshot_filter_truth.json.gz"


@pytest.mark.skipif(not TRUTH.exists(), reason="the folder of shared data is absent")
def test_passing_nodes() -> None:
    with gzip.open(TRUTH, "rt") as text:
        truth = json.load(text)["pods"]
    cluster = normalise(read_snapshot([SNAPSHOT]))
    pods = [pod for pod in cluster.pods if pod.name in truth]
    matrix = verdict_matrix(cluster, pods)
    names = np.array([node.name for node in cluster.nodes])
    assert len(pods) == len(truth)
    for pod, codes in zip(pods, matrix, strict=True):
        assert set(names[codes == PASS]) == set(truth[pod.name]["pass_nodes"]), pod.name
        assert set(np.unique(codes)) <= {PASS, FAIL}
