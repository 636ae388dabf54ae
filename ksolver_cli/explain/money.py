"""What the nodes cost, where each price comes from, and which nodes have none."""

from collections import Counter
from collections.abc import Mapping

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.money import Basis, Price, Unpriced, total_by_currency
from ksolver_cli.domain.report.money_facts import Prices, PriceSource

NO_CURRENCY = "USD"
"""Named where nothing has a price; no amount is printed then."""


ONE_NODE = 1_000_000
"""What each node weighs where none has a price: the plan then removes as many nodes as it can, without money."""


def objective(cluster: Cluster, prices: Mapping[str, Price | Unpriced]) -> dict[str, int | None]:
    """Micro-units of the report's currency an hour by node; None for nodes without a price in it. Where no node has
    one, each machine weighs the same. Where the input holds no pods, nothing can be said of any node.
    """
    if not cluster.knows("pods"):
        return dict.fromkeys((node.name for node in cluster.nodes), None)
    currency = price_facts(prices).currency
    micros = in_currency(prices, currency)
    if any(value is not None for value in micros.values()):
        return micros
    return {node.name: None if node.is_virtual else ONE_NODE for node in cluster.nodes}


def in_currency(prices: Mapping[str, Price | Unpriced], currency: str) -> dict[str, int | None]:
    """Micro-units of one currency an hour by node; None for what has no price in it."""
    return {
        name: price.micros_per_hour if isinstance(price, Price) and price.currency == currency else None
        for name, price in prices.items()
    }


def price_facts(prices: Mapping[str, Price | Unpriced]) -> Prices:
    """Sum and provenance. Amounts of different currencies are never added: the commonest one is the report's, and nodes
    priced in another count as unpriced.
    """
    totals = Counter(price.currency for price in prices.values() if isinstance(price, Price))
    currency = min(totals, key=lambda code: (-totals[code], code)) if totals else NO_CURRENCY
    priced = [p for p in prices.values() if isinstance(p, Price) and p.currency == currency]
    committed = [p for p in priced if p.basis is Basis.COMMITTED]
    known = [p.committed_micros_per_hour for p in committed if p.committed_micros_per_hour is not None]
    sources = Counter((p.basis, p.source, p.date, p.assumption) for p in priced)
    return Prices(
        currency=currency,
        cost_micros=total_by_currency(priced)[currency] if priced else None,
        committed_nodes=len(committed),
        committed_micros=sum(known) if known and len(known) == len(committed) else None,
        priced_nodes=len(priced),
        unpriced_nodes=len(prices) - len(priced),
        sources=tuple(
            PriceSource(basis, source, date, nodes, note)
            for (basis, source, date, note), nodes in sorted(sources.items(), key=lambda item: (-item[1], str(item[0])))
        ),
        unpriced=tuple(
            (name, _why(price, currency))
            for name, price in sorted(prices.items())
            if isinstance(price, Unpriced) or price.currency != currency
        ),
    )


def _why(price: Price | Unpriced, currency: str) -> str:
    if isinstance(price, Unpriced):
        return price.detail or price.reason
    return f"priced in {price.currency}, the report is in {currency}"
