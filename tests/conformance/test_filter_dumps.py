"""Pods of real dumps, each as if just evicted, against the nodes of their dump taken as the whole cluster."""

from functools import cache

import pytest

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from tests.conformance.filter_truth import Case, case_lines, failing, find_pod, judge_evicted, require, verdict_word
from tests.paths import DATA


@cache
def dump(name: str) -> Cluster:
    return normalise(read_snapshot([DATA / "dumps" / name]), complete=True)


@pytest.mark.parametrize(
    "case", require(case_lines("dump_filter_matrix.jsonl.gz")), ids=lambda case: f"{case.get('dump')}-{case.get('pod')}"
)
def test_every_failing_plugin(case: Case) -> None:
    cluster = dump(case["dump"])
    judge = judge_evicted(cluster, find_pod(cluster, case["pod"]))
    objections = {node.name: judge.objections(node.name) for node in cluster.nodes}
    assert {name: failing(found) for name, found in objections.items()} == {
        name: sorted(plugins) for name, plugins in case["failing_plugins"].items()
    }
    assert {name: verdict_word(found) for name, found in objections.items()} == case["expect"]
