"""Plans that the scheduler carried out step by step, from reports of faults in tools of this kind."""

import json
from typing import Any

import pytest

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Eviction, Judgement, Move, Wave
from ksolver_cli.domain.verdict import Reason, Rejection
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.verify.referee import judge
from tests.paths import CASES

FILE = CASES / "bug_reports.json"
HOST_SPREAD = {"ca-pdb-and-spread", "ca-removed-node-still-a-domain", "ca-spread-mindomains-4-to-2"}
KINDS = {"pdbs": "poddisruptionbudgets"}


def witnessed() -> list[dict[str, Any]]:
    if not FILE.exists():
        return []
    return [bug for bug in json.loads(FILE.read_text())["bugs"] if "witness_plan" in bug]


def cluster_of(bug: dict[str, Any]) -> Cluster:
    lists = {KINDS.get(key, key): tuple(value) for key, value in bug["input"].items() if isinstance(value, list)}
    return normalise(Snapshot(objects=lists, server_version="v1.36.3"), complete=True)


def judged(of: Cluster, remove: list[str], moves: dict[str, str]) -> Judgement:
    """One wave a node, its pods evicted in the witness's order."""
    home = {p.key: p.node_name for p in of.pods}
    waves = tuple(Wave((n,), tuple(Eviction(p, n) for p in moves if home[p] == n)) for n in remove)
    plan = DrainPlan(
        waves, len(of.nodes), len(of.nodes) - len(remove), tuple(Move(p, home[p], t) for p, t in moves.items())
    )
    return judge(of, plan, {n.name: 1 for n in of.nodes})


@pytest.mark.parametrize("bug", witnessed(), ids=lambda bug: str(bug["id"]))
def test_what_the_scheduler_did_is_accepted(bug: dict[str, Any]) -> None:
    """The witnesses took a node away before its pods came back. Under hard host spread that is another thing: while the
    node is only cordoned it is still an empty domain, and the pods would wait.
    """
    witness = bug["witness_plan"]
    faults = judged(cluster_of(bug), witness["remove"], witness["moves"]).faults
    objections = [v for fault in faults for v in fault.verdicts]
    assert all(isinstance(v, Rejection) and v.reason is Reason.SPREAD_SKEW for v in objections)
    assert bool(faults) is (bug["id"] in HOST_SPREAD)


@pytest.mark.parametrize("bug", witnessed(), ids=lambda bug: str(bug["id"]))
def test_without_its_last_move_it_is_not(bug: dict[str, Any]) -> None:
    witness = bug["witness_plan"]
    moves = dict(list(witness["moves"].items())[:-1])
    assert not judged(cluster_of(bug), witness["remove"], moves).accepted


def test_there_are_witnesses() -> None:
    if not FILE.exists():
        pytest.skip("the shared cases are not here")
    assert len(witnessed()) >= 5
