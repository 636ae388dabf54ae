"""Fleets whose cost is known, priced from the catalogs alone."""

import gzip
import json

import pytest

from ksolver_cli.catalog.nodes import pricing_facts
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.domain.money import Unpriced, from_micros, total_by_currency
from ksolver_cli.normalise.fields import Field
from ksolver_cli.normalise.objects.nodes import read_node
from tests.paths import DATA

EXPECTED = DATA / "drain" / "expect.json"
pytestmark = pytest.mark.skipif(not EXPECTED.exists(), reason="the clusters to drain are not here")


@pytest.mark.parametrize("name", ["c50_1", "c50_2", "c200_1", "c200_2", "c1000_1"])
def test_the_fleet_costs_what_it_should(name: str) -> None:
    expected = json.loads(EXPECTED.read_text())["instances"][name]["cost_per_hour"]
    with gzip.open(DATA / "drain" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        items = [item for item in json.load(file)["items"] if item["kind"] == "Node"]
    prices = price_nodes([pricing_facts(read_node(Field(item))) for item in items])
    assert not [name for name, price in prices.items() if isinstance(price, Unpriced)]
    # The cost is given in cents.
    assert round(float(from_micros(total_by_currency(prices.values())["USD"])), 2) == expected
