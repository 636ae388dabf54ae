"""Random small clusters: every plugin that fails on its own, on every node."""

import pytest

from ksolver_cli.constraints.grid.grid import FAIL, PASS, UNKNOWN, Grid
from ksolver_cli.constraints.state import State
from tests.conformance.filter_truth import (
    Case,
    case_lines,
    cluster_of,
    failing,
    judge_new,
    pod_of,
    require,
    verdict_word,
)

FUZZ = require(case_lines("filter_fuzz.jsonl.gz"))
CODES = {"pass": PASS, "unknown": UNKNOWN, "fail": FAIL}


def case_id(case: Case) -> str:
    return case.get("id", "absent")


@pytest.mark.parametrize("case", FUZZ, ids=case_id)
def test_every_failing_plugin(case: Case) -> None:
    cluster = cluster_of(case)
    judge = judge_new(cluster, pod_of(case, cluster))
    objections = {node.name: judge.objections(node.name) for node in cluster.nodes}
    assert {name: failing(found) for name, found in objections.items()} == {
        name: sorted(plugins) for name, plugins in case["failing_plugins"].items()
    }
    assert {name: verdict_word(found) for name, found in objections.items()} == case["expect"]


@pytest.mark.parametrize("case", FUZZ, ids=case_id)
def test_the_grid_says_the_same(case: Case) -> None:
    cluster = cluster_of(case)
    grid = Grid(State(cluster))
    codes = grid.verdicts(pod_of(case, cluster))
    assert dict(zip(grid.names, codes.tolist(), strict=True)) == {
        name: CODES[word] for name, word in case["expect"].items()
    }
