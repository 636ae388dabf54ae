"""Which devices a request may have: the CEL selectors of its class and its own."""

from collections.abc import Mapping

from ksolver_cli.constraints.dynamic_resources.cel.evaluate import Scope, WithDefault, matches
from ksolver_cli.constraints.dynamic_resources.cel.values import CelError, UnsupportedError, Value
from ksolver_cli.constraints.dynamic_resources.gates import Gates
from ksolver_cli.constraints.dynamic_resources.pools import Candidate
from ksolver_cli.domain.devices import DeviceClass, DeviceRequest, ResourceClaim


class AllocationError(Exception):
    """Allocation on the node fails with an error, in the scheduler's words."""


def selected(
    candidate: Candidate, request: DeviceRequest, device_class: DeviceClass, claim: ResourceClaim, gates: Gates
) -> bool:
    """Whether the selectors of the class and of the request all hold for the device.

    Raises AllocationError where one fails on it, UnsupportedError where one is not modelled.
    """
    if candidate.device.has_binding_conditions and not gates.binding_conditions:
        return False
    scope = _scope(candidate, gates)
    return _all_hold(device_class.selectors, scope, f"class {device_class.name}", candidate) and _all_hold(
        request.selectors, scope, f"claim {claim.key}", candidate
    )


def _all_hold(selectors: tuple[str, ...], scope: Scope, owner: str, candidate: Candidate) -> bool:
    for position, selector in enumerate(selectors):
        if candidate.device.unreadable and candidate.device.unreadable in selector:
            raise UnsupportedError(f"the attribute {candidate.device.unreadable} of device {candidate.device.name}")
        try:
            if not matches(selector, scope):
                return False
        except CelError as error:
            raise AllocationError(f"{owner}: selector #{position}: CEL runtime error: {error}") from None
    return True


def _scope(candidate: Candidate, gates: Gates) -> Scope:
    device, driver = candidate.device, candidate.id[0]
    fields: dict[str, Value] = {
        "driver": driver,
        "attributes": _by_domain(device.attributes, driver),
        "capacity": _by_domain({name: capacity.value for name, capacity in device.capacity.items()}, driver),
    }
    if gates.shared_capacity:
        fields["allowMultipleAllocations"] = device.shareable
    return {"device": fields}


def _by_domain(values: Mapping[str, Value], driver: str) -> WithDefault:
    """Values under their domain; names without one are the driver's."""
    grouped: dict[str, dict[str, Value]] = {}
    for name, value in values.items():
        domain, slash, short = name.partition("/")
        grouped.setdefault(domain if slash else driver, {})[short if slash else name] = value
    return WithDefault(grouped)
