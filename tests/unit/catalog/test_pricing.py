"""The first rule that answers decides; what none answers is unpriced, never free and never a neighbour's price."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.catalog.userfile.model import UserPrices
from ksolver_cli.domain.money import Basis, Price, Unpriced, UnpricedReason
from tests.unit.catalog.nodes import node, price_file

SPOT = {"karpenter.sh/capacity-type": "spot"}
ON_DEMAND = {"karpenter.sh/capacity-type": "on-demand"}


def priced(facts: NodePricingFacts, user: UserPrices | None = None, **options: object) -> Price:
    found = price_nodes([facts], user, PricingOptions(**options))[facts.name]
    assert isinstance(found, Price), found
    return found


def reason(facts: NodePricingFacts, user: UserPrices | None = None, **options: object) -> UnpricedReason:
    found = price_nodes([facts], user, PricingOptions(**options))[facts.name]
    assert isinstance(found, Unpriced), found
    assert found.detail
    return found.reason


def test_a_list_price_carries_its_source_date_and_basis() -> None:
    price = priced(node(labels=ON_DEMAND))
    assert (price.micros_per_hour, price.currency, price.basis) == (192_000, "USD", Basis.LIST)
    assert "AWS" in price.source
    assert price.date == "2026-07-20"
    assert price.assumption is None


def test_an_assumed_capacity_type_is_said() -> None:
    assert "on-demand" in (priced(node()).assumption or "")


def test_the_same_type_in_two_regions_has_two_prices() -> None:
    here = node("n2-standard-4", "us-central1", name="a", provider_id="gce://p/us-central1-a/a")
    there = node("n2-standard-4", "europe-west6", name="b", provider_id="gce://p/europe-west6-a/b")
    found = price_nodes([here, there])
    assert isinstance(found["a"], Price)
    assert isinstance(found["b"], Price)
    assert found["a"].micros_per_hour < found["b"].micros_per_hour


def test_a_zone_only_label_is_enough() -> None:
    facts = node(region=None, provider_id="aws:///x/i-1", labels={"topology.kubernetes.io/zone": "us-east-1b"})
    assert priced(facts).micros_per_hour == 192_000


def test_azure_types_are_found_whatever_their_case() -> None:
    facts = node("standard_nc4as_t4_V3", "eastus", provider_id="azure:///x")
    assert priced(facts).micros_per_hour == 526_000


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (node("m99.xlarge"), UnpricedReason.TYPE_NOT_IN_REGION),
        (node(None), UnpricedReason.INSTANCE_TYPE_UNKNOWN),
        (node(region=None, provider_id="aws:///i-1"), UnpricedReason.REGION_UNKNOWN),
        (node(region="mars-north-1"), UnpricedReason.REGION_NOT_IN_CATALOG),
        (node(region="../../instances/aws"), UnpricedReason.REGION_NOT_IN_CATALOG),
        (node(provider_id="", region=None), UnpricedReason.PROVIDER_UNKNOWN),
        (node(provider_id="kind://docker/kind/n"), UnpricedReason.PROVIDER_NOT_IN_CATALOG),
        (node(labels=SPOT), UnpricedReason.SPOT_PRICE_UNKNOWN),
        (node(labels={"kubernetes.io/os": "windows"}), UnpricedReason.WINDOWS),
        (node(labels={"topology.kubernetes.io/zone": "us-east-1-bos-1a"}), UnpricedReason.LOCAL_ZONE),
        (node("Standard_NV6_Promo", "eastus", provider_id="azure:///x"), UnpricedReason.TYPE_NOT_IN_REGION),
        (node("Dsv3_Type1", "eastus", provider_id="azure:///x"), UnpricedReason.TYPE_NOT_IN_REGION),
        (node(virtual=True, cores=10_000), UnpricedReason.VIRTUAL_NODE),
    ],
)
def test_what_is_not_known_is_unpriced_with_the_reason(facts: NodePricingFacts, why: UnpricedReason) -> None:
    assert reason(facts) is why


def test_an_attached_gpu_is_not_in_the_price_of_its_type() -> None:
    gke = "gce://p/us-central1-a/n"
    label = {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}
    attached = node("n1-standard-4", "us-central1", provider_id=gke, labels=label, gpu="nvidia-tesla-t4", gpus=1)
    assert reason(attached) is UnpricedReason.GPU_NOT_INCLUDED
    assert priced(node("n1-standard-4", "us-central1", provider_id=gke)).micros_per_hour == 189_999
    assert priced(node("g2-standard-4", "us-central1", provider_id=gke, gpus=1)).micros_per_hour == 706_832


def test_a_region_given_on_the_command_line_serves_only_nodes_without_one() -> None:
    lost = node("n2-standard-4", None, name="lost", provider_id="gce://p")
    home = node("n2-standard-4", "us-central1", name="home", provider_id="gce://p")
    found = price_nodes([lost, home], None, PricingOptions(region="europe-west6"))
    assert isinstance(found["lost"], Price)
    assert isinstance(found["home"], Price)
    assert found["lost"].micros_per_hour > found["home"].micros_per_hour
    assert "europe-west6" in (found["lost"].assumption or "")


# Spot


def test_a_spot_price_that_is_known_is_used() -> None:
    spot = node("a3-highgpu-8g", "us-central1", provider_id="gce://p", labels={"cloud.google.com/gke-spot": "true"})
    price = priced(spot)
    assert (price.micros_per_hour, price.basis) == (50_609_541, Basis.SPOT)


def test_spot_without_a_price_rests_on_a_stated_factor() -> None:
    price = priced(node(labels=SPOT), spot_factor=Decimal("0.35"))
    assert (price.micros_per_hour, price.basis) == (67_200, Basis.ASSUMED)
    assert price.assumption == "spot taken as 0.35 × on-demand"


def test_the_factor_never_replaces_a_known_spot_price() -> None:
    spot = node("a3-highgpu-8g", "us-central1", provider_id="gce://p", labels={"cloud.google.com/gke-spot": "true"})
    assert priced(spot, spot_factor=Decimal("0.1")).basis is Basis.SPOT


def test_spot_that_is_not_below_on_demand_is_no_spot_price() -> None:
    facts = node("m2-megamem-416", "us-central1", provider_id="gce://p", labels={"cloud.google.com/gke-spot": "true"})
    assert reason(facts) is UnpricedReason.SPOT_PRICE_UNKNOWN


def test_spot_by_a_label_of_ones_own(tmp_path: Path) -> None:
    user = price_file(tmp_path, "spot: [{selector: {lifecycle: Ec2Spot}}]")
    assert reason(node(labels={"lifecycle": "Ec2Spot"}), user) is UnpricedReason.SPOT_PRICE_UNKNOWN
    assert priced(node(labels={"lifecycle": "normal"}), user).basis is Basis.LIST


# The user's prices


ORDER = """
currency: USD
prices:
  - {node: n1, hourly: 1, per: node}
  - {selector: pool=a, hourly: 2, per: node}
  - {instance_type: m5.xlarge, region: us-east-1, hourly: 3, per: node}
  - {instance_type: m5.xlarge, hourly: 4, per: node}
  - {hourly: {vcpu: 1, gib: 0}}
