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
    """What the nodes cost, in micro-units of `currency` an hour.

    `cost_micros` sums the priced nodes only, and is None where no node has a price. Nodes under a commitment are in it
    with 0, since their removal saves nothing; `committed_micros` is what these would cost without it: what is paid for
    them, whether they exist or not, is at most that. None where there are none, or where that is not known.
    """

    currency: str
    cost_micros: int | None
    committed_nodes: int
    committed_micros: int | None
    priced_nodes: int
    unpriced_nodes: int
    sources: tuple[PriceSource, ...]
    unpriced: tuple[tuple[str, str], ...] = ()
    """(node, why it has no price)."""
