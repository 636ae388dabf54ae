"""Evaluating a CEL tree on one device."""

from collections.abc import Callable, Mapping

from ksolver_cli.constraints.dynamic_resources.cel.functions import call
from ksolver_cli.constraints.dynamic_resources.cel.syntax import (
    Call,
    Index,
    ListOf,
    Literal,
    Loop,
    Name,
    Node,
    Select,
    parse,
)
from ksolver_cli.constraints.dynamic_resources.cel.values import (
    CelError,
    Maybe,
    UnsupportedError,
    Value,
    contains,
    equal,
    integer,
    less,
    no_overload,
)

Scope = Mapping[str, Value]
_NO_FIELD = Maybe()
_COMPARISONS: Mapping[str, Callable[[Value, Value], bool]] = {
    "==": equal,
    "!=": lambda left, right: not equal(left, right),
    "<": less,
    "<=": lambda left, right: not less(right, left),
    ">": lambda left, right: less(right, left),
    ">=": lambda left, right: not less(left, right),
    "in": lambda left, right: contains(right, left),
}


class WithDefault(dict[str, Value]):
    """A map whose missing keys read as an empty map, as device attributes of a domain nobody publishes do.

    Only reading is so: `in` still says that the key is not there.
    """

    def __missing__(self, key: str) -> Value:
        return {}


def matches(expression: str, scope: Scope) -> bool:
    """Whether an expression is true for the variables in scope.

    Raises CelError where the CEL runtime would fail, UnsupportedError for what is not modelled.
    """
    result = _value(parse(expression), scope)
    if not isinstance(result, bool):
        raise CelError("CEL result could not be converted to bool")
    return result


def _value(node: Node, scope: Scope) -> Value:
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Name):
        return _variable(node.name, scope)
    if isinstance(node, Select):
        return _lookup(_value(node.target, scope), node.field, node.optional)
    if isinstance(node, Index):
        return _lookup(_value(node.target, scope), _value(node.key, scope), node.optional)
    if isinstance(node, ListOf):
        return tuple(_value(item, scope) for item in node.items)
    return _loop(node, scope) if isinstance(node, Loop) else _call(node, scope)


def _variable(name: str, scope: Scope) -> Value:
    if name not in scope:
        raise UnsupportedError(f"the CEL name {name}")
    return scope[name]


def _lookup(target: Value, key: Value, optional: bool) -> Value:
    """A field, map entry or list element; of an optional, or asked for optionally, an optional again."""
    if isinstance(target, Maybe):
        return _lookup(target.value, key, True) if target.is_set else _NO_FIELD
    if isinstance(target, tuple):
        found = isinstance(key, int) and not isinstance(key, bool) and 0 <= key < len(target)
        if not found and not optional:
            raise CelError(f"index out of bounds: {key}")
        return _optional(target[key] if found and isinstance(key, int) else None, found, optional)
    if not isinstance(target, Mapping):
        raise no_overload()
    found = isinstance(key, str) and (key in target or isinstance(target, WithDefault))
    if not found and not optional:
        raise CelError(f"no such key: {key}")
    return _optional(target[key] if found and isinstance(key, str) else None, found, optional)


def _optional(value: Value, found: bool, optional: bool) -> Value:
    return Maybe(value, found) if optional else value


def _call(node: Call, scope: Scope) -> Value:
    name = node.function
    if name in ("&&", "||"):
        return _logic(node.args, scope, stop=name == "||")
    if name == "?:":
        return _value(node.args[1 if _truth(_value(node.args[0], scope)) else 2], scope)
    args = tuple(_value(arg, scope) for arg in node.args)
    if name == "has":
        return _has(args[0], args[1])
    if name == "!":
        return not _truth(args[0])
    if name in _COMPARISONS:
        return _COMPARISONS[name](args[0], args[1])
    if name in ("+", "-", "*", "/", "%", "neg"):
        return _arithmetic(name, args)
    return call(name, args, is_method=node.is_method)


def _logic(operands: tuple[Node, ...], scope: Scope, *, stop: bool) -> bool:
    """`||` (stop at true) and `&&` (stop at false): one operand that decides outweighs errors in the others."""
    failed: CelError | None = None
    for operand in operands:
        try:
            if _truth(_value(operand, scope)) is stop:
                return stop
        except CelError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return not stop


def _truth(value: Value) -> bool:
    if not isinstance(value, bool):
        raise no_overload()
    return value


def _has(target: Value, field: Value) -> bool:
    if isinstance(target, Maybe):
        return target.is_set and _has(target.value, field)
    if not isinstance(target, Mapping):
        raise no_overload()
    return field in target


def _arithmetic(operator: str, args: tuple[Value, ...]) -> Value:
    if operator == "neg":
        return _arithmetic("-", (0, args[0]))
    left, right = args
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if operator == "+" and isinstance(left, tuple) and isinstance(right, tuple):
        return left + right
    if isinstance(left, bool) or isinstance(right, bool):
        raise no_overload()
    if isinstance(left, int) and isinstance(right, int):
        return _integer_arithmetic(operator, left, right)
    if isinstance(left, float) and isinstance(right, float) and operator in "+-*":
        return {"+": left + right, "-": left - right, "*": left * right}[operator]
    raise no_overload() if operator != "/" else UnsupportedError("division of fractions in CEL")


def _integer_arithmetic(operator: str, left: int, right: int) -> int:
    """Whole numbers of 64 bits; division goes toward zero, as in Go."""
    if operator in "/%":
        if right == 0:
            raise CelError("division by zero" if operator == "/" else "modulus by zero")
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return integer(quotient) if operator == "/" else left - quotient * right
    return integer({"+": left + right, "-": left - right, "*": left * right}[operator])


def _loop(node: Loop, scope: Scope) -> Value:
    target = _value(node.target, scope)
    if node.kind == "bind":
        return _value(node.body, {**scope, node.variable: target})
    if isinstance(target, Mapping):
        target = tuple(target)
    if not isinstance(target, tuple):
        raise no_overload()
    bodies = tuple(_Bound(node.body, {**scope, node.variable: element}) for element in target)
    if node.kind == "map":
        return tuple(body.value() for body in bodies)
    if node.kind == "filter":
        return tuple(element for element, body in zip(target, bodies, strict=True) if _truth(body.value()))
    if node.kind == "exists_one":
        return sum(_truth(body.value()) for body in bodies) == 1
    return _quantified(bodies, stop=node.kind == "exists")


class _Bound:
    """The body of a macro with its variable set."""

    def __init__(self, body: Node, scope: Scope) -> None:
        self._body = body
        self._scope = scope

    def value(self) -> Value:
        return _value(self._body, self._scope)


def _quantified(bodies: tuple[_Bound, ...], *, stop: bool) -> bool:
    failed: CelError | None = None
    for body in bodies:
        try:
            if _truth(body.value()) is stop:
                return stop
        except CelError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    return not stop
