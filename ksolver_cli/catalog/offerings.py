"""What could be bought instead: instance types with a shape and a price."""

from dataclasses import dataclass, replace

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.locate import REGION_LABELS, SCHEME_OF_PROVIDER, TYPE_LABELS
from ksolver_cli.catalog.pricing import NO_OPTIONS, price_nodes
from ksolver_cli.catalog.tables import Catalog, InstanceShape, bundled_catalog
from ksolver_cli.catalog.userfile.model import MILLI, Match, UserPrices
from ksolver_cli.domain.money import Basis, CapacityType, Price


@dataclass(frozen=True, slots=True)
class Offering:
    """An instance type in a region for a capacity type, at a price.

    `shape` tells allocatable and maximum pods only where the catalog knows them; see `InstanceShape`.
    """

    provider: str
    region: str
    capacity_type: CapacityType
    shape: InstanceShape
    price: Price


def offerings(
    provider: str,
    region: str,
    capacity_type: CapacityType = CapacityType.ON_DEMAND,
    user: UserPrices | None = None,
    options: PricingOptions = NO_OPTIONS,
    catalog: Catalog | None = None,
) -> tuple[Offering, ...]:
    """Offerings by price, then by type; a type without a known shape or price is none.

    Each is priced as a new node of its type would be: the user's prices for types and discounts hold, those for names
    and labels do not, and no commitment covers it. Spot follows the same rules as for nodes, `spot_factor` included.
    """
    tables = catalog or bundled_catalog()
    shapes = tables.shapes(provider)
    nodes = [_new_node(provider, region, capacity_type, shape) for shape in shapes.values()]
    prices = price_nodes(nodes, _for_new_nodes(user), options, tables)
    found = [
        Offering(provider, region, capacity_type, shape, price)
        for shape, price in zip(shapes.values(), prices.values(), strict=True)
        if isinstance(price, Price) and price.basis is not Basis.COMMITTED
    ]
    return tuple(sorted(found, key=lambda o: (o.price.micros_per_hour, o.shape.instance_type)))


def _new_node(provider: str, region: str, capacity_type: CapacityType, shape: InstanceShape) -> NodePricingFacts:
    return NodePricingFacts(
        name=shape.instance_type,
        labels={
            TYPE_LABELS[0]: shape.instance_type,
            REGION_LABELS[0]: region,
            "karpenter.sh/capacity-type": capacity_type,
        },
        provider_id=f"{SCHEME_OF_PROVIDER.get(provider, provider)}:///",
        gpu_product=shape.gpu,
        gpu_count=shape.gpu_count,
        capacity_millicores=shape.vcpu * MILLI,
        capacity_memory_bytes=shape.memory_bytes,
    )


def _for_new_nodes(user: UserPrices | None) -> UserPrices | None:
    if user is None:
        return None
    return replace(
        user,
        prices=tuple(p for p in user.prices if _names_no_node(p.match)),
        discounts=tuple(d for d in user.discounts if _names_no_node(d.match)),
        commitments=(),
        spot_labels=(),
    )


def _names_no_node(match: Match) -> bool:
    return match.node is None and not match.selector
