"""The price of every node: the first rule that answers, with its provenance, or unpriced with the reason."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from ksolver_cli.catalog.commitments import committed
from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.gpus import GKE_ACCELERATOR, bundled_card, card_matches
from ksolver_cli.catalog.locate import CLOUDS, Whereabouts, locate
from ksolver_cli.catalog.tables import CURRENCY, Catalog, bundled_catalog, spelled
from ksolver_cli.catalog.userfile.model import Discount, UserPrice, UserPrices
from ksolver_cli.domain.money import MICROS, Basis, CapacityType, Price, Unpriced, UnpricedReason

NO_PRICES = UserPrices("")
NO_OPTIONS = PricingOptions()
# GCP machine families whose price includes their GPUs; to any other family a GPU is attached and paid apart.
_GCP_WITH_GPUS = frozenset({"a2", "a3", "a4", "a4x", "g2", "g4"})


def price_nodes(
    nodes: Iterable[NodePricingFacts],
    user: UserPrices | None = None,
    options: PricingOptions = NO_OPTIONS,
    catalog: Catalog | None = None,
) -> dict[str, Price | Unpriced]:
    """Prices by node name, in the order given. The first rule that answers decides:

    1. the user's price for the node's name, then for its labels; 2. the user's price for its instance type, region and
    capacity type (the most specific row first), then for any node; 3. the catalog; 4. for a GPU node of no cloud, the
    price of its card × cards. Discounts multiply what the rules found; nodes under a commitment cost 0 at the margin.
    A price is never taken from another type, region or capacity type.

    Raises CatalogError when the bundled catalogs are broken.
    """
    pricer = _Pricer(user or NO_PRICES, options, catalog or bundled_catalog())
    located = [(node, pricer.locate(node)) for node in nodes]
    prices = {node.name: pricer.price(node, where) for node, where in located}
    return committed(prices, located, pricer.user.commitments, options.today)


@dataclass(frozen=True)
class _Pricer:
    user: UserPrices
    options: PricingOptions
    catalog: Catalog
    by_name: Mapping[str, list[UserPrice]] = field(init=False)
    by_labels: tuple[UserPrice, ...] = field(init=False)
    by_type: tuple[UserPrice, ...] = field(init=False)

    def __post_init__(self) -> None:
        prices = self.user.prices
        named: dict[str, list[UserPrice]] = {}
        for price in prices:
            if price.match.node is not None:
                named.setdefault(price.match.node, []).append(price)
        object.__setattr__(self, "by_name", named)
        object.__setattr__(self, "by_labels", tuple(p for p in prices if p.match.node is None and p.match.selector))
        rest = [p for p in prices if p.match.node is None and not p.match.selector]
        object.__setattr__(self, "by_type", tuple(sorted(rest, key=_generality)))

    def locate(self, node: NodePricingFacts) -> Whereabouts:
        labels = (*self.options.spot_labels, *self.user.spot_labels)
        return locate(node, replace(self.options, spot_labels=labels))

    def price(self, node: NodePricingFacts, where: Whereabouts) -> Price | Unpriced:
        given = self._of_user_by_node(node, where)
        if given is None and node.is_virtual:
            return Unpriced(UnpricedReason.VIRTUAL_NODE, "stands for a service that bills each pod, not for a machine")
        price = given or self._bought(node, where)
        return self._discounted(node, where, price) if isinstance(price, Price) else price

    def _of_user_by_node(self, node: NodePricingFacts, where: Whereabouts) -> Price | None:
        candidates = (*self.by_name.get(node.name, ()), *self.by_labels)
        matching = (p for p in candidates if p.match.holds(node.name, node.labels, where))
        return next(self._user_prices(matching, node), None)

    def _user_prices(self, prices: Iterable[UserPrice], node: NodePricingFacts) -> Iterator[Price]:
        for price in prices:
            # The capacity that a virtual node claims is not what is paid for.
            size = (None, None) if node.is_virtual else (node.capacity_millicores, node.capacity_memory_bytes)
            micros = price.rate.of(*size, node.gpu_count)
            if micros is not None:
                yield Price(micros, price.currency, Basis.USER, price.source, price.date)

    def _bought(self, node: NodePricingFacts, where: Whereabouts) -> Price | Unpriced:
        if where.capacity_type is CapacityType.ON_DEMAND:
            return self._listed(node, where)
        found = self._listed(node, where)
        if isinstance(found, Price):
            return found
        on_demand = self._listed(node, replace(where, capacity_type=CapacityType.ON_DEMAND))
        if where.capacity_type is CapacityType.RESERVED:
            return _reserved(on_demand)
        return self._assumed_spot(on_demand)

    def _assumed_spot(self, on_demand: Price | Unpriced) -> Price | Unpriced:
        if isinstance(on_demand, Unpriced):
            return on_demand
        factor = self.options.spot_factor
        if factor is None:
            return Unpriced(UnpricedReason.SPOT_PRICE_UNKNOWN, "a spot node, and no spot price is known for it")
        told = f"spot taken as {factor} × on-demand"
        micros = _times(on_demand.micros_per_hour, factor)
        return replace(on_demand, micros_per_hour=micros, basis=Basis.ASSUMED, assumption=_joined(told, on_demand))

    def _listed(self, node: NodePricingFacts, where: Whereabouts) -> Price | Unpriced:
        """Rules 2 to 4 for one capacity type."""
        matching = (p for p in self.by_type if _for_type(p, node, where))
        users = next(self._user_prices(matching, node), None)
        if users is not None:
            return users
        catalogued = self._catalogued(node, where)
        if isinstance(catalogued, Unpriced) and where.provider not in CLOUDS:
            return self._by_card(node, catalogued)
        return catalogued

    def _catalogued(self, node: NodePricingFacts, where: Whereabouts) -> Price | Unpriced:
        missing = self._why_not_in_catalog(node, where)
        if missing is not None:
            return missing
        provider, region, name = where.provider or "", where.region or "", where.instance_type or ""
        found = self.catalog.prices(provider, region).get((spelled(provider, name), where.capacity_type))
        if found is not None:
            return replace(found, assumption="; ".join(where.notes) or None)
        if where.capacity_type is CapacityType.SPOT:
            return Unpriced(UnpricedReason.SPOT_PRICE_UNKNOWN, f"no spot price of {name} in {region}")
        return Unpriced(UnpricedReason.TYPE_NOT_IN_REGION, f"the {provider} catalog has no {name} in {region}")

    def _why_not_in_catalog(self, node: NodePricingFacts, where: Whereabouts) -> Unpriced | None:
        provider, region, name = where.provider, where.region, where.instance_type
        if provider is None:
            return Unpriced(UnpricedReason.PROVIDER_UNKNOWN, "neither provider ID nor labels tell the provider")
        if provider not in self.catalog.providers:
            return Unpriced(UnpricedReason.PROVIDER_NOT_IN_CATALOG, f"the catalogs have no prices of {provider}")
        if name is None:
            return Unpriced(UnpricedReason.INSTANCE_TYPE_UNKNOWN, "no instance type label")
        if region is None:
            return Unpriced(UnpricedReason.REGION_UNKNOWN, "no label tells the region")
        if region not in self.catalog.regions(provider):
            return Unpriced(UnpricedReason.REGION_NOT_IN_CATALOG, f"the {provider} catalog has no region {region}")
        return _why_list_price_does_not_hold(node, where)

    def _by_card(self, node: NodePricingFacts, otherwise: Unpriced) -> Price | Unpriced:
        product = node.gpu_product
        if product is None or node.gpu_count == 0:
            return otherwise
        given = next((c for c in self.user.cards if card_matches(c.card, product, self.catalog)), None)
        card = bundled_card(product, self.catalog) if given is None and self.options.bundled_cards else None
        if given is None and card is None:
            return otherwise
        if node.gpu_count is None:
            return Unpriced(UnpricedReason.GPU_COUNT_UNKNOWN, f"how many {product} cards it has cannot be told")
        if given is not None:
            micros = given.micros_per_hour * node.gpu_count
            return Price(micros, given.currency, Basis.USER, given.source, given.date, _cards(node, product))
        assert card is not None
        source = self.catalog.sources[card.source]
        micros = card.micros_per_hour * node.gpu_count
        return Price(micros, CURRENCY, Basis.ASSUMED, source.title, source.retrieved or None, _cards(node, product))

    def _discounted(self, node: NodePricingFacts, where: Whereabouts, price: Price) -> Price:
        discount = next((d for d in self.user.discounts if d.match.holds(node.name, node.labels, where)), None)
        if discount is None or price.basis is Basis.COMMITTED:
            return price
        return _with_discount(price, discount, self.user.name)


def _generality(price: UserPrice) -> tuple[bool, bool, bool]:
    match = price.match
    return match.instance_type is None, match.region is None, match.provider is None


def _for_type(price: UserPrice, node: NodePricingFacts, where: Whereabouts) -> bool:
    """A row without capacity type states an on-demand price."""
    match = replace(price.match, capacity_type=price.match.capacity_type or CapacityType.ON_DEMAND)
    return match.holds(node.name, node.labels, where)


def _why_list_price_does_not_hold(node: NodePricingFacts, where: Whereabouts) -> Unpriced | None:
    """Machines that cost more than their type and region tell."""
    if where.windows:
        return Unpriced(UnpricedReason.WINDOWS, "a Windows node; the catalogs hold Linux prices")
    if where.local_zone:
        return Unpriced(UnpricedReason.LOCAL_ZONE, f"zone {where.zone} has prices of its own")
    family = (where.instance_type or "").partition("-")[0]
    has_gpu = bool(node.gpu_count or node.gpu_product or GKE_ACCELERATOR in node.labels)
    if where.provider == "gcp" and has_gpu and family not in _GCP_WITH_GPUS:
        return Unpriced(UnpricedReason.GPU_NOT_INCLUDED, f"the price of {where.instance_type} leaves out its GPUs")
    return None


def _reserved(on_demand: Price | Unpriced) -> Price | Unpriced:
    """A capacity reservation is paid whether used or not: https://karpenter.sh/docs/concepts/nodepools/ (reserved)."""
    if isinstance(on_demand, Unpriced):
        return on_demand
    told = "reserved capacity is paid whether it is used or not"
    return replace(
        on_demand,
        micros_per_hour=0,
        basis=Basis.COMMITTED,
        assumption=_joined(told, on_demand),
        committed_micros_per_hour=on_demand.micros_per_hour,
    )


def _cards(node: NodePricingFacts, product: str) -> str:
    return f"{node.gpu_count} × {product}; CPU and memory count as part of the cards' price"


def _joined(told: str, price: Price) -> str:
    return f"{told}; {price.assumption}" if price.assumption else told


def _times(micros: int, factor: Decimal) -> int:
    return round(Fraction(micros, MICROS) * Fraction(factor) * MICROS)


def _with_discount(price: Price, discount: Discount, file: str) -> Price:
    basis = price.basis if price.basis is Basis.ASSUMED else Basis.USER
    source = f"{price.source}, × {discount.factor} by {file}, line {discount.line}"
    return replace(price, micros_per_hour=_times(price.micros_per_hour, discount.factor), basis=basis, source=source)
