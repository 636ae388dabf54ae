"""Money is exact, rounds once, and never mixes currencies."""

from decimal import ROUND_HALF_EVEN, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.money import (
    Basis,
    Price,
    Unpriced,
    UnpricedReason,
    difference,
    from_micros,
    hourly_from_monthly,
    monthly_micros,
    split_micros,
    to_micros,
    total_by_currency,
)

AMOUNTS = st.decimals(min_value=0, max_value=10**6, places=9)


def price(micros: int, currency: str = "USD") -> Price:
    return Price(micros, currency, Basis.LIST, "here")


UNKNOWN = Unpriced(UnpricedReason.REGION_UNKNOWN, "no label")


@given(AMOUNTS)
def test_micros_round_half_to_even(amount: Decimal) -> None:
    oracle = int((amount * 1_000_000).quantize(Decimal(1), rounding=ROUND_HALF_EVEN))
    assert to_micros(amount) == oracle


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_micros_survive_being_written(micros: int) -> None:
    assert to_micros(from_micros(micros)) == micros


@pytest.mark.parametrize(("micros", "text"), [(192_000, "0.192"), (55_040_000, "55.04"), (0, "0.00"), (5, "0.000005")])
def test_amounts_are_written_without_noise(micros: int, text: str) -> None:
    assert str(from_micros(micros)) == text


@pytest.mark.parametrize("amount", ["NaN", "Infinity", "1e13"])
def test_what_is_no_amount_is_refused(amount: str) -> None:
    with pytest.raises(ValueError, match=r"amount|range"):
        to_micros(Decimal(amount))


def test_a_month_is_730_hours() -> None:
    assert monthly_micros(192_000) == 140_160_000
    assert hourly_from_monthly(Decimal("140.16")) == 192_000


@given(AMOUNTS)
def test_a_monthly_amount_comes_back_within_half_a_micro_an_hour(amount: Decimal) -> None:
    assert abs(monthly_micros(hourly_from_monthly(amount)) - amount * 1_000_000) <= 365


@given(st.integers(0, 10**12), st.lists(st.integers(0, 10**9), min_size=1, max_size=8))
def test_parts_of_a_price_sum_to_the_price_whatever_the_weights(total: int, weights: list[int]) -> None:
    parts = split_micros(total, weights)
    assert sum(parts) == total
    assert min(parts) >= 0
    whole = sum(weights)
    if whole:
        assert all(abs(part * whole - total * weight) < whole for part, weight in zip(parts, weights, strict=True))


def test_weights_must_make_sense() -> None:
    with pytest.raises(ValueError, match="weights"):
        split_micros(10, [])
    with pytest.raises(ValueError, match="weights"):
        split_micros(10, [1, -1])


def test_currencies_are_summed_apart_and_the_unpriced_left_out() -> None:
    assert total_by_currency([price(1), price(2, "EUR"), UNKNOWN, price(3)]) == {"EUR": 2, "USD": 4}


def test_a_node_that_lost_its_price_did_not_become_cheaper() -> None:
    assert difference(price(5), UNKNOWN) is None
    assert difference(UNKNOWN, price(5)) is None
    assert difference(price(5), price(5, "EUR")) is None
    assert difference(price(5), price(2)) == -3
