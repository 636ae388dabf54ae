"""Effective requests are the scheduler's own, for every recorded pod and for the pods of the real dumps."""

import json
from collections.abc import Callable

import pytest

from ksolver_cli.domain.quantity import parse_quantity
from ksolver_cli.normalise.fields import Field
from ksolver_cli.normalise.pods import requests as rq
from ksolver_cli.normalise.pods import resize
from tests.paths import CASES, DATA

if not (CASES / "podrequests_cases.json").exists():
    pytest.skip("the recorded requests are not here", allow_module_level=True)
PODS = json.loads((CASES / "podrequests_cases.json").read_text())["cases"]
DUMPS = json.loads((CASES / "dump_effective_requests.json").read_text())


def asked(pod: Field) -> rq.PodResources:
    return rq.read_resources(pod["spec"])


def held(pod: Field) -> rq.PodResources:
    return resize.bound(asked(pod), resize.read_reports(pod["status"]))


WAYS: dict[str, Callable[[Field], rq.Amounts]] = {
    "requests_new": lambda pod: asked(pod).requests(),
    "requests_bound": lambda pod: held(pod).requests(),
    "requests_no_overhead": lambda pod: asked(pod).requests(with_overhead=False),
    "requests_skip_pod_level": lambda pod: asked(pod).requests(pod_level=False),
    "limits": lambda pod: asked(pod).limits(),
    "limits_bound": lambda pod: held(pod).limits(),
}


@pytest.mark.parametrize("case", PODS, ids=lambda case: case["id"])
def test_a_pod_asks_for_what_the_scheduler_counts(case: dict) -> None:
    pod = Field(case["pod"])
    assert set(case["expect"]) <= set(WAYS)
    for way, expected in case["expect"].items():
        amounts = WAYS[way](pod)
        assert amounts == {name: parse_quantity(amount["quantity"]).nanos for name, amount in expected.items()}, way
        assert rq.rounded(amounts) == {name: amount["scheduler_int"] for name, amount in expected.items()}, way


@pytest.mark.parametrize("dump", DUMPS)
def test_every_pod_of_a_dump_asks_for_what_the_scheduler_counts(dump: str) -> None:
    pods = {f"{p['metadata']['namespace']}/{p['metadata']['name']}": Field(p) for p in dump_pods(dump)}
    for key, expected in DUMPS[dump].items():
        for way, amounts in (("new", asked(pods[key]).requests()), ("bound", held(pods[key]).requests())):
            assert amounts == {n: parse_quantity(q).nanos for n, q in expected[way].items()}, (key, way)
    assert DUMPS[dump]


def dump_pods(dump: str) -> list[dict]:
    return [
        item
        for path in sorted((DATA / "dumps" / dump).glob("**/*.json"))
        for item in as_list(json.loads(path.read_text()))
        if item.get("kind", "Pod") == "Pod" and "metadata" in item
    ]


def as_list(document: object) -> list[dict]:
    items = document.get("items", [document]) if isinstance(document, dict) else document
    return [item for item in items if isinstance(item, dict)]
