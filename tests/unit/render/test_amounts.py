"""Money as people read it."""

from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.render.amounts import hourly, monthly, percent


@pytest.mark.parametrize(
    ("micros", "text"),
    [
        (0, "$0.00"),
        (192_000, "$140"),
        (96_000, "$70.08"),
        (-192_000, "−$140"),
        (1, "$0.00"),
        (136_986, "$100"),
        (55_040_000_000, "$40,179,200"),
    ],
)
def test_a_month_is_730_hours(micros: int, text: str) -> None:
    assert monthly(micros, "USD") == text


@given(st.integers(min_value=0, max_value=10**15))
def test_a_month_is_rounded_once_and_half_up(micros: int) -> None:
    exact = Decimal(micros) * 730 / 1_000_000
    cents = exact.quantize(Decimal("0.01"), ROUND_HALF_UP)
    shown = Decimal(monthly(micros, "USD").removeprefix("$").replace(",", ""))
    assert abs(shown - exact) <= (Decimal("0.505") if cents >= 99 else Decimal("0.005"))


def test_an_unknown_currency_is_shown_as_given() -> None:
    assert monthly(1_000_000, "CHF") == "CHF 730"
    assert hourly(1_500_000, "CHF") == "CHF 1.50"


def test_an_hour_below_one_has_four_decimals() -> None:
    assert hourly(192_000, "USD") == "$0.1920"


def test_nothing_has_no_percentage() -> None:
    assert percent(0, 0) == "–"
    assert percent(1, 3) == "33 %"
    assert percent(1, 300) == "0.3 %"
