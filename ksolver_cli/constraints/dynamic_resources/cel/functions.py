"""Functions of CEL and of Kubernetes' extensions (strings, quantities, semantic versions) that selectors use."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from ksolver_cli.constraints.dynamic_resources.cel.values import (
    CelError,
    Maybe,
    UnsupportedError,
    Value,
    compare_versions,
    integer,
    is_version,
    no_overload,
    version_part,
)
from ksolver_cli.domain.devices import VersionValue
from ksolver_cli.domain.quantity import NANOS, Quantity, QuantityError, parse_quantity

Args = tuple[Value, ...]
Function = Callable[..., Value]

_NOT_RE2 = re.compile(r"\(\?(?:=|!|<=|<!|>|\()|\\[1-9]|[*+?}]\+")
"""Lookarounds, conditions, back references and possessive repeats: Python reads them, RE2 does not."""
_SLOW = re.compile(r"[*+}][^()]*\)[*+{]")
"""A repeat within a repeat can take for ever in Python; RE2 takes it in its stride."""
_ASCII_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_ASCII_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def call(name: str, args: Args, *, is_method: bool) -> Value:
    """The value of a function or method. Raises CelError where it fails, UnsupportedError where it is not modelled."""
    kind = _kind(args[0]) if is_method and args else ""
    table: Mapping[str, Function] = _METHODS.get(kind, {}) if is_method else _FUNCTIONS
    function = table.get(name)
    if function is not None and _fits(name, args):
        return function(*args)
    known = name in _FUNCTIONS or any(name in methods for methods in _METHODS.values())
    if known and _fits(name, args):
        raise no_overload()
    raise UnsupportedError(f"the CEL function {name} with {len(args)} arguments")


def _fits(name: str, args: Args) -> bool:
    return len(args) in _ARITY.get(name, (1,))


def _kind(value: Value) -> str:
    kinds: tuple[tuple[type, str], ...] = (
        (str, "string"),
        (Quantity, "quantity"),
        (VersionValue, "version"),
        (Maybe, "maybe"),
        (tuple, "list"),
        (Mapping, "map"),
    )
    return next((name for kind, name in kinds if isinstance(value, kind)), "")


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise no_overload()
    return value


def _amount(value: Value) -> Quantity:
    if not isinstance(value, Quantity):
        raise no_overload()
    return value


def _version(value: Value) -> VersionValue:
    if not isinstance(value, VersionValue):
        raise no_overload()
    return value


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    if _NOT_RE2.search(text) or _SLOW.search(text):
        raise UnsupportedError(f"the pattern {text!r}")
    try:
        return re.compile(text, re.ASCII)
    except re.error:
        raise UnsupportedError(f"the pattern {text!r}") from None


def _quantity(value: Value) -> Quantity:
    try:
        return parse_quantity(_text(value))
    except QuantityError as error:
        raise CelError(f"quantities must match the regular expression: {error}") from None


def _is_quantity(value: Value) -> bool:
    try:
        parse_quantity(_text(value))
    except QuantityError:
        return False
    return True


def _semver(value: Value) -> VersionValue:
    if not is_version(_text(value)):
        raise CelError(f"parse semantic version: {value}")
    return VersionValue(_text(value))


def _size(value: Value) -> int:
    if isinstance(value, (str, tuple, Mapping)):
        return len(value)
    raise no_overload()


def _as_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    raise UnsupportedError("string() of something other than text, a whole number or a boolean")


def _as_integer(value: Value) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float):
        return integer(int(value))
    if isinstance(value, str) and re.fullmatch(r"[+-]?[0-9]+", value, re.ASCII):
        return integer(int(value))
    raise CelError("type conversion error") if isinstance(value, str) else no_overload()


def _as_float(value: Value) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnsupportedError("double() of something other than a number")
    return float(value)


def _whole(quantity: Quantity) -> int:
    whole, rest = divmod(quantity.nanos, NANOS)
    if rest:
        raise CelError("cannot convert value to integer")
    return integer(whole)


def _compare(left: Quantity, right: Value) -> int:
    other = _amount(right)
    return (left > other) - (left < other)


def _add(left: Quantity, right: Value) -> Quantity:
    return left + (right if isinstance(right, Quantity) else Quantity(_plain_int(right) * NANOS))


def _sub(left: Quantity, right: Value) -> Quantity:
    return left - (right if isinstance(right, Quantity) else Quantity(_plain_int(right) * NANOS))


def _plain_int(value: Value) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise no_overload()
    return value


def _maybe_value(maybe: Maybe) -> Value:
    if not maybe.is_set:
        raise CelError("optional.none() dereference")
    return maybe.value


_FUNCTIONS: Mapping[str, Function] = {
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "semver": _semver,
    "isSemver": lambda value: is_version(_text(value)),
    "sign": lambda value: _compare(_amount(value), Quantity(0)),
    "size": _size,
    "string": _as_text,
    "int": _as_integer,
    "double": _as_float,
}

_METHODS: Mapping[str, Mapping[str, Function]] = {
    "string": {
        "startsWith": lambda text, prefix: text.startswith(_text(prefix)),
        "endsWith": lambda text, suffix: text.endswith(_text(suffix)),
        "contains": lambda text, part: _text(part) in text,
        "matches": lambda text, pattern: _pattern(_text(pattern)).search(text) is not None,
        "size": _size,
        "lowerAscii": lambda text: text.translate(_ASCII_LOWER),
        "upperAscii": lambda text: text.translate(_ASCII_UPPER),
        "trim": lambda text: text.strip(),
        "replace": lambda text, old, new: text.replace(_text(old), _text(new)),
        "split": lambda text, separator: tuple(text.split(_text(separator))) if separator else tuple(text),
        "indexOf": lambda text, part: text.find(_text(part)),
    },
    "quantity": {
        "compareTo": _compare,
        "isGreaterThan": lambda left, right: _compare(left, right) > 0,
        "isLessThan": lambda left, right: _compare(left, right) < 0,
        "isInteger": lambda quantity: quantity.nanos % NANOS == 0,
        "asInteger": _whole,
        "asApproximateFloat": lambda quantity: quantity.nanos / NANOS,
        "add": _add,
        "sub": _sub,
    },
    "version": {
        "compareTo": lambda left, right: compare_versions(left, _version(right)),
        "isGreaterThan": lambda left, right: compare_versions(left, _version(right)) > 0,
        "isLessThan": lambda left, right: compare_versions(left, _version(right)) < 0,
        "major": lambda version: version_part(version, 0),
        "minor": lambda version: version_part(version, 1),
        "patch": lambda version: version_part(version, 2),
    },
    "maybe": {
        "hasValue": lambda maybe: maybe.is_set,
        "value": _maybe_value,
        "orValue": lambda maybe, other: maybe.value if maybe.is_set else other,
    },
    "list": {"size": _size},
    "map": {"size": _size},
}

_TWO = "startsWith endsWith contains matches split indexOf compareTo isGreaterThan isLessThan add sub orValue"
_ARITY: Mapping[str, tuple[int, ...]] = dict.fromkeys(_TWO.split(), (2,)) | {"replace": (3,)}
"""How many arguments a function takes, its target counted; one where nothing is said."""
