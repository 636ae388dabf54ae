"""Every API shape of claims and slices means the same, and broken ones become caveats."""

from typing import Any

import pytest

from ksolver_cli.domain.devices import DeviceRequest, Devices, DeviceToleration, VersionValue
from ksolver_cli.normalise.devices import normalise_devices
from ksolver_cli.normalise.fields import Problems

BODY: dict[str, Any] = {
    "deviceClassName": "gpu",
    "allocationMode": "ExactCount",
    "count": 2,
    "selectors": [{"cel": {"expression": "true"}}],
    "tolerations": [{"key": "k", "operator": "Exists"}],
}
DEVICE: dict[str, Any] = {
    "attributes": {"a": {"string": "x"}, "b": {"int": 1}, "c": {"bool": True}, "d": {"version": "1.2.3"}},
    "capacity": {"memory": {"value": "1Gi"}},
}


def read(**objects: Any) -> tuple[Devices, int]:
    problems = Problems()
    return normalise_devices(objects, problems), len(problems.caveats())


def claim(request: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "c", "namespace": "n"}, "spec": {"devices": {"requests": [request]}}}


@pytest.mark.parametrize("request_", [{"name": "r", "exactly": BODY}, {"name": "r"} | BODY], ids=["v1", "v1beta1"])
def test_requests_of_both_shapes_are_one(request_: dict[str, Any]) -> None:
    found, caveats = read(resourceclaims=[claim(request_)])
    wanted = DeviceRequest("r", "gpu", count=2, selectors=("true",), tolerations=(DeviceToleration("k", "Exists"),))
    assert found.claims["n/c"].requests == (wanted,)
    assert caveats == 0


def test_alternatives_keep_their_order() -> None:
    options = [{"name": name} | BODY for name in ("first", "second")]
    found, _ = read(resourceclaims=[claim({"name": "r", "firstAvailable": options})])
    (request,) = found.claims["n/c"].requests
    assert [option.name for option in request.alternatives] == ["first", "second"]


@pytest.mark.parametrize("device", [{"name": "d"} | DEVICE, {"name": "d", "basic": DEVICE}], ids=["v1", "v1beta1"])
def test_devices_of_both_shapes_are_one(device: dict[str, Any]) -> None:
    found, caveats = read(resourceslices=[{"metadata": {"name": "s"}, "spec": {"driver": "x", "devices": [device]}}])
    (part,) = found.slices
    assert part.devices[0].attributes == {"a": "x", "b": 1, "c": True, "d": VersionValue("1.2.3")}
    assert part.devices[0].capacity["memory"].value.value() == 1 << 30
    assert caveats == 0


def test_a_list_attribute_is_remembered_as_unreadable() -> None:
    device = {"name": "d", "attributes": {"a": {"strings": ["x"]}}}
    found, caveats = read(resourceslices=[{"metadata": {"name": "s"}, "spec": {"devices": [device]}}])
    assert found.slices[0].devices[0].unreadable == "a"
    assert caveats == 0


@pytest.mark.parametrize(
    "objects",
    [
        {"resourceclaims": [{"metadata": {}}]},
        {"resourceclaims": [claim({"name": "r", "exactly": BODY | {"count": "two"}})]},
        {"resourceclaims": ["text"]},
        {"resourceslices": [{"metadata": {"name": "s"}, "spec": {"devices": [{"attributes": {"a": {}}}]}}]},
        {"resourceslices": [{"metadata": {"name": "s"}, "spec": {"devices": [{"capacity": {"m": {"value": "x"}}}]}}]},
        {"deviceclasses": [{"metadata": {"name": "g"}, "spec": {"selectors": 5}}]},
        {"devicetaintrules": [None]},
        {"resourceclaimtemplates": [{"metadata": {"name": ""}}]},
    ],
)
def test_a_broken_object_is_left_out_and_said(objects: dict[str, Any]) -> None:
    found, caveats = read(**objects)
    assert [found.slices, found.claims, found.classes, found.templates, found.taint_rules] == [(), {}, {}, {}, ()]
    assert caveats == 1


def test_the_oldest_class_is_not_the_one_that_serves_a_resource() -> None:
    def named(name: str, created: str) -> dict[str, Any]:
        metadata = {"name": name, "creationTimestamp": created}
        return {"metadata": metadata, "spec": {"extendedResourceName": "example.com/gpu"}}

    found, _ = read(
        deviceclasses=[
            named("old", "2025-01-01T00:00:00Z"),
            named("b", "2026-01-01T00:00:00Z"),
            named("a", "2026-01-01T00:00:00Z"),
        ]
    )
    serving = found.class_for_resource("example.com/gpu")
    assert serving is not None
    assert serving.name == "a"
    by_name = found.class_for_resource("deviceclass.resource.kubernetes.io/old")
    assert by_name is not None
    assert by_name.name == "old"
    assert found.class_for_resource("example.com/other") is None
