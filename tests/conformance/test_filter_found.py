"""Worlds that random runs brought up: our families say what each version's scheduler said."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.filter_truth import cluster_of, failing, judge_new, pod_of

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "found" / "cases.json").read_text())["cases"]


@pytest.mark.parametrize(
    ("case", "version"), [pytest.param(c, v, id=f"{c['id']}-{v}") for c in CASES for v in c["expect"]]
)
def test_every_failing_plugin(case: dict[str, Any], version: str) -> None:
    world = {key: value for key, value in case.items() if key not in ("id", "expect")}
    cluster = cluster_of(world, version)
    judge = judge_new(cluster, pod_of(world, cluster))
    assert {node.name: failing(judge.objections(node.name)) for node in cluster.nodes} == case["expect"][version]
