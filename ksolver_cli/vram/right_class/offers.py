"""What a GPU of each class costs where a node stands, at list price."""

from dataclasses import dataclass

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.locate import Whereabouts, locate
from ksolver_cli.catalog.tables import Catalog
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, labels_of, text
from ksolver_cli.domain.money import CapacityType
from ksolver_cli.vram.right_class.demand import Demand


@dataclass(frozen=True, order=True)
class ClassOffer:
    """One GPU of a class: micro-dollars an hour in the cheapest instance type with enough of them, MiB it has at least.

    The price of an instance is divided by its GPUs: CPU and memory come with them.
    """

    micros_per_gpu_hour: int
    gpu: str
    memory_mib: int
    instance_type: str


def whereabouts(node: RawObject, options: PricingOptions) -> Whereabouts:
    """Return provider and region of a node, as far as its labels and provider ID tell."""
    name = text(at(node, "metadata", "name")) or ""
    provider_id = text(at(node, "spec", "providerID")) or ""
    return locate(NodePricingFacts(name, labels_of(node), provider_id), options)


def architecture(node: RawObject) -> str:
    """Return the processor architecture of a node; an image runs only on its own."""
    return labels_of(node).get("kubernetes.io/arch") or labels_of(node).get("beta.kubernetes.io/arch") or "amd64"


def class_offers(catalog: Catalog, where: Whereabouts, arch: str, demand: Demand) -> dict[str, ClassOffer]:
    """Return the cheapest on-demand offer of each GPU class in a machine that has room for what a pod asks for.

    Empty where the provider or region is unknown or has no prices: unpriced is not free.
    """
    if where.provider is None or where.region is None:
        return {}
    prices = catalog.prices(where.provider, where.region)
    found: dict[str, ClassOffer] = {}
    for name, shape in catalog.shapes(where.provider).items():
        price = prices.get((name, CapacityType.ON_DEMAND))
        gpu = catalog.gpus.get(shape.gpu or "")
        if price is None or gpu is None or shape.arch != arch or not demand.fits_its_share_of(shape):
            continue
        each = -(-price.micros_per_hour // shape.whole_gpus)
        offer = ClassOffer(each, gpu.name, gpu.memory_low_mib, shape.instance_type)
        found[gpu.name] = min(offer, found.get(gpu.name, offer))
    return found
