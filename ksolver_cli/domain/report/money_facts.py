"""Where the money in a report comes from: costs now, prices, and what has none."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PriceSource:
    """Nodes priced from one source on one basis. `note` states an assumption where one was made."""

    basis: str
    source: str
    date: str | None
    nodes: int
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """What the nodes cost. `cost_micros` sums the priced nodes only (micro-units of `currency` an hour)."""

    currency: str
    cost_micros: int
    priced_nodes: int
    unpriced_nodes: int
    sources: tuple[PriceSource, ...]
    unpriced: tuple[tuple[str, str], ...] = ()
    """(node, why it has no price)."""
