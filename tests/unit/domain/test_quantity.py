"""Quantities against exact fractions, for any spelling and any size."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.quantity import Format, Quantity, QuantityError, parse_quantity

SUFFIXES = {
    **{
        suffix: Fraction(10) ** power
        for suffix, power in zip(["n", "u", "m", "", *"kMGTPE"], range(-9, 21, 3), strict=True)
    },
    **{f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", start=1)},
    "e3": Fraction(1000),
    "E-3": Fraction(1, 1000),
    "e+6": Fraction(10**6),
}
CAP = 2**63 - 1


@st.composite
def spellings(draw: st.DrawFn) -> tuple[str, Fraction]:
    """Text and the exact number it spells, before Kubernetes rounds and caps it."""
    sign = draw(st.sampled_from(["", "+", "-"]))
    whole, fraction = draw(st.integers(0, 10**25)), draw(st.text("0123456789", max_size=25))
    suffix = draw(st.sampled_from(sorted(SUFFIXES)))
    point = "." if fraction or draw(st.booleans()) else ""
    number = (whole + Fraction(int(fraction or "0"), 10 ** len(fraction))) * SUFFIXES[suffix]
    return f"{sign}{whole}{point}{fraction}{suffix}", -number if sign == "-" else number


def rounded(number: Fraction, unit: Fraction) -> int:
    return sign(number) * math.ceil(abs(number) / unit)


def sign(number: Fraction) -> int:
    return (number > 0) - (number < 0)


@given(spellings())
def test_any_spelling_is_its_number_rounded_up_to_a_billionth(spelt: tuple[str, Fraction]) -> None:
    text, number = spelt
    quantity = parse_quantity(text)
    expected = rounded(number, Fraction(1, 10**9))
    if text.endswith("i"):
        expected = sign(number) * min(abs(expected), CAP * 10**9)
    assert quantity.nanos == expected


@given(spellings())
def test_value_and_milli_value_round_away_from_zero(spelt: tuple[str, Fraction]) -> None:
    quantity = parse_quantity(spelt[0])
    exact = Fraction(quantity.nanos, 10**9)
    assert quantity.value() == rounded(exact, Fraction(1))
    assert quantity.milli_value() == rounded(exact, Fraction(1, 1000))


@given(spellings(), spellings())
def test_arithmetic_is_exact_and_prints_what_parses_back(
    left: tuple[str, Fraction], right: tuple[str, Fraction]
) -> None:
    a, b = parse_quantity(left[0]), parse_quantity(right[0])
    assert (a + b).nanos == a.nanos + b.nanos
    assert a + b - b == a
    assert (a < b, a <= b, a == b) == (a.nanos < b.nanos, a.nanos <= b.nanos, a.nanos == b.nanos)
    # Past 2^63 a binary spelling would be capped when read again.
    if abs((a + b).nanos) <= CAP * 10**9:
        assert parse_quantity(str(a + b)) == a + b


@given(st.one_of(st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False, width=32)))
def test_a_json_number_reads_as_its_text(number: float) -> None:
    assert parse_quantity(number) == parse_quantity(repr(number))


@pytest.mark.parametrize(
    "junk", [None, True, float("nan"), float("inf"), [], {}, b"1", "1e400000000", "1" * 401, 10**400]
)
def test_what_is_no_quantity_is_refused(junk: object) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(junk)


def test_equal_amounts_are_one_key_whatever_their_spelling() -> None:
    assert {parse_quantity("1000m"): "one"}[parse_quantity("1")] == "one"
    assert parse_quantity("1Gi") != 1024**3
    assert parse_quantity("0.5Ki").format is Format.BINARY_SI


def test_beyond_the_largest_suffix_no_digit_is_lost() -> None:
    assert str(Quantity(10**30)) == "1000E"
    assert str(Quantity(1024**7 * 10**9, Format.BINARY_SI)) == "1024Ei"
