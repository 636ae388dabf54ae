"""From a node of the domain to the facts that pricing asks for."""

from ksolver_cli.catalog.facts import NodePricingFacts
from ksolver_cli.catalog.gpus import gpu_product, physical_gpu_count
from ksolver_cli.domain.node import Node

# What device plugins offer for cards: whole, renamed when time-sliced, and of another vendor.
_GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/gpu.shared", "amd.com/gpu")


def pricing_facts(node: Node) -> NodePricingFacts:
    """The facts of one node; capacity where the node reports it, else allocatable."""
    size = {**node.allocatable, **node.capacity}
    offered = sum(size.get(name, 0) for name in _GPU_RESOURCES)
    return NodePricingFacts(
        name=node.name,
        labels=node.labels,
        provider_id=node.provider_id,
        gpu_product=gpu_product(node.labels),
        gpu_count=physical_gpu_count(node.labels, offered),
        capacity_millicores=size.get("cpu"),
        capacity_memory_bytes=size.get("memory"),
        is_virtual=node.is_virtual,
    )
