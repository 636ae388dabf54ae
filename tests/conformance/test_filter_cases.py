"""Every named case: the whole phase, the plugin on its own, and the first failing plugin in the scheduler's words."""

import pytest

from ksolver_cli.constraints.registry import first_of
from ksolver_cli.domain.verdict import Reason, Rejection
from ksolver_cli.render.phrases import reasons
from tests.conformance.filter_truth import (
    Case,
    cluster_of,
    failing,
    judge_new,
    named_cases,
    pod_of,
    require,
    verdict_word,
)

LEFT_OUT = "PreFilterResult/excluded"


def versions() -> list[object]:
    return [
        pytest.param(case, version, id=f"{case['id']}-{version}")
        for case in named_cases()
        for version in case.get("expect_by_version", {})
    ] or [pytest.param({}, "", marks=pytest.mark.skip(reason="the folder of shared cases is absent"))]


def case_id(case: Case) -> str:
    return case.get("id", "absent")


@pytest.mark.parametrize("case", require(named_cases()), ids=case_id)
def test_whole_phase(case: Case) -> None:
    cluster = cluster_of(case)
    judge = judge_new(cluster, pod_of(case, cluster))
    assert {node.name: verdict_word(judge.objections(node.name)) for node in cluster.nodes} == case["expect"]


@pytest.mark.parametrize("case", require(tuple(c for c in named_cases() if "expect_plugin" in c)), ids=case_id)
def test_plugin_alone(case: Case) -> None:
    cluster = cluster_of(case)
    judge = judge_new(cluster, pod_of(case, cluster))
    ours = {
        node.name: "fail" if case["plugin"] in failing(judge.objections(node.name)) else "pass"
        for node in cluster.nodes
    }
    assert ours == case["expect_plugin"]


@pytest.mark.parametrize("case", require(tuple(c for c in named_cases() if c.get("first_fail"))), ids=case_id)
def test_first_failing_plugin_and_its_words(case: Case) -> None:
    cluster = cluster_of(case)
    judge = judge_new(cluster, pod_of(case, cluster))
    for node_name, expected in case["first_fail"].items():
        first = first_of(judge.objections(node_name))
        assert isinstance(first, Rejection)
        if expected["code"] == LEFT_OUT:
            assert first.reason is Reason.NODE_AFFINITY_PRE
            continue
        stage, _, code = expected["code"].rpartition("/")
        assert (first.family, first.code, list(reasons(first))) == (expected["plugin"], code, expected["reasons"])
        assert (first in judge.everywhere) == (stage == "PreFilter")


@pytest.mark.parametrize(("case", "version"), versions())
def test_other_kubernetes_versions(case: Case, version: str) -> None:
    cluster = cluster_of(case, version)
    judge = judge_new(cluster, pod_of(case, cluster))
    expected = case["expect_by_version"][version]
    objections = {node.name: judge.objections(node.name) for node in cluster.nodes}
    assert {name: verdict_word(found) for name, found in objections.items()} == expected["expect"]
    ours = {name: "fail" if case["plugin"] in failing(found) else "pass" for name, found in objections.items()}
    assert ours == expected["expect_plugin"]
