"""What people reported of tools like this one: each report is a kind of fault, and comes out right here."""

import json
from functools import cache
from typing import Any

import pytest

from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import Limits
from ksolver_cli.domain.quantity import parse_quantity
from ksolver_cli.domain.report.report import Report
from ksolver_cli.explain.money import ONE_NODE, objective
from ksolver_cli.explain.potential import Solver
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.pipeline import Request, Watch, analyze
from ksolver_cli.snapshot.importers import import_document
from ksolver_cli.snapshot.model import Snapshot
from tests.paths import CASES

FILE = CASES / "bug_reports.json"
pytestmark = pytest.mark.skipif(not FILE.is_file(), reason="the reported cases are not here")

REPORTS: list[dict[str, Any]] = json.loads(FILE.read_text())["bugs"] if FILE.is_file() else []
BY_ID = {report["id"]: report for report in REPORTS}


def _snapshot(report: dict[str, Any]) -> Snapshot:
    objects: dict[str, list[Any]] = {}
    for found in import_document("report", report["input"], None):
        assert isinstance(found, tuple), found
        kind, raw = found
        bucket = objects.setdefault(kind.plural, [])
        if raw is not None:
            bucket.append(raw)
    return Snapshot({plural: tuple(items) for plural, items in objects.items()})


def _cluster(report: dict[str, Any]) -> Cluster:
    return normalise(_snapshot(report), complete=True)


@cache
def _analysed(name: str) -> Report:
    return analyze(_snapshot(BY_ID[name]), Request(complete=True), Watch())


def _with(key: str) -> list[str]:
    return [report["id"] for report in REPORTS if key in report["right_outcome"]]


def _checks() -> list[Any]:
    return [
        pytest.param(report, check, id=f"{report['id']}-{number}")
        for report in REPORTS
        for number, check in enumerate(report.get("filter_checks", []))
    ]


@pytest.mark.parametrize(("report", "check"), _checks())
def test_the_scheduler_says_so_too(report: dict[str, Any], check: dict[str, Any]) -> None:
    cluster = _cluster(report)
    state = State(cluster)
    pods = {pod.key: pod for pod in cluster.pods}
    placed = pods[check["place"]]
    for key in {*check["drop_pods"], check["place"]}:
        if state.node_of(pods[key]) is not None:
            state.remove(pods[key])
    for node in check["drop_nodes"]:
        state.remove_node(node)
    judge = prepare(as_new(placed), state)
    verdicts = {node: "pass" if judge.first(node) is None else "fail" for node in check["expect"]}
    assert verdicts == check["expect"]


@pytest.mark.parametrize("name", _with("removable_nodes_include") + _with("removable_nodes_exclude"))
def test_nodes_are_drainable_or_not_as_people_expected(name: str) -> None:
    outcome = BY_ID[name]["right_outcome"]
    drainable = {row.name for row in _analysed(name).nodes if row.drainable}
    assert set(outcome.get("removable_nodes_include", [])) <= drainable
    assert not set(outcome.get("removable_nodes_exclude", [])) & drainable


@pytest.mark.parametrize("name", _with("min_nodes"))
def test_the_best_placement_keeps_no_more_nodes_than_needed(name: str) -> None:
    cluster = _cluster(BY_ID[name])
    weights = objective(cluster, {})
    solver = Solver(Limits(), lambda: False, lambda progress: None)
    solution = solver.run(cluster, classify(cluster), weights, {})
    kept = len(cluster.nodes) - len(solution.removed)
    assert kept == BY_ID[name]["right_outcome"]["min_nodes"]
    assert solution.proof.bound_micros <= kept * ONE_NODE


@pytest.mark.parametrize("name", _with("min_nodes"))
def test_the_drain_plan_gets_there_too(name: str) -> None:
    report = _analysed(name)
    assert report.plan is not None
    removed = sum(len(wave.nodes) for wave in report.plan.waves)
    assert len(report.nodes) - removed == BY_ID[name]["right_outcome"]["min_nodes"]


@pytest.mark.parametrize("name", _with("moves"))
def test_nothing_moves_where_nothing_is_gained(name: str) -> None:
    report = _analysed(name)
    assert report.plan is not None
    assert list(report.plan.moves) == BY_ID[name]["right_outcome"]["moves"]


@pytest.mark.parametrize("name", _with("unschedulable"))
def test_pods_that_fit_nowhere_are_told_with_every_reason(name: str) -> None:
    stuck = _analysed(name).stuck
    assert [pod.pod for pod in stuck] == BY_ID[name]["right_outcome"]["unschedulable"]
    assert all(pod.reasons for pod in stuck)


def test_two_reasons_on_different_nodes_are_both_told() -> None:
    (stuck,) = _analysed("two-local-pvs-one-node-anti-affinity").stuck
    assert {str(reason.verdict.family): reason.nodes for reason in stuck.reasons} == {
        "VolumeBinding": 2,
        "InterPodAffinity": 1,
    }


@pytest.mark.parametrize("name", _with("effective_requests"))
def test_effective_requests(name: str) -> None:
    pods = {pod.key: pod for pod in _cluster(BY_ID[name]).pods}
    for key, wanted in BY_ID[name]["right_outcome"]["effective_requests"].items():
        for resource, text in wanted.items():
            quantity = parse_quantity(text)
            exact = quantity.milli_value() if resource == "cpu" else quantity.value()
            assert pods[key].spec.requests[resource] == exact


def test_every_blocker_is_a_pod_of_that_very_node() -> None:
    for report in REPORTS:
        pods = {pod.key: pod.node_name for pod in _cluster(report).pods}
        for row in _analysed(report["id"]).nodes:
            assert all(pods[blocker.pod] == row.name for blocker in row.blockers if blocker.pod), report["id"]


def test_an_overcommitted_node_is_flagged() -> None:
    caveats = _analysed("opencost-negative-idle").caveats
    assert {caveat.objects for caveat in caveats if caveat.kind == "overcommitted-node"} == {("n1",)}


def test_a_spot_node_without_a_spot_price_has_none() -> None:
    assert "sp" in dict(_analysed("opencost-spot-without-feed").prices.unpriced)
