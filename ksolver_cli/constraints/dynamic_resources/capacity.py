"""Capacity of devices that several requests share (KEP-5075, consumable capacity)."""

from collections.abc import Mapping

from ksolver_cli.domain.devices import Capacity, CapacityPolicy, Device
from ksolver_cli.domain.quantity import NANOS, Quantity

Amounts = Mapping[str, Quantity]
_NONE = Quantity(0)


def consumed(device: Device, asked: Amounts) -> dict[str, Quantity]:
    """What a request takes of each capacity: what it asks for, rounded up as the policy says, else the default."""
    return {name: _taken(asked.get(name), capacity) for name, capacity in device.capacity.items()}


def has_room(device: Device, asked: Amounts, *used: Amounts) -> bool:
    """Whether the request fits beside what is used; capacities the device does not have cannot be asked for."""
    if not asked.keys() <= device.capacity.keys():
        return False
    for name, taken in consumed(device, asked).items():
        capacity = device.capacity[name]
        if _violates(taken, capacity.policy):
            return False
        total = sum((amounts.get(name, _NONE) for amounts in used), taken)
        if capacity.value < total:
            return False
    return True


def _taken(asked: Quantity | None, capacity: Capacity) -> Quantity:
    policy = capacity.policy
    if asked is None:
        return policy.default if policy is not None and policy.default is not None else capacity.value
    if policy is None:
        return asked
    if policy.has_range and policy.least is not None:
        return _stepped(asked, policy.least, policy.step)
    return next((value for value in policy.values if asked <= value), asked)


def _stepped(asked: Quantity, least: Quantity, step: Quantity | None) -> Quantity:
    """The least amount, or the next whole step from it."""
    if asked < least:
        return least
    if step is None or step.value() <= 0:
        return asked
    steps = -((least.value() - asked.value()) // step.value())
    return Quantity((least.value() + step.value() * steps) * NANOS)


def _violates(taken: Quantity, policy: CapacityPolicy | None) -> bool:
    if policy is None or policy.default == taken:
        return False
    if policy.has_range:
        too_much = policy.most is not None and policy.most < taken
        return too_much or _off_step(taken, policy)
    return bool(policy.values) and taken not in policy.values


def _off_step(taken: Quantity, policy: CapacityPolicy) -> bool:
    if policy.step is None or policy.step.value() <= 0:
        return False
    least = policy.least.value() if policy.least is not None else 0
    return (taken.value() - least) % policy.step.value() != 0
