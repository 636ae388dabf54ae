"""Constraints between the devices of a claim: one value of an attribute in common, or all different."""

from typing import Protocol

from ksolver_cli.constraints.dynamic_resources.gates import Gates
from ksolver_cli.constraints.dynamic_resources.pools import Candidate
from ksolver_cli.domain.devices import AttributeValue, DeviceConstraint

RequestName = tuple[str, str]
"""Name of a request, and of the alternative that was chosen (empty when it has none)."""


class Together(Protocol):
    """A constraint that devices join one by one and leave in the opposite order."""

    def add(self, request: RequestName, candidate: Candidate) -> bool:
        """Whether the device may join; if so it has."""
        ...

    def remove(self, request: RequestName) -> None:
        """Take out the device that joined last."""
        ...


def together(constraint: DeviceConstraint, gates: Gates) -> Together:
    """The constraint, with no device in it yet."""
    if not constraint.distinct:
        return _Matching(constraint)
    return _Distinct(constraint) if gates.keeps_all_distinct else _DistinctByRequest(constraint)


def attribute(candidate: Candidate, name: str) -> AttributeValue | None:
    """A device's attribute by its full name; its driver's domain may be left out where it is published."""
    found = candidate.device.attributes.get(name)
    domain, _, short = name.partition("/")
    return candidate.device.attributes.get(short) if found is None and domain == candidate.id[0] else found


def _same(left: AttributeValue, right: AttributeValue) -> bool:
    return type(left) is type(right) and left == right


def _concerns(constraint: DeviceConstraint, request: RequestName) -> bool:
    wanted = constraint.requests
    name, alternative = request
    return not wanted or name in wanted or (bool(alternative) and f"{name}/{alternative}" in wanted)


class _Matching:
    def __init__(self, constraint: DeviceConstraint) -> None:
        self._constraint = constraint
        self._value: AttributeValue | None = None
        self._count = 0

    def add(self, request: RequestName, candidate: Candidate) -> bool:
        if not _concerns(self._constraint, request):
            return True
        value = attribute(candidate, self._constraint.attribute)
        if value is None:
            return False
        if self._count == 0:
            self._value = value
        elif self._value is None or not _same(self._value, value):
            return False
        self._count += 1
        return True

    def remove(self, request: RequestName) -> None:
        if _concerns(self._constraint, request):
            self._count -= 1


class _Distinct:
    def __init__(self, constraint: DeviceConstraint) -> None:
        self._constraint = constraint
        self._values: list[AttributeValue] = []

    def add(self, request: RequestName, candidate: Candidate) -> bool:
        if not _concerns(self._constraint, request):
            return True
        value = attribute(candidate, self._constraint.attribute)
        if value is None or any(_same(value, other) for other in self._values):
            return False
        self._values.append(value)
        return True

    def remove(self, request: RequestName) -> None:
        if _concerns(self._constraint, request):
            self._values.pop()


class _DistinctByRequest:
    """As up to 1.36: a request's second device overwrites its first, so the third may equal the first."""

    def __init__(self, constraint: DeviceConstraint) -> None:
        self._constraint = constraint
        self._values: dict[str, AttributeValue] = {}
        self._count = 0

    def add(self, request: RequestName, candidate: Candidate) -> bool:
        if not _concerns(self._constraint, request):
            return True
        value = attribute(candidate, self._constraint.attribute)
        if value is None:
            return False
        if self._count and any(_same(value, other) for other in self._values.values()):
            return False
        self._values[request[0]] = value
        self._count += 1
        return True

    def remove(self, request: RequestName) -> None:
        if _concerns(self._constraint, request):
            self._values.pop(request[0], None)
            self._count -= 1