"""


@pytest.mark.parametrize(
    ("facts", "dollars"),
    [
        (node(name="n1", labels={"pool": "a"}), 1),
        (node(name="n2", labels={"pool": "a"}), 2),
        (node(name="n2"), 3),
        (node(name="n2", region="eu-west-1"), 4),
        (node("c5.large", name="n2", cores=7), 7),
    ],
)
def test_name_before_labels_before_type_before_the_catalog(
    tmp_path: Path, facts: NodePricingFacts, dollars: int
) -> None:
    price = priced(facts, price_file(tmp_path, ORDER))
    assert (price.micros_per_hour, price.basis) == (dollars * 1_000_000, Basis.USER)
    assert "prices.yaml, line" in price.source


def test_the_order_of_rows_does_not_decide_between_narrow_and_wide(tmp_path: Path) -> None:
    lines = ORDER.strip().splitlines()
    backwards = price_file(tmp_path, "\n".join(lines[:2] + lines[:1:-1]))
    assert priced(node(name="n2"), backwards).micros_per_hour == 3_000_000


def test_a_row_without_capacity_type_is_an_on_demand_price(tmp_path: Path) -> None:
    user = price_file(tmp_path, "currency: USD\nprices: [{instance_type: m5.xlarge, hourly: 0.1, per: node}]")
    assert reason(node(labels=SPOT), user) is UnpricedReason.SPOT_PRICE_UNKNOWN
    assert priced(node(labels=SPOT), user, spot_factor=Decimal("0.5")).micros_per_hour == 50_000


def test_a_spot_row_prices_spot_nodes_only(tmp_path: Path) -> None:
    user = price_file(
        tmp_path, "currency: USD\nprices: [{instance_type: m5.xlarge, capacity_type: spot, hourly: 0.07, per: node}]"
    )
    assert priced(node(labels=SPOT), user).micros_per_hour == 70_000
    assert priced(node(labels=ON_DEMAND), user).basis is Basis.LIST


def test_a_monthly_amount_is_divided_by_730(tmp_path: Path) -> None:
    user = price_file(tmp_path, "currency: USD\nprices: [{node: n1, monthly: 140.16, per: node}]")
    assert priced(node(), user).micros_per_hour == 192_000


def test_a_price_per_gpu_is_multiplied_and_never_prices_a_node_without(tmp_path: Path) -> None:
    user = price_file(tmp_path, "currency: USD\nprices: [{selector: rack=1, hourly: 2.5, per: gpu}]")
    rack = {"rack": "1"}
    box = node(None, None, provider_id="", labels=rack, gpus=8)
    assert priced(box, user).micros_per_hour == 20_000_000
    assert reason(node(None, None, provider_id="", labels=rack), user) is UnpricedReason.PROVIDER_UNKNOWN
    assert reason(node(None, None, provider_id="", labels=rack, gpus=None), user) is UnpricedReason.PROVIDER_UNKNOWN


def test_unit_prices_are_used_as_they_are_on_every_node(tmp_path: Path) -> None:
    """opencost/opencost#2029: rates on GPU nodes came out divided by a large factor."""
    user = price_file(tmp_path, "currency: USD\nprices: [{hourly: {vcpu: 1, gib: 1, gpu: 1}}]")
    bare = {"region": None, "provider_id": "", "cores": 8, "gib": 32}
    found = price_nodes([node(None, name="cpu1", **bare), node(None, name="gpu1", gpus=1, **bare)], user)
    assert [p.micros_per_hour for p in found.values() if isinstance(p, Price)] == [40_000_000, 41_000_000]


