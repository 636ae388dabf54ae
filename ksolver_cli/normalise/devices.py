"""Resource slices, claims, templates and device classes, in every API shape from v1beta1 to v1."""

from collections.abc import Iterable, Mapping

from ksolver_cli.domain.devices import (
    AllocatedDevice,
    Allocation,
    AttributeValue,
    Capacity,
    CapacityPolicy,
    ClaimTemplate,
    Device,
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    Devices,
    DeviceTaint,
    DeviceToleration,
    Reach,
    ResourceClaim,
    ResourceSlice,
    TaintRule,
    VersionValue,
)
from ksolver_cli.domain.quantity import Quantity
from ksolver_cli.normalise.fields import Field, Problems, Raw, read_each
from ksolver_cli.normalise.selectors import read_node_selector

_EXTENDED_CLAIM = "resource.kubernetes.io/extended-resource-claim"
_LISTS = ("strings", "ints", "bools", "versions")


def normalise_devices(objects: Mapping[str, Iterable[Raw]], problems: Problems) -> Devices:
    """Read everything DynamicResources looks at; objects that cannot be read are left out and become caveats."""
    slices = read_each("ResourceSlice", objects.get("resourceslices", ()), problems, read_slice)
    claims = read_each("ResourceClaim", objects.get("resourceclaims", ()), problems, read_claim)
    templates = read_each("ResourceClaimTemplate", objects.get("resourceclaimtemplates", ()), problems, read_template)
    classes = read_each("DeviceClass", objects.get("deviceclasses", ()), problems, read_class)
    rules = read_each("DeviceTaintRule", objects.get("devicetaintrules", ()), problems, read_taint_rule)
    return Devices(
        slices=tuple(slices),
        claims={claim.key: claim for claim in claims},
        templates={f"{template.namespace}/{template.name}": template for template in templates},
        classes={found.name: found for found in classes},
        taint_rules=tuple(rules),
    )


def read_slice(raw: Field) -> ResourceSlice:
    """A ResourceSlice. Raises FieldError."""
    spec = raw["spec"]
    pool = spec["pool"]
    return ResourceSlice(
        name=raw["metadata"]["name"].some_text(),
        driver=spec["driver"].text(),
        pool=pool["name"].text(),
        generation=pool["generation"].whole(),
        size=pool["resourceSliceCount"].whole(),
        reach=_reach(spec),
        per_device=spec["perDeviceNodeSelection"].flag(),
        devices=tuple(_device(device) for device in spec["devices"].items()),
        counter_sets=tuple(
            (counter_set["name"].text(), _counters(counter_set["counters"]))
            for counter_set in spec["sharedCounters"].items()
        ),
    )


def _reach(place: Field) -> Reach:
    return Reach(place["nodeName"].text(), place["allNodes"].flag(), read_node_selector(place["nodeSelector"]))


def _device(raw: Field) -> Device:
    body = raw if raw["basic"].absent else raw["basic"]
    attributes = {name: _attribute(value) for name, value in body["attributes"].entries()}
    unreadable = next((name for name, value in attributes.items() if value is None), "")
    return Device(
        name=raw["name"].text(),
        attributes={name: value for name, value in attributes.items() if value is not None},
        capacity={name: _capacity(value) for name, value in body["capacity"].entries()},
        taints=tuple(_taint(taint) for taint in body["taints"].items()),
        counters=_consumed_counters(body["consumesCounters"]),
        reach=_reach(body),
        has_binding_conditions=bool(body["bindingConditions"].items()),
        shareable=body["allowMultipleAllocations"].flag(),
        unreadable=unreadable,
    )


def _attribute(raw: Field) -> AttributeValue | None:
    """The value; None for list values, which only an alpha feature reads."""
    if not raw["string"].absent:
        return raw["string"].text()
    if not raw["int"].absent:
        return raw["int"].whole()
    if not raw["bool"].absent:
        return raw["bool"].flag()
    if not raw["version"].absent:
        return VersionValue(raw["version"].text())
    if any(not raw[kind].absent for kind in _LISTS):
        return None
    raise raw.bad("one of string, int, bool, version")


def _capacity(raw: Field) -> Capacity:
    policy = raw["requestPolicy"]
    if policy.absent:
        return Capacity(raw["value"].quantity())
    valid = policy["validRange"]
    return Capacity(
        raw["value"].quantity(),
        CapacityPolicy(
            default=_maybe_quantity(policy["default"]),
            values=tuple(value.quantity() for value in policy["validValues"].items()),
            has_range=not valid.absent,
            least=_maybe_quantity(valid["min"]),
            most=_maybe_quantity(valid["max"]),
            step=_maybe_quantity(valid["step"]),
        ),
    )


def _maybe_quantity(raw: Field) -> Quantity | None:
    return None if raw.absent else raw.quantity()


def _counters(raw: Field) -> dict[str, Quantity]:
    return {name: value["value"].quantity() for name, value in raw.entries()}


