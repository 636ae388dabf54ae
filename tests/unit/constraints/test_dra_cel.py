"""CEL as device selectors use it: values, errors, and what is declined."""

import operator
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.constraints.dynamic_resources.cel.evaluate import WithDefault, matches
from ksolver_cli.constraints.dynamic_resources.cel.values import CelError, UnsupportedError, Value, compare_versions
from ksolver_cli.domain.devices import VersionValue
from ksolver_cli.domain.quantity import parse_quantity

GPU: dict[str, Value] = {"model": "A100", "numa": 0, "ok": True, "driver": VersionValue("550.90.7")}
DEVICE: dict[str, Value] = {
    "driver": "gpu.example.com",
    "attributes": WithDefault({"gpu.example.com": GPU}),
    "capacity": WithDefault({"gpu.example.com": {"memory": parse_quantity("40Gi")}}),
}
A = "device.attributes['gpu.example.com']"
C = "device.capacity['gpu.example.com']"


def holds(expression: str) -> bool:
    return matches(expression, {"device": DEVICE})


TRUE = [
    "true && !false",
    "device.driver == 'gpu.example.com'",
    f"{A}.model == 'A100' || {A}.nothing",
    f"{A}.nothing || {A}.ok",
    f"!({A}.nothing && {A}.numa == 1)",
    f"has({A}.model) && !has({A}.nothing) && !has(device.attributes['else'].where)",
    f"'model' in {A} && !('else' in device.attributes) && {A}.numa in [0, 1]",
    f"{C}.memory.compareTo(quantity('40Gi')) == 0 && {C}.memory.isGreaterThan(quantity('39Gi'))",
    f"{C}.memory.add(quantity('1Gi')).isLessThan(quantity('42Gi')) && sign({C}.memory) == 1",
    f"{C}.memory == quantity('40960Mi') && {C}.memory.asInteger() > 40 * 1024 * 1024",
    f"{A}.driver.compareTo(semver('550.100.0')) < 0 && {A}.driver.major() == 550",
    f"{A}.driver.isGreaterThan(semver('550.90.7-rc.1')) && isSemver('1.2.3') && !isSemver('1.2')",
    f"{A}.model.lowerAscii().startsWith('a1') && {A}.model.endsWith('00') && {A}.model.contains('10')",
    f"{A}.model.matches('^A[0-9]{{3}}$') && !{A}.model.matches('a100')",
    f"size({A}.model) == 4 && {A}.model.size() + 1 == 5",
    f"{A}.?nothing.orValue('none') == 'none' && {A}.?model.orValue('x') == 'A100'",
    "!device.attributes[?'else'].?where.hasValue()",
    f"cel.bind(a, {A}, a.ok && a.numa == 0)",
    f"['A100', 'H100'].exists(m, m == {A}.model) && [1, 2].all(x, x > 0) && [1, 2].exists_one(x, x == 2)",
    "[1, 2, 3].filter(x, x > 1) == [2, 3] && [1, 2].map(x, x * 2) == [2, 4]",
    f"{A}.numa == 0 ? {A}.ok : {A}.nothing",
    "-7 / 2 == -3 && -7 % 2 == -1 && 7 - 2 * 3 == 1",
    "1 < 1.5 && 2.5 >= 2 && 'a' < 'b' && false < true",
    f"{A}.numa != '0' && {A}.numa != false && {A}.ok != 1",
    "'a\\tb\\x41' == \"a\tbA\" && r'\\d' == '\\\\d'",
    "string(5) == '5' && int('5') == 5 && double(2) == 2.0",
    "'a,b'.split(',') == ['a', 'b'] && 'aba'.replace('a', 'c') == 'cbc' && ' x '.trim() == 'x'",
    "// a remark\n true",
]


FAILING = [
    (f"{A}.nothing", "no such key: nothing"),
    (f"{A}.nothing && true", "no such key: nothing"),
    (f"false || {C}.nothing.asInteger() > 0", "no such key: nothing"),
    (f"{A}.model < 5", "no such overload"),
    (f"{A}.model + 1 == 5", "no such overload"),
    (f"{A}.numa.startsWith('x')", "no such overload"),
    ("1 / 0 == 1", "division by zero"),
    ("[1][3] == 1", "index out of bounds: 3"),
    ("9223372036854775807 + 1 > 0", "integer overflow"),
    (f"{A}.model", "could not be converted to bool"),
    (f"[1, 2].all(x, {A}.nothing)", "no such key: nothing"),
]


@pytest.mark.parametrize("expression", TRUE)
def test_true(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize(("expression", "words"), FAILING)
def test_failing(expression: str, words: str) -> None:
    with pytest.raises(CelError, match=words):
        holds(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "device.driver ==",
        "(true",
        "true)",
        "unknown == 1",
        "timestamp('2024-01-01T00:00:00Z') == now",
        f"{A}.model.format([])",
        f"{A}.model.matches('(?=A)')",
        f"{A}.model.matches('(a+)+b')",
        "1u == 1u",
        "'\\q' == 'q'",
        "has(device)",
        "{'a': 1} == {'a': 1}",
        "&& true",
        "(" * 100 + "true" + ")" * 100,
        " || ".join(["true"] * 400),
        "99999999999999999999 > 1",
    ],
)
def test_declined(expression: str) -> None:
    with pytest.raises(UnsupportedError):
        holds(expression)


@given(st.text(max_size=40))
def test_no_text_breaks_the_parser(text: str) -> None:
    with suppress(CelError, UnsupportedError):
        assert holds(text) in (True, False)


WORDS = st.sampled_from((
    "device", ".", "attributes", "[", "]", "'gpu.example.com'", "numa", "(", ")", "==", "&&", "||", "!", "1", "true",
    "has", "in", "?", ":", ",", "-", "%", "size", "exists", "x", "quantity", "'1Gi'", "matches", ".?", "<",
))  # fmt: skip


@given(st.lists(WORDS, max_size=25))
def test_no_words_break_the_evaluator(words: list[str]) -> None:
    with suppress(CelError, UnsupportedError):
        assert holds(" ".join(words)) in (True, False)


COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@given(st.integers(-99, 99), st.integers(-99, 99), st.integers(-99, 99), st.sampled_from(sorted(COMPARED)))
def test_arithmetic_and_order_of_numbers(a: int, b: int, c: int, compare: str) -> None:
    assert holds(f"{a} + {b} * {c} {compare} {a} - {b}") == COMPARED[compare](a + b * c, a - b)


@given(st.booleans(), st.booleans(), st.booleans())
def test_and_binds_tighter_than_or(a: bool, b: bool, c: bool) -> None:
    words = [str(value).lower() for value in (a, b, c)]
    assert holds(f"{words[0]} || {words[1]} && {words[2]}") == (a or (b and c))
    assert holds(f"!{words[0]} && {words[1]} || {words[2]}") == (((not a) and b) or c)


def test_versions_sort_as_semantic_versioning_says() -> None:
    ordered = ["1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1"]
    ordered += ["1.0.0", "1.2.0", "1.10.0"]
    for i, left in enumerate(ordered):
        for j, right in enumerate(ordered):
            assert compare_versions(VersionValue(left), VersionValue(right)) == (i > j) - (i < j)
    assert compare_versions(VersionValue("1.0.0+a"), VersionValue("1.0.0+b")) == 0
