"""Which devices a request may have: the CEL selectors of its class and its own."""

from collections.abc import Mapping

from ksolver_cli.constraints.dynamic_resources.cel.evaluate import Scope, WithDefault, matches
from ksolver_cli.constraints.dynamic_resources.cel.values import CelError, UnsupportedError, Value
from ksolver_cli.constraints.dynamic_resources.gates import Gates
from ksolver_cli.constraints.dynamic_resources.pools import Candidate
from ksolver_cli.domain.devices import DeviceClass, DeviceRequest, ResourceClaim

_ADVICE = (
    ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional "
    "fields"
)


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
    owners = ((f"class {device_class.name}", device_class.selectors), (f"claim {claim.key}", request.selectors))
    try:
        return all(_all_hold(owner, selectors, scope, candidate) for owner, selectors in owners)
    except _SelectorError as error:
        raise AllocationError(_words(error, candidate, gates)) from None


class _SelectorError(Exception):
    def __init__(self, selector: str, error: CelError) -> None:
        super().__init__(f"{selector}: {error}")
        self.selector = selector
        self.error = str(error)


def _words(failure: _SelectorError, candidate: Candidate, gates: Gates) -> str:
    if not gates.names_devices:
        return f"{failure.selector}: CEL runtime error: {failure.error}"
    advice = _ADVICE if failure.error.startswith("no such key") else ""
    return f"{failure.selector} on device {'/'.join(candidate.id)}: CEL runtime error: {failure.error}{advice}"


def _all_hold(owner: str, selectors: tuple[str, ...], scope: Scope, candidate: Candidate) -> bool:
    for position, selector in enumerate(selectors):
        if candidate.device.unreadable and candidate.device.unreadable in selector:
            raise UnsupportedError(f"the attribute {candidate.device.unreadable} of device {candidate.device.name}")
        try:
            if not matches(selector, scope):
                return False
        except CelError as error:
            raise _SelectorError(f"{owner}: selector #{position}", error) from None
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