def test_unit_prices_without_gpus_do_not_price_a_gpu_node(tmp_path: Path) -> None:
    user = price_file(tmp_path, "currency: USD\nprices: [{hourly: {vcpu: 1, gib: 1}}]")
    assert priced(node("g5.xlarge", gpus=1), user).basis is Basis.LIST


def test_a_price_of_zero_on_purpose_is_a_price(tmp_path: Path) -> None:
    price = priced(node(), price_file(tmp_path, "currency: USD\nprices: [{node: n1, hourly: 0, per: node}]"))
    assert (price.micros_per_hour, price.basis) == (0, Basis.USER)


def test_currencies_are_kept_as_given(tmp_path: Path) -> None:
    user = price_file(tmp_path, "currency: EUR\nprices: [{node: n1, hourly: 0.2, per: node}]")
    found = price_nodes([node(), node(name="n2")], user)
    assert [p.currency for p in found.values() if isinstance(p, Price)] == ["EUR", "USD"]


def test_a_virtual_node_is_priced_only_by_name_or_labels_and_not_by_what_it_claims(tmp_path: Path) -> None:
    virtual = node(None, None, provider_id="", virtual=True, cores=10_000, labels={"type": "virtual-kubelet"})
    units = price_file(tmp_path, "currency: USD\nprices: [{selector: type=virtual-kubelet, hourly: {vcpu: 1, gib: 1}}]")
    assert reason(virtual, units) is UnpricedReason.VIRTUAL_NODE
    flat = price_file(tmp_path, "currency: USD\nprices: [{node: n1, hourly: 3, per: node}]")
    assert priced(virtual, flat).micros_per_hour == 3_000_000


# Discounts


DISCOUNTS = """
discounts:
  - {selector: team=a, factor: 0.5}
  - {provider: aws, family: m5, factor: 0.8}
"""


