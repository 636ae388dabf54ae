"""From a node of the domain to the facts that pricing asks for."""

from ksolver_cli.catalog.facts import NodePricingFacts
from ksolver_cli.catalog.gpus import gpu_product, physical_gpu_count
from ksolver_cli.domain.node import Node

# What device plugins offer for cards: whole, renamed when time-sliced, and of another vendor.
_GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu")
HAMI_REGISTER = "hami.io/node-nvidia-register"
_HAMI_TYPE_FIELD = 4


def pricing_facts(node: Node) -> NodePricingFacts:
    """The facts of one node; capacity where the node reports it, else allocatable."""
    size = {**node.allocatable, **node.capacity}
    offered = sum(size.get(name, 0) for name in _GPU_RESOURCES)
    count, product = physical_gpu_count(node.labels, offered), gpu_product(node.labels)
    if HAMI_REGISTER in node.annotations:
        count, product = hami_cards(node.annotations[HAMI_REGISTER])
    return NodePricingFacts(
        name=node.name,
        labels=node.labels,
        provider_id=node.provider_id,
        gpu_product=product,
        gpu_count=count,
        capacity_millicores=size.get("cpu"),
        capacity_memory_bytes=size.get("memory"),
        is_virtual=node.is_virtual,
    )


def hami_cards(register: str) -> tuple[int | None, str | None]:
    """Cards and their product as HAMi registers them: `uuid,split,memory,cores,type,numa,healthy`, each ended by `:`.

    HAMi offers each card several times over, so that what the node offers of `nvidia.com/gpu` is no number of cards.
    None for what the register does not tell: an unknown form, or cards of several products.
    """
    cards = [entry.split(",") for entry in register.split(":") if entry]
    if not cards or any(len(card) <= _HAMI_TYPE_FIELD for card in cards) or register.startswith("["):
        return None, None
    products = {card[_HAMI_TYPE_FIELD].removeprefix("NVIDIA-") for card in cards}
    return len(cards), products.pop() if len(products) == 1 else None
