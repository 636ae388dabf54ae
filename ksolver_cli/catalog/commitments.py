"""Nodes that are paid for whether they exist or not."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from ksolver_cli.catalog.facts import NodePricingFacts
from ksolver_cli.catalog.locate import Whereabouts
from ksolver_cli.catalog.userfile.model import Commitment
from ksolver_cli.domain.money import Basis, CapacityType, Price, Unpriced


def committed(
    prices: Mapping[str, Price | Unpriced],
    nodes: Sequence[tuple[NodePricingFacts, Whereabouts]],
    commitments: Sequence[Commitment],
    today: date | None,
) -> dict[str, Price | Unpriced]:
    """The prices, with 0 at the margin for nodes under a commitment that still runs on the day `today`.

    A commitment for fewer nodes than match covers the costliest, then by name: removing one of those it leaves over is
    then never reported as more than it saves. A node is covered once.
    """
    result = dict(prices)
    covered: set[str] = set()
    for commitment in commitments:
        if today is not None and today > commitment.until:
            continue
        matching = [node.name for node, where in nodes if node.name not in covered and _covers(commitment, node, where)]
        chosen = sorted(matching, key=lambda name: _costliest_first(prices[name], name))[: commitment.count]
        covered.update(chosen)
        for name in chosen:
            result[name] = _under(commitment, prices[name], today)
    return result


def _covers(commitment: Commitment, node: NodePricingFacts, where: Whereabouts) -> bool:
    """Providers apply no commitment to spot capacity, so that only one that names it, or the nodes, can cover it."""
    match = commitment.match
    spot_meant = match.capacity_type is CapacityType.SPOT or match.node is not None or bool(match.selector)
    if where.capacity_type is CapacityType.SPOT and not spot_meant:
        return False
    return match.holds(node.name, node.labels, where)


def _costliest_first(price: Price | Unpriced, name: str) -> tuple[int, str]:
    return (-price.micros_per_hour if isinstance(price, Price) else 1), name


def _under(commitment: Commitment, price: Price | Unpriced, today: date | None) -> Price | Unpriced:
    """An unpriced node stays unpriced: that its saving is nothing does not tell what it costs."""
    if isinstance(price, Unpriced):
        return price
    told = f"{commitment.name}: paid until {commitment.until.isoformat()} whether the node exists or not"
    without = price.committed_micros_per_hour if price.basis is Basis.COMMITTED else price.micros_per_hour
    unchecked = "" if today is not None else " (whether it still runs was not checked)"
    return replace(
        price,
        micros_per_hour=0,
        basis=Basis.COMMITTED,
        assumption=told + unchecked,
        committed_micros_per_hour=without,
        committed_until=commitment.until.isoformat(),
    )
