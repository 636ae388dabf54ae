"""What could be bought: only types whose shape and price are both known."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.offerings import Offering, offerings
from ksolver_cli.catalog.pods import pod_rates
from ksolver_cli.catalog.tables import bundled_catalog
from ksolver_cli.domain.money import Basis, CapacityType
from tests.unit.catalog.nodes import GIB, node, price_file


def by_type(found: tuple[Offering, ...]) -> dict[str, Offering]:
    return {o.shape.instance_type: o for o in found}


def test_offerings_have_a_shape_and_the_list_price() -> None:
    found = offerings("aws", "us-east-1")
    big = by_type(found)["c6i.8xlarge"]
    assert (big.shape.vcpu, big.shape.allocatable_millicores, big.shape.max_pods) == (32, 31850, 234)
    assert (big.price.micros_per_hour, big.price.basis) == (1_360_000, Basis.LIST)
    assert big.price.assumption is None


def test_they_come_cheapest_first() -> None:
    micros = [o.price.micros_per_hour for o in offerings("gcp", "us-central1")]
    assert micros == sorted(micros)
    assert micros[0] > 0


def test_a_price_without_a_shape_is_no_offering() -> None:
    priced = {name for name, _ in bundled_catalog().prices("aws", "us-east-1")}
    offered = by_type(offerings("aws", "us-east-1")).keys()
    assert "p2.xlarge" in priced - offered
    assert "p5e.48xlarge" not in offered
    assert offered == priced & bundled_catalog().shapes("aws").keys()


def test_a_part_of_a_gpu_is_not_a_gpu() -> None:
    part = by_type(offerings("aws", "us-east-1"))["g6f.large"].shape
    assert (part.gpu, part.gpu_count, part.gpu_share, part.whole_gpus) == ("l4", 1, Fraction(1, 8), 0)
    assert by_type(offerings("aws", "us-east-1"))["g6.12xlarge"].shape.whole_gpus == 4


def test_spot_offerings_need_a_spot_price_or_a_stated_factor() -> None:
    assert offerings("aws", "us-east-1", CapacityType.SPOT) == ()
    assumed = offerings("aws", "us-east-1", CapacityType.SPOT, options=PricingOptions(spot_factor=Decimal("0.3")))
    assert {o.price.basis for o in assumed} == {Basis.ASSUMED}
    listed = offerings("gcp", "us-central1", CapacityType.SPOT)
    assert {o.price.basis for o in listed} == {Basis.SPOT}


def test_reserved_capacity_is_not_for_sale() -> None:
    assert offerings("aws", "us-east-1", CapacityType.RESERVED) == ()


def test_prices_and_discounts_for_types_hold_and_those_for_nodes_do_not(tmp_path: Path) -> None:
    user = price_file(
        tmp_path,
        """
currency: USD
prices:
  - {instance_type: m5.xlarge, hourly: 0.1, per: node}
  - {node: m5.large, hourly: 0, per: node}
  - {selector: "!pool", hourly: 0, per: node}
discounts:
  - {selector: "!pool", factor: 0.01}
  - {family: c5, factor: 0.5}
commitments:
  - {family: r5, until: 2099-01-01}
""",
    )
    found = by_type(offerings("aws", "us-east-1", user=user))
    micros = {n: found[n].price.micros_per_hour for n in ("m5.xlarge", "m5.large", "c5.large", "r5.large")}
    assert micros == {"m5.xlarge": 100_000, "m5.large": 96_000, "c5.large": 42_500, "r5.large": 126_000}


def test_a_region_without_prices_offers_nothing() -> None:
    assert offerings("aws", "eu-west-1") == ()
    assert offerings("nowhere", "here") == ()


def test_pods_on_virtual_nodes_are_priced_by_what_they_ask(tmp_path: Path) -> None:
    labels = {"eks.amazonaws.com/compute-type": "fargate"}
    fargate = node(None, name="f", labels=labels, virtual=True)
    text = (
        "currency: USD\nprices: [{selector: eks.amazonaws.com/compute-type=fargate, hourly: {vcpu: 0.04, gib: 0.004}}]"
    )
    rates = pod_rates([fargate, node(name="real")], price_file(tmp_path, text))
    rate = rates["f"]
    assert rates.keys() == {"f"}
    assert rate is not None
    assert rate.micros_per_hour(250, GIB // 2) == 12_000
    assert rate.micros_per_hour(250, GIB // 2, gpus=1) is None


def test_a_rate_for_machines_is_not_one_for_pods(tmp_path: Path) -> None:
    virtual = NodePricingFacts("v", {"type": "virtual-kubelet"}, is_virtual=True)
    everything = price_file(tmp_path, "currency: USD\nprices: [{hourly: {vcpu: 0.04, gib: 0.004}}]")
    assert pod_rates([virtual], everything) == {"v": None}
    assert pod_rates([virtual], None) == {"v": None}