def test_the_first_discount_that_matches_multiplies_the_price(tmp_path: Path) -> None:
    user = price_file(tmp_path, DISCOUNTS)
    assert priced(node(labels={"team": "a"}), user).micros_per_hour == 96_000
    price = priced(node(), user)
    assert (price.micros_per_hour, price.basis) == (153_600, Basis.USER)
    assert "× 0.8" in price.source
    assert priced(node("c5.xlarge"), user).basis is Basis.LIST


def test_a_discount_keeps_what_was_assumed(tmp_path: Path) -> None:
    price = priced(node(labels=SPOT), price_file(tmp_path, DISCOUNTS), spot_factor=Decimal("0.5"))
    assert (price.micros_per_hour, price.basis) == (76_800, Basis.ASSUMED)
    assert "0.5" in (price.assumption or "")


# Cards, for GPU nodes of no cloud


CARDS = "currency: USD\ngpu_cards: [{card: NVIDIA A100-SXM4-80GB, hourly: 1.5}]"


@pytest.mark.parametrize("card", ["NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB", "A100_SXM_80G", "a100-80gb"])
def test_cards_are_priced_on_prem_under_any_of_their_names(tmp_path: Path, card: str) -> None:
    user = price_file(tmp_path, f"currency: USD\ngpu_cards: [{{card: {card}, hourly: 1.5}}]")
    facts = node(None, None, provider_id="", gpu="NVIDIA-A100-SXM4-80GB-SHARED", gpus=8)
    price = priced(facts, user)
    assert (price.micros_per_hour, price.basis) == (12_000_000, Basis.USER)
    assert "8 × NVIDIA-A100" in (price.assumption or "")


def test_another_card_is_another_price(tmp_path: Path) -> None:
    facts = node(None, None, provider_id="", gpu="NVIDIA-A100-SXM4-40GB", gpus=8)
    assert reason(facts, price_file(tmp_path, CARDS)) is UnpricedReason.PROVIDER_UNKNOWN


def test_card_prices_say_nothing_of_cloud_nodes(tmp_path: Path) -> None:
    facts = node("p99.48xlarge", gpu="NVIDIA-A100-SXM4-80GB", gpus=8)
    assert reason(facts, price_file(tmp_path, CARDS)) is UnpricedReason.TYPE_NOT_IN_REGION


def test_an_unknown_number_of_cards_is_not_taken_for_one(tmp_path: Path) -> None:
    facts = node(None, None, provider_id="", gpu="NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", gpus=None)
    assert reason(facts, price_file(tmp_path, CARDS)) is UnpricedReason.GPU_COUNT_UNKNOWN


def test_the_bundled_cards_serve_only_when_asked_for() -> None:
    facts = node(None, None, provider_id="", gpu="NVIDIA-H100-80GB-HBM3", gpus=8)
    assert reason(facts) is UnpricedReason.PROVIDER_UNKNOWN
    price = priced(facts, bundled_cards=True)
    assert (price.micros_per_hour, price.basis) == (8 * 2_990_000, Basis.ASSUMED)
    assert "TensorFusion" in price.source


# Whatever the labels


TEXT = st.sampled_from(
    ["", "m5.xlarge", "Standard_D4s_v3", "n2-standard-4", "us-east-1", "eastus-1", "0", "../x", "spot"]
)
KEYS = st.sampled_from(
    [
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "karpenter.sh/capacity-type",
        "kubernetes.azure.com/agentpool",
        "cloud.google.com/gke-nodepool",
    ]
)


@given(st.dictionaries(KEYS, TEXT), st.sampled_from(["", "aws:///us-east-1a/i", "gce://", "azure://", "://", "x"]))
def test_no_labels_ever_make_a_node_free(labels: dict[str, str], provider_id: str) -> None:
    found = price_nodes([NodePricingFacts("n", labels, provider_id)])["n"]
    assert isinstance(found, Unpriced) or found.micros_per_hour > 0


def test_splitting_a_fleet_changes_no_price() -> None:
    fleet = [node(name=f"n{i}", labels=SPOT if i % 2 else ON_DEMAND) for i in range(4)]
    together = price_nodes(fleet)
    assert together == {f.name: price_nodes([f])[f.name] for f in fleet}
