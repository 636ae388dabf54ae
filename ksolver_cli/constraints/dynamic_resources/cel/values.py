"""What CEL expressions compute with: equality, order and semantic versions, as Kubernetes extends them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ksolver_cli.domain.devices import VersionValue
from ksolver_cli.domain.quantity import Quantity

INT64 = range(-(1 << 63), 1 << 63)

_SEMVER = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?"
)


class CelError(ValueError):
    """The expression fails on this device, in the words of the CEL runtime."""


class UnsupportedError(ValueError):
    """The expression uses something that is not modelled; the text names it."""


@dataclass(frozen=True, slots=True)
class Maybe:
    """A CEL optional: a value, or none."""

    value: "Value | None" = None
    is_set: bool = False


Value = None | bool | int | float | str | Quantity | VersionValue | Maybe | tuple["Value", ...] | Mapping[str, "Value"]


def no_overload() -> CelError:
    """The error of an operator that does not know the types it is given."""
    return CelError("no such overload")


def equal(left: Value, right: Value) -> bool:
    """CEL's `==`: values of different kinds are different, numbers compare by amount."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left == right
    if isinstance(left, VersionValue) and isinstance(right, VersionValue):
        return compare_versions(left, right) == 0
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    return type(left) is type(right) and left == right


def less(left: Value, right: Value) -> bool:
    """CEL's `<` on two numbers, two strings or two booleans. Raises CelError for anything else."""
    if isinstance(left, bool) and isinstance(right, bool):
        return left < right
    if isinstance(left, bool) or isinstance(right, bool):
        raise no_overload()
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        return left < right
    if isinstance(left, str) and isinstance(right, str):
        return left < right
    raise no_overload()


def contains(container: Value, item: Value) -> bool:
    """CEL's `in`: an element of a list, or a key of a map. Raises CelError for anything else."""
    if isinstance(container, tuple):
        return any(equal(item, element) for element in container)
    if isinstance(container, Mapping):
        return isinstance(item, str) and item in container
    raise no_overload()


def integer(value: int) -> int:
    """The value, where it fits 64 bits. Raises CelError."""
    if value not in INT64:
        raise CelError("integer overflow")
    return value


def is_version(text: str) -> bool:
    """Whether the text is a semantic version in its strict form."""
    match = _SEMVER.fullmatch(text)
    if match is None:
        return False
    parts = (match.group(4) or "").split(".")
    return not any(part.isdigit() and len(part) > 1 and part[0] == "0" for part in parts)


def compare_versions(left: VersionValue, right: VersionValue) -> int:
    """-1, 0 or 1 by semantic version precedence; build metadata does not count. Raises CelError on a malformed one."""
    mine, theirs = _precedence(left), _precedence(right)
    return (mine > theirs) - (mine < theirs)


def version_part(version: VersionValue, index: int) -> int:
    """Major (0), minor (1) or patch (2) of a version. Raises CelError on a malformed one."""
    return _precedence(version)[0][index]


Precedence = tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]


def _precedence(version: VersionValue) -> Precedence:
    """A key that sorts as semantic versions do: releases after their pre-releases, numbers before words."""
    match = _SEMVER.fullmatch(version.text)
    if match is None:
        raise CelError(f"parse semantic version: {version.text}")
    core = (int(match.group(1)), int(match.group(2)), int(match.group(3)))
    pre = match.group(4)
    parts = () if pre is None else tuple(_identifier(part) for part in pre.split("."))
    return core, pre is None, parts


def _identifier(part: str) -> tuple[bool, int, str]:
    return (False, int(part), "") if part.isdigit() else (True, 0, part)
