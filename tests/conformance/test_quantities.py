"""Quantities mean what apimachinery says they mean, for every recorded string and pair."""

import json
from decimal import Decimal

import pytest

from ksolver_cli.domain.quantity import Quantity, QuantityError, parse_quantity
from tests.paths import CASES

PATH = CASES / "quantity_cases.json"
if not PATH.exists():
    pytest.skip("the recorded quantities are not here", allow_module_level=True)
RECORDED = json.loads(PATH.read_text())
VALID = [case for case in RECORDED["cases"] if case["ok"]]
INVALID = [case["input"] for case in RECORDED["cases"] if not case["ok"]]


def exact(case: dict, name: str) -> int:
    """The true integer, also where Go's own accessor overflows."""
    return int(case[f"{name}_exact"]) if case.get(f"{name}_overflow") else case[name]


@pytest.mark.parametrize("case", VALID, ids=lambda case: repr(case["input"]))
def test_a_valid_quantity_is_read_exactly(case: dict) -> None:
    quantity = parse_quantity(case["input"])
    assert Decimal(quantity.nanos).scaleb(-9) == Decimal(case["exact_decimal"])
    assert (quantity.value(), quantity.milli_value()) == (exact(case, "value"), exact(case, "milli_value"))
    assert str(quantity) == case["canonical"]
    assert str(quantity.format) == case["format"]


@pytest.mark.parametrize("text", INVALID, ids=repr)
def test_an_invalid_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


@pytest.mark.parametrize("pair", RECORDED["pairs"], ids=lambda pair: f"{pair['a']}, {pair['b']}")
def test_pairs_compare_add_and_subtract(pair: dict) -> None:
    left, right = parse_quantity(pair["a"]), parse_quantity(pair["b"])
    assert (left > right) - (left < right) == pair["cmp"]
    assert (left == right) == (pair["cmp"] == 0)
    assert str(left + right) == pair["add"]
    assert str(left - right) == pair["sub"]


def test_the_recorded_cases_are_all_here() -> None:
    assert len(VALID) > 200
    assert len(INVALID) > 20
    assert isinstance(parse_quantity(VALID[0]["input"]), Quantity)
