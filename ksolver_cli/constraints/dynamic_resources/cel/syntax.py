"""Parsing CEL into a small tree. Source: the CEL language definition (grammar, operators, macros)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ksolver_cli.constraints.dynamic_resources.cel.values import INT64, UnsupportedError, Value

MAX_TOKENS = 600
"""Longer expressions are declined: no selector in use comes near it, and the tree is walked recursively."""

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<number>(?:0x[0-9a-fA-F]+|\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+)u?)
    |(?P<string>[rR]?(?:\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<op>&&|\|\||==|!=|<=|>=|\.\?|\[\?|[-+*/%<>!?:.,()\[\]])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)")
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"} | {
    mark: mark for mark in "\\'\"`?"
}
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "null": None}
_LEVELS = (("||",), ("&&",), ("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
MACROS = frozenset({"all", "exists", "exists_one", "filter", "map"})


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Select:
    """`target.field`; optional with `.?`."""

    target: "Node"
    field: str
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Index:
    """`target[key]`; optional with `[?`."""

    target: "Node"
    key: "Node"
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function; a method has its target as the first argument."""

    function: str
    args: tuple["Node", ...]
    is_method: bool = False


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list display."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """A macro over a list: `target.exists(variable, body)` and its like; `cel.bind` has the kind `bind`."""

    kind: str
    target: "Node"
    variable: str
    body: "Node"


Node = Literal | Name | Select | Index | Call | ListOf | Loop


@lru_cache(maxsize=4096)
def parse(expression: str) -> Node:
    """The tree of an expression. Raises UnsupportedError for what is no CEL, or CEL that is not modelled."""
    parser = _Parser(list(_tokens(expression)))
    tree = parser.ternary()
    parser.expect("")
    return tree


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    position = count = 0
    while position < len(expression):
        match = _TOKEN.match(expression, position)
        if match is None:
            raise UnsupportedError(f"{expression[position : position + 12]!r} in a CEL expression")
        position = match.end()
        if match.lastgroup == "space":
            continue
        count += 1
        if count > MAX_TOKENS:
            raise UnsupportedError(f"a CEL expression of more than {MAX_TOKENS} words")
        yield str(match.lastgroup), match.group()
    yield "end", ""


class _Parser:
    """Recursive descent over the tokens, one method a rule of the grammar."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._position = 0
        self._depth = 0

    def _peek(self) -> str:
        kind, text = self._tokens[self._position]
        return text if kind in ("op", "end") or text == "in" else ""

    def _take(self, *wanted: str) -> str:
        """The next token where it is one of the wanted, else the empty string."""
        text = self._peek()
        if not text or text not in wanted:
            return ""
        self._position += 1
        return text

    def expect(self, wanted: str) -> None:
        """Move past a token that must be here; the empty string is the end."""
        kind, text = self._tokens[self._position]
        if text != wanted or kind == "string" or (kind == "end") != (wanted == ""):
            raise UnsupportedError(f"{text or 'the end'!r} where a CEL expression needs {wanted or 'its end'!r}")
        self._position += 0 if kind == "end" else 1

    def ternary(self) -> Node:
        """The whole of an expression."""
        self._depth += 1
        if self._depth > 60:
            raise UnsupportedError("a CEL expression nested more than 60 deep")
        condition = self._binary(0)
        if self._take("?"):
            yes = self._binary(0)
            self.expect(":")
            condition = Call("?:", (condition, yes, self.ternary()))
        self._depth -= 1
        return condition

    def _binary(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._take(*_LEVELS[level]):
            right = self._binary(level + 1)
            chained = operator in ("||", "&&") and isinstance(left, Call) and left.function == operator
            left = Call(operator, (*left.args, right) if chained and isinstance(left, Call) else (left, right))
        return left

    def _unary(self) -> Node:
        if self._take("!"):
            return Call("!", (self._unary(),))
        if self._take("-"):
            operand = self._unary()
            if isinstance(operand, Literal) and isinstance(operand.value, (int, float)):
                return Literal(-operand.value)
            return Call("neg", (operand,))
        return self._member(self._primary())

    def _member(self, target: Node) -> Node:
        while step := self._take(".", ".?", "[", "[?"):
            if step.startswith("["):
                target = Index(target, self.ternary(), step == "[?")
                self.expect("]")
                continue
            name = self._name()
            if step == "." and self._take("("):
                target = self._method(target, name)
            else:
                target = Select(target, name, step == ".?")
        return target

    def _name(self) -> str:
        kind, text = self._tokens[self._position]
        if kind != "name":
            raise UnsupportedError(f"{text!r} where a CEL expression needs a name")
        self._position += 1
        return text

    def _method(self, target: Node, name: str) -> Node:
        args = self._arguments(")")
        if target == Name("cel") and name == "bind" and len(args) == 3 and isinstance(args[0], Name):
            return Loop("bind", args[1], args[0].name, args[2])
        if name in MACROS and len(args) == 2 and isinstance(args[0], Name):
            return Loop(name, target, args[0].name, args[1])
        return Call(name, (target, *args), is_method=True)

    def _arguments(self, end: str) -> tuple[Node, ...]:
        args: list[Node] = []
        while not self._take(end):
            args.append(self.ternary())
            if not self._take(","):
                self.expect(end)
                break
        return tuple(args)

    def _primary(self) -> Node:
        kind, text = self._tokens[self._position]
        if self._take("("):
            inner = self.ternary()
            self.expect(")")
            return inner
        if self._take("["):
            return ListOf(self._arguments("]"))
        reader: Callable[[str], Value] | None = {"number": _number, "string": _string}.get(kind)
        if reader is not None:
            self._position += 1
            return Literal(reader(text))
        name = self._name()
        if name in _CONSTANTS:
            return Literal(_CONSTANTS[name])
        return self._call(name) if self._take("(") else Name(name)

    def _call(self, name: str) -> Node:
        args = self._arguments(")")
        if name != "has":
            return Call(name, args)
        if len(args) != 1 or not isinstance(args[0], Select):
            raise UnsupportedError("has() of something other than a field")
        return Call("has", (args[0].target, Literal(args[0].field)))


def _number(text: str) -> Value:
    if text.endswith("u"):
        raise UnsupportedError("an unsigned number in a CEL expression")
    if not text.startswith("0x") and any(mark in text for mark in ".eE"):
        return float(text)
    value = int(text, 16) if text.startswith("0x") else int(text)
    # The sign comes later: -2^63 is written as a minus before 2^63.
    if value not in INT64 and value != 1 << 63:
        raise UnsupportedError("a number of more than 64 bits in a CEL expression")
    return value


def _string(text: str) -> str:
    if text[0] in "rR":
        return text[2:-1]
    return _ESCAPE.sub(lambda match: _unescaped(match.group(1)), text[1:-1])


def _unescaped(mark: str) -> str:
    if mark in _PLAIN_ESCAPES:
        return _PLAIN_ESCAPES[mark]
    if len(mark) == 1:
        raise UnsupportedError(f"the escape \\{mark} in a CEL string")
    code = int(mark, 8) if mark.isdigit() else int(mark[1:], 16)
    if code > 0x10FFFF:
        raise UnsupportedError("an escape beyond Unicode in a CEL string")
    return chr(code)
