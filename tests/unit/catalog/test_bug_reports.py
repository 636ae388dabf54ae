"""Faults that users of other tools reported about prices, as they must come out here."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.nodes import pricing_facts
from ksolver_cli.catalog.offerings import offerings
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.domain.money import Basis, Price, Unpriced, split_micros, to_micros
from ksolver_cli.normalise.fields import Field
from ksolver_cli.normalise.objects.nodes import read_node
from tests.paths import CASES
from tests.unit.catalog.nodes import price_file

REPORTS = CASES / "bug_reports.json"
pytestmark = pytest.mark.skipif(not REPORTS.exists(), reason="the reports of users are not here")
HOURLY = "test/hourly-price"


def report(name: str) -> dict[str, dict[str, object]]:
    found = next(bug for bug in json.loads(REPORTS.read_text())["bugs"] if bug["id"] == name)
    return {"input": found["input"], "right": found["right_outcome"]}


def facts(case: dict[str, dict[str, object]]) -> list[NodePricingFacts]:
    return [pricing_facts(read_node(Field(item))) for item in case["input"]["nodes"]]


def given_prices(case: dict[str, dict[str, object]]) -> str:
    """The prices that the case writes on its nodes, as a person would give them: by name."""
    notes = {n["metadata"]["name"]: n["metadata"].get("annotations", {}) for n in case["input"]["nodes"]}
    rows = [f"  - {{node: {name}, hourly: {a[HOURLY]}, per: node}}" for name, a in notes.items() if HOURLY in a]
    return "currency: USD\nprices:\n" + "\n".join(rows) + "\n"


def micros(found: Price | Unpriced) -> int:
    assert isinstance(found, Price), found
    return found.micros_per_hour


def test_parts_of_a_gpu_nodes_price_sum_to_it(tmp_path: Path) -> None:
    case = report("opencost-g5-components")
    price = micros(price_nodes(facts(case), price_file(tmp_path, given_prices(case)))["g5"])
    assert price == to_micros(Decimal("1.35296"))
    for weights in ([8, 32, 1], [1, 1, 1000], [0, 0, 1], [0, 0, 0]):
        assert sum(split_micros(price, weights)) == price


def test_unit_prices_given_by_the_user_are_used_as_they_are(tmp_path: Path) -> None:
    case = report("opencost-gpu-node-custom-prices")
    units = case["input"]["prices"]["custom_unit_hourly"]
    amounts = f"{{vcpu: {units['cpu_core']}, gib: {units['memory_gib']}, gpu: {units['gpu']}}}"
    found = price_nodes(facts(case), price_file(tmp_path, f"currency: USD\nprices: [{{hourly: {amounts}}}]"))
    right = {name: round(dollars * 1_000_000) for name, dollars in case["right"]["node_hourly"].items()}
    assert {name: micros(price) for name, price in found.items()} == right


def test_a_nodes_price_is_not_what_its_pods_ask_for(tmp_path: Path) -> None:
    case = report("opencost-node-vs-pods")
    found = price_nodes(facts(case), price_file(tmp_path, given_prices(case)))
    assert micros(found["n1"]) == to_micros(Decimal(str(case["right"]["node_hourly"]["n1"])))


def test_a_spot_node_without_a_known_price_is_said_to_have_none(tmp_path: Path) -> None:
    case = report("opencost-spot-without-feed")
    user = price_file(tmp_path, given_prices(case))
    found = price_nodes(facts(case), user)
    assert isinstance(found["sp"], Unpriced)
    assert micros(found["od"]) == 172_000


def test_a_stated_discount_off_on_demand_prices_it_and_is_shown(tmp_path: Path) -> None:
    case = report("opencost-spot-without-feed")
    text = given_prices(case) + "  - {instance_type: c5ad.2xlarge, region: eu-west-1, hourly: 0.344, per: node}\n"
    found = price_nodes(facts(case), price_file(tmp_path, text), PricingOptions(spot_factor=Decimal("0.4")))["sp"]
    assert isinstance(found, Price)
    assert (found.micros_per_hour, found.basis) == (137_600, Basis.ASSUMED)
    assert "0.4" in (found.assumption or "")


def test_the_types_that_replace_a_big_node_are_on_offer_with_their_allocatable() -> None:
    """aws/karpenter-provider-aws#3894: 8xlarge + 4xlarge, or three 4xlarge, come to 2.04 against 5.44."""
    offered = {o.shape.instance_type: o for o in offerings("aws", "us-east-1")}
    big, half = offered["c6i.8xlarge"], offered["c6i.4xlarge"]
    assert big.shape.allocatable_millicores == 31_850
    assert big.price.micros_per_hour + half.price.micros_per_hour == 3 * half.price.micros_per_hour == 2_040_000
    assert offered["c6i.32xlarge"].price.micros_per_hour == 5_440_000
