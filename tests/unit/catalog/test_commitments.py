"""What is paid anyway saves nothing, until it ends."""

from datetime import date
from pathlib import Path

from ksolver_cli.catalog.facts import PricingOptions
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.catalog.userfile.model import UserPrices
from ksolver_cli.domain.money import Basis, Price, Unpriced, UnpricedReason
from tests.unit.catalog.nodes import node, price_file

RESERVED = """
commitments:
  - {name: m5 reserved, family: m5, region: us-east-1, count: 1, until: 2027-03-31}
"""
FLEET = [
    node("m5.large", name="small"),
    node("m5.xlarge", name="a"),
    node("m5.xlarge", name="b"),
    node("c5.large", name="c"),
]


def prices(user: UserPrices, today: date | None) -> dict[str, Price]:
    found = price_nodes(FLEET, user, PricingOptions(today=today))
    return {name: price for name, price in found.items() if isinstance(price, Price)}


def test_a_reserved_node_costs_nothing_at_the_margin_and_says_why(tmp_path: Path) -> None:
    price = prices(price_file(tmp_path, RESERVED), date(2027, 3, 31))["a"]
    assert (price.micros_per_hour, price.basis) == (0, Basis.COMMITTED)
    assert (price.committed_micros_per_hour, price.committed_until) == (192_000, "2027-03-31")
    assert price.assumption == "m5 reserved: paid until 2027-03-31 whether the node exists or not"


def test_only_as_many_nodes_as_were_bought_and_the_costliest_first(tmp_path: Path) -> None:
    found = prices(price_file(tmp_path, RESERVED), date(2027, 1, 1))
    assert [name for name, price in found.items() if price.basis is Basis.COMMITTED] == ["a"]


def test_without_a_count_all_that_match_are_covered(tmp_path: Path) -> None:
    user = price_file(tmp_path, RESERVED.replace("count: 1, ", ""))
    covered = [n for n, p in prices(user, date(2027, 1, 1)).items() if p.basis is Basis.COMMITTED]
    assert covered == ["small", "a", "b"]


def test_a_commitment_that_has_ended_covers_nothing(tmp_path: Path) -> None:
    found = prices(price_file(tmp_path, RESERVED), date(2027, 4, 1))
    assert all(price.basis is Basis.LIST for price in found.values())


def test_without_a_date_it_holds_and_says_that_it_was_not_checked(tmp_path: Path) -> None:
    price = prices(price_file(tmp_path, RESERVED), None)["a"]
    assert price.basis is Basis.COMMITTED
    assert "not checked" in (price.assumption or "")


def test_a_node_is_covered_once(tmp_path: Path) -> None:
    twice = RESERVED + "  - {name: second, family: m5, count: 1, until: 2028-01-01}\n"
    found = prices(price_file(tmp_path, twice), date(2027, 1, 1))
    assert [(n, p.committed_until) for n, p in found.items() if p.basis is Basis.COMMITTED] == [
        ("a", "2027-03-31"),
        ("b", "2028-01-01"),
    ]


def test_no_commitment_covers_spot_unless_it_says_so(tmp_path: Path) -> None:
    spot = node("n2-standard-4", "us-central1", provider_id="gce://p", labels={"cloud.google.com/gke-spot": "true"})
    text = "commitments: [{family: n2, until: 2027-01-01}]"
    found = price_nodes([spot], price_file(tmp_path, text))["n1"]
    assert isinstance(found, Price)
    assert found.basis is Basis.SPOT
    named = price_file(tmp_path, text.replace("family: n2", "family: n2, capacity_type: spot"))
    found = price_nodes([spot], named)["n1"]
    assert isinstance(found, Price)
    assert found.basis is Basis.COMMITTED


def test_a_committed_node_without_a_price_stays_unpriced(tmp_path: Path) -> None:
    user = price_file(tmp_path, "commitments: [{family: m99, until: 2027-01-01}]")
    found = price_nodes([node("m99.large")], user)["n1"]
    assert isinstance(found, Unpriced)
    assert found.reason is UnpricedReason.TYPE_NOT_IN_REGION


def test_reserved_capacity_is_paid_whether_used_or_not() -> None:
    found = price_nodes([node(labels={"karpenter.sh/capacity-type": "reserved"})])["n1"]
    assert isinstance(found, Price)
    assert (found.micros_per_hour, found.basis, found.committed_micros_per_hour) == (0, Basis.COMMITTED, 192_000)


def test_a_commitment_over_reserved_capacity_keeps_the_full_price(tmp_path: Path) -> None:
    reserved = node(labels={"karpenter.sh/capacity-type": "reserved"})
    found = price_nodes([reserved], price_file(tmp_path, RESERVED))["n1"]
    assert isinstance(found, Price)
    assert found.committed_micros_per_hour == 192_000