def _consumed_counters(raw: Field) -> dict[tuple[str, str], Quantity]:
    return {
        (entry["counterSet"].text(), name): amount
        for entry in raw.items()
        for name, amount in _counters(entry["counters"]).items()
    }


def _taint(raw: Field) -> DeviceTaint:
    return DeviceTaint(raw["key"].text(), raw["value"].text(), raw["effect"].text())


def read_claim(raw: Field) -> ResourceClaim:
    """A ResourceClaim. Raises FieldError."""
    metadata, status = raw["metadata"], raw["status"]
    requests, constraints = _wishes(raw["spec"])
    return ResourceClaim(
        namespace=metadata["namespace"].text("default"),
        name=metadata["name"].some_text(),
        uid=metadata["uid"].text(),
        requests=requests,
        constraints=constraints,
        allocation=None if status["allocation"].absent else _allocation(status["allocation"]),
        reserved_for=tuple(consumer["uid"].text() for consumer in status["reservedFor"].items()),
        controller_uid=_controller_uid(metadata["ownerReferences"]),
        deleting=not metadata["deletionTimestamp"].absent,
        for_extended_resources=metadata["annotations"].text_map().get(_EXTENDED_CLAIM) == "true",
    )


def _controller_uid(owners: Field) -> str:
    for owner in owners.items():
        if owner["controller"].flag():
            return owner["uid"].text()
    return ""


def read_template(raw: Field) -> ClaimTemplate:
    """A ResourceClaimTemplate. Raises FieldError."""
    metadata = raw["metadata"]
    requests, constraints = _wishes(raw["spec"]["spec"])
    return ClaimTemplate(metadata["namespace"].text("default"), metadata["name"].some_text(), requests, constraints)


def _wishes(spec: Field) -> tuple[tuple[DeviceRequest, ...], tuple[DeviceConstraint, ...]]:
    devices = spec["devices"]
    return (
        tuple(_request(request) for request in devices["requests"].items()),
        tuple(_constraint(constraint) for constraint in devices["constraints"].items()),
    )


def _request(raw: Field) -> DeviceRequest:
    """A request: `exactly` since v1beta2, inline in v1beta1; or a list of alternatives."""
    alternatives = tuple(_one_request(option, option) for option in raw["firstAvailable"].items())
    if alternatives:
        return DeviceRequest(name=raw["name"].text(), alternatives=alternatives)
    return _one_request(raw, raw if raw["exactly"].absent else raw["exactly"])


def _one_request(raw: Field, body: Field) -> DeviceRequest:
    return DeviceRequest(
        name=raw["name"].text(),
        device_class=body["deviceClassName"].text(),
        mode=body["allocationMode"].text("ExactCount"),
        count=body["count"].whole(1),
        admin_access=body["adminAccess"].flag(),
        selectors=_selectors(body["selectors"]),
        tolerations=tuple(_toleration(toleration) for toleration in body["tolerations"].items()),
        capacity=tuple(sorted(body["capacity"]["requests"].quantities().items())),
    )


def _selectors(raw: Field) -> tuple[str, ...]:
    return tuple(selector["cel"]["expression"].text() for selector in raw.items())


def _toleration(raw: Field) -> DeviceToleration:
    return DeviceToleration(raw["key"].text(), raw["operator"].text("Equal"), raw["value"].text(), raw["effect"].text())


def _constraint(raw: Field) -> DeviceConstraint:
    distinct = raw["matchAttribute"].absent
    attribute = raw["distinctAttribute"] if distinct else raw["matchAttribute"]
    return DeviceConstraint(attribute.text(), raw["requests"].texts(), distinct)


def _allocation(raw: Field) -> Allocation:
    results = raw["devices"]["results"].items()
    return Allocation(
        devices=tuple(_allocated(result) for result in results),
        nodes=read_node_selector(raw["nodeSelector"]),
        binding=any(result["bindingConditions"].items() for result in results),
    )


def _allocated(raw: Field) -> AllocatedDevice:
    return AllocatedDevice(
        driver=raw["driver"].text(),
        pool=raw["pool"].text(),
        device=raw["device"].text(),
        admin_access=raw["adminAccess"].flag(),
        share=raw["shareID"].text(),
        consumed=tuple(sorted(raw["consumedCapacity"].quantities().items())),
    )


def read_class(raw: Field) -> DeviceClass:
    """A DeviceClass. Raises FieldError."""
    return DeviceClass(
        name=raw["metadata"]["name"].some_text(),
        selectors=_selectors(raw["spec"]["selectors"]),
        extended_resource=raw["spec"]["extendedResourceName"].text(),
        created=raw["metadata"]["creationTimestamp"].text(),
    )


def read_taint_rule(raw: Field) -> TaintRule:
    """A DeviceTaintRule. Raises FieldError."""
    selector, taint = raw["spec"]["deviceSelector"], raw["spec"]["taint"]
    return TaintRule(
        taint=DeviceTaint(taint["key"].some_text(), taint["value"].text(), taint["effect"].text()),
        driver=selector["driver"].text(),
        pool=selector["pool"].text(),
        device=selector["device"].text(),
    )
