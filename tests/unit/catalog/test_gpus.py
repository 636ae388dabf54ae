"""GPUs by their many names, and how many cards a node has."""

import json

import pytest

from ksolver_cli.catalog.gpus import (
    bundled_card,
    card_matches,
    gpu_named,
    gpu_product,
    physical_gpu_count,
    plain_product,
)
from ksolver_cli.catalog.tables import bundled_catalog
from tests.paths import DATA

CATALOG = bundled_catalog()
REPORTED = DATA / "dumps" / "gpu_nodes_from_reports.json"

# Card count of each reported node, read by hand; None where labels and capacity do not tell.
CARDS = {
    "r7525-a100-single": None,
    "xe9680-h100": 8,
    "as4124-a100-mixed": None,
    "a30-broken-replicas": None,
    "h100-single-1g10gb": None,
    "h100-nvl-mixed": None,
    "h100-nvl-balanced": None,
    "t4-timesliced-renamed": 1,
    "t4-timesliced-g4dn": 1,
    "hami-a100": 20,
    "g5-2xlarge": 1,
}
GPUS = {
    "r7525-a100-single": "a100-40gb",
    "xe9680-h100": "h100-80gb",
    "as4124-a100-mixed": "a100-40gb",
    "a30-broken-replicas": "a30",
    "h100-single-1g10gb": "h100-80gb",
    "h100-nvl-mixed": "h100-nvl",
    "h100-nvl-balanced": "h100-nvl",
    "t4-timesliced-renamed": "t4",
    "t4-timesliced-g4dn": "t4",
    "g5-2xlarge": "a10g",
}


@pytest.mark.skipif(not REPORTED.exists(), reason="the dumps of real clusters are not here")
def test_reported_gpu_nodes() -> None:
    nodes = {item["metadata"]["name"]: item for item in json.loads(REPORTED.read_text())["items"]}
    assert nodes.keys() == CARDS.keys()
    for name, item in nodes.items():
        labels, capacity = item["metadata"]["labels"], item["status"]["capacity"]
        offered = int(capacity.get("nvidia.com/gpu", 0)) + int(capacity.get("nvidia.com/gpu.shared", 0))
        assert physical_gpu_count(labels, offered) == CARDS[name], name
        product = gpu_product(labels)
        gpu = gpu_named(product, CATALOG) if product else None
        assert (gpu.name if gpu else None) == GPUS.get(name), name


def test_shared_cards_without_a_count_label_are_divided_by_their_replicas() -> None:
    assert physical_gpu_count({"nvidia.com/gpu.replicas": "4"}, 8) == 2
    assert physical_gpu_count({"nvidia.com/gpu.replicas": "3"}, 8) is None
    assert physical_gpu_count({}, 8) == 8
    assert physical_gpu_count({}, 0) == 0


@pytest.mark.parametrize(
    ("product", "plain"),
    [
        ("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "nvidia-a100-sxm4-80gb"),
        ("Tesla-T4-SHARED", "tesla-t4"),
        ("NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"),
    ],
)
def test_how_a_card_is_shared_is_not_its_name(product: str, plain: str) -> None:
    assert plain_product(product) == plain


def test_memory_variants_are_different_gpus() -> None:
    small, large = gpu_named("NVIDIA-A100-SXM4-40GB", CATALOG), gpu_named("NVIDIA-A100-SXM4-80GB", CATALOG)
    assert small is not None
    assert large is not None
    assert (small.memory_mib, large.memory_mib) == (40960, 81920)
    assert gpu_named("NVIDIA-Nonesuch", CATALOG) is None


def test_the_chart_wins_over_the_legacy_list() -> None:
    card = bundled_card("Tesla-T4", CATALOG)
    assert card is not None
    assert (card.micros_per_hour, card.source) == (350_000, "tensorfusion-chart")
    only_legacy = bundled_card("NVIDIA-H100-NVL", CATALOG)
    assert only_legacy is not None
    assert (only_legacy.micros_per_hour, only_legacy.source) == (2_990_000, "tensorfusion-legacy")


def test_a_card_is_matched_by_gpu_or_exactly() -> None:
    assert card_matches("t4", "Tesla-T4-SHARED", CATALOG)
    assert card_matches("a100-80gb", "NVIDIA-A100-80GB-PCIe", CATALOG)
    assert not card_matches("NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe", CATALOG)
    assert not card_matches("H100_PCIe", "NVIDIA-H100-80GB-HBM3", CATALOG)
