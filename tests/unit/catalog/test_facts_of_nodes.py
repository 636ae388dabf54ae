"""What pricing reads from a node of the domain."""

import pytest

from ksolver_cli.catalog.gpus import gpu_named
from ksolver_cli.catalog.nodes import HAMI_REGISTER, hami_cards, pricing_facts
from ksolver_cli.catalog.tables import bundled_catalog
from ksolver_cli.domain.node import Node

TWO_CARDS = (
    "GPU-1,10,40960,100,NVIDIA-NVIDIA A100-PCIE-40GB,0,true:GPU-2,10,40960,100,NVIDIA-NVIDIA A100-PCIE-40GB,0,true:"
)


def test_capacity_is_what_is_paid_for_and_allocatable_stands_in() -> None:
    both = pricing_facts(Node("n", {"cpu": 3920, "memory": 100}, {"cpu": 4000, "memory": 128}))
    assert (both.capacity_millicores, both.capacity_memory_bytes) == (4000, 128)
    one = pricing_facts(Node("n", {"cpu": 3920, "memory": 100}))
    assert (one.capacity_millicores, one.capacity_memory_bytes) == (3920, 100)
    assert pricing_facts(Node("n", {})).capacity_millicores is None


@pytest.mark.parametrize(
    ("labels", "capacity", "cards"),
    [
        ({}, {"nvidia.com/gpu": 8}, 8),
        ({"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "8"}, {"nvidia.com/gpu.shared": 8}, 1),
        ({"nvidia.com/gpu.count": "4"}, {}, 4),
        ({}, {"amd.com/gpu": 8}, 8),
        ({}, {"cpu": 1000}, 0),
    ],
)
def test_cards(labels: dict[str, str], capacity: dict[str, int], cards: int) -> None:
    assert pricing_facts(Node("n", capacity, capacity, labels)).gpu_count == cards


def test_hami_registers_cards_and_offers_each_many_times() -> None:
    capacity = {"nvidia.com/gpu": 20}
    facts = pricing_facts(Node("n", capacity, capacity, annotations={HAMI_REGISTER: TWO_CARDS}))
    assert facts.gpu_count == 2
    gpu = gpu_named(facts.gpu_product or "", bundled_catalog())
    assert gpu is not None
    assert gpu.name == "a100-40gb"


@pytest.mark.parametrize("register", ["", "x", '[{"id":"GPU-1","type":"A"}]'])
def test_an_unknown_register_tells_nothing(register: str) -> None:
    assert hami_cards(register) == (None, None)
