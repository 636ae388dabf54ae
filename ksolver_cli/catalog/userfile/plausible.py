"""What is well written in a price file but can hardly be meant."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from ksolver_cli.catalog.tables import Catalog, spelled
from ksolver_cli.catalog.userfile.model import Problem, UserPrices
from ksolver_cli.catalog.userfile.siblings import Listed, siblings_out_of_proportion
from ksolver_cli.domain.money import HOURS_PER_MONTH, CapacityType, from_micros

# A monthly amount read as hourly is off by 730, whatever discount it has; nothing else comes near.
_MIXED_UP = (Fraction(HOURS_PER_MONTH, 3), Fraction(HOURS_PER_MONTH * 2))


def implausible(prices: UserPrices, catalog: Catalog) -> Iterator[Problem]:
    """Spot above on-demand, siblings out of proportion, and a month's amount given for an hour or the reverse."""
    listed = listed_prices(prices)
    yield from spot_above_on_demand(listed)
    yield from siblings_out_of_proportion(listed, catalog)
    yield from _mixed_up(listed, catalog)


def listed_prices(prices: UserPrices) -> list[Listed]:
    """The rows of the file that price instance types by node."""
    return [
        Listed(
            price.line,
            price.match.provider or provider_of_type(price.match.instance_type or ""),
            price.match.region or "",
            price.match.instance_type or "",
            price.match.capacity_type or CapacityType.ON_DEMAND,
            price.currency,
            price.rate.node,
        )
        for price in prices.prices
        if price.match.is_by_type and price.rate.node is not None
    ]


def provider_of_type(instance_type: str) -> str:
    """The provider that spells its types so."""
    if instance_type.startswith(("Standard_", "Basic_")):
        return "azure"
    return "aws" if "." in instance_type else "gcp"


def spot_above_on_demand(listed: Iterable[Listed]) -> Iterator[Problem]:
    """Spot prices above the on-demand price of the same type, region and currency."""
    rows = list(listed)
    on_demand = {_machine(p): p for p in rows if p.capacity_type is CapacityType.ON_DEMAND}
    for price in rows:
        other = on_demand.get(_machine(price))
        is_spot = price.capacity_type is CapacityType.SPOT
        if is_spot and other is not None and price.micros_per_hour > other.micros_per_hour:
            amount, base = from_micros(price.micros_per_hour), from_micros(other.micros_per_hour)
            what = f"spot {price.instance_type} at {amount} is above on-demand, {base} in line {other.line}"
            yield Problem(price.line, "hourly", what)


def _machine(price: Listed) -> tuple[str, str, str, str]:
    return price.provider, price.region, price.instance_type, price.currency


def _mixed_up(listed: Sequence[Listed], catalog: Catalog) -> Iterator[Problem]:
    for price in listed:
        key = spelled(price.provider, price.instance_type), price.capacity_type
        known = catalog.prices(price.provider, price.region).get(key)
        if known is None or known.currency != price.currency or not price.micros_per_hour:
            continue
        times = Fraction(price.micros_per_hour, known.micros_per_hour)
        usual = f"the list price is {from_micros(known.micros_per_hour)} an hour"
        if _MIXED_UP[0] <= times <= _MIXED_UP[1]:
            yield Problem(price.line, "hourly", f"looks like an amount a month: {usual}")
        elif _MIXED_UP[0] <= 1 / times <= _MIXED_UP[1]:
            yield Problem(price.line, "monthly", f"looks like an amount an hour: {usual}")
