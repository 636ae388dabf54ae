"""What we take CEL selectors to mean is what the scheduler takes them to mean."""

import pytest

from tests.live.oracle import Json, Oracle
from tests.unit.constraints.test_dra_cel import FAILING, TRUE

DEVICE: Json = {
    "name": "d",
    "attributes": {
        "model": {"string": "A100"},
        "numa": {"int": 0},
        "ok": {"bool": True},
        "driver": {"version": "550.90.7"},
    },
    "capacity": {"memory": {"value": "40Gi"}},
}


def said(oracle: Oracle, expression: str) -> Json | None:
    """What DynamicResources says of a pod that wants a device for which the expression is true."""
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    slice_spec = {"driver": "gpu.example.com", "pool": pool, "nodeName": "n", "devices": [DEVICE]}
    request = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
    wanted = {"name": "r", "exactly": request | {"selectors": [{"cel": {"expression": expression}}]}}
    case: Json = {
        "nodes": [{"metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}}],
        "deviceclasses": [{"metadata": {"name": "any"}, "spec": {}}],
        "resourceslices": [{"metadata": {"name": "s"}, "spec": slice_spec}],
        "resourceclaims": [
            {"metadata": {"name": "c", "namespace": "default", "uid": "u"}, "spec": {"devices": {"requests": [wanted]}}}
        ],
    }
    spec = {"containers": [{"name": "c"}], "resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}
    pod = {"metadata": {"name": "p", "namespace": "default", "uid": "p"}, "spec": spec}
    answer: Json | None = oracle.filter(case, pod)["n"]["alone"].get("DynamicResources")
    return answer


@pytest.mark.parametrize("expression", TRUE)
def test_true(oracle: Oracle, expression: str) -> None:
    assert said(oracle, expression) is None
    assert said(oracle, f"!({expression})") is not None


@pytest.mark.parametrize(("expression", "words"), FAILING)
def test_failing(oracle: Oracle, expression: str, words: str) -> None:
    answer = said(oracle, expression)
    assert answer is not None
    assert answer["code"] == "Error"
    assert words in answer["reasons"][0]
