"""Which nodes device claims can tell apart: by what their devices are, as far as any claim or class looks."""

from collections.abc import Callable, Hashable, Iterator

from ksolver_cli.domain.devices import ClaimTemplate, Device, DeviceRequest, Devices, ResourceClaim, ResourceSlice

NodeDevices = Callable[[str], Hashable]
"""Node name to a value that is equal for nodes with devices alike; None for a node without any of its own."""


def node_devices(devices: Devices) -> NodeDevices:
    """What the slices of single nodes say of them; slices that many nodes reach are told by their selectors instead."""
    seen = _attributes_seen(devices)
    names_matter = any(rule.device or rule.pool for rule in devices.taint_rules)
    by_node: dict[str, list[ResourceSlice]] = {}
    for found in devices.slices:
        for name in {found.reach.node_name, *(device.reach.node_name for device in found.devices)} - {""}:
            by_node.setdefault(name, []).append(found)

    def of(node_name: str) -> Hashable:
        own = by_node.get(node_name)
        if own is None:
            return None
        return frozenset(_slice(found, node_name, seen, names_matter) for found in own)

    return of


def _slice(found: ResourceSlice, node_name: str, seen: Callable[[str], bool], names_matter: bool) -> Hashable:
    return (
        found.driver,
        found.size,
        tuple(_device(d, node_name, seen, names_matter) for d in found.devices),
        tuple((name, frozenset(counters.items())) for name, counters in found.counter_sets),
        found.pool if names_matter else "",
    )


def _device(device: Device, node_name: str, seen: Callable[[str], bool], names_matter: bool) -> Hashable:
    return (
        device.name if names_matter else "",
        frozenset((name, repr(value)) for name, value in device.attributes.items() if seen(name)),
        frozenset(device.capacity.items()),
        device.taints,
        frozenset(device.counters.items()),
        device.reach.node_name == node_name,
        device.has_binding_conditions,
        device.shareable,
        device.unreadable,
    )


def _attributes_seen(devices: Devices) -> Callable[[str], bool]:
    """Whether an attribute's name occurs in any expression or constraint; addresses and serial numbers rarely do."""
    text = "\n".join(_expressions(devices))
    answers: dict[str, bool] = {}

    def seen(name: str) -> bool:
        if name not in answers:
            answers[name] = name.rpartition("/")[2] in text
        return answers[name]

    return seen


def _expressions(devices: Devices) -> Iterator[str]:
    for device_class in devices.classes.values():
        yield from device_class.selectors
    sources: list[ResourceClaim | ClaimTemplate] = [*devices.claims.values(), *devices.templates.values()]
    for source in sources:
        yield from (constraint.attribute for constraint in source.constraints)
        for request in source.requests:
            yield from _selectors(request)


def _selectors(request: DeviceRequest) -> Iterator[str]:
    yield from request.selectors
    for alternative in request.alternatives:
        yield from alternative.selectors
