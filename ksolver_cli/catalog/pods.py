"""Prices of pods on virtual nodes, which bill each pod for what it asks."""

from collections.abc import Iterable
from dataclasses import dataclass

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.locate import locate
from ksolver_cli.catalog.pricing import NO_OPTIONS
from ksolver_cli.catalog.userfile.model import Per, Rate, UserPrices


@dataclass(frozen=True, slots=True)
class PodRate:
    """What a virtual node bills for each vCPU, GiB and GPU that a pod requests."""

    rate: Rate
    currency: str
    source: str
    date: str | None

    def micros_per_hour(self, requested_millicores: int, requested_memory_bytes: int, gpus: int = 0) -> int | None:
        """Micro-units an hour of one pod, rounded half to even; None where the rate does not price what it asks."""
        return self.rate.of(requested_millicores, requested_memory_bytes, gpus)


def pod_rates(
    nodes: Iterable[NodePricingFacts], user: UserPrices | None, options: PricingOptions = NO_OPTIONS
) -> dict[str, PodRate | None]:
    """The rate of each virtual node by name: the user's first price per vCPU and GiB for its name or labels; else None.

    The catalogs hold no prices of such services, and a rate for machines is not one for them.
    """
    prices = [p for p in (user.prices if user else ()) if p.match.node is not None or p.match.selector]
    found: dict[str, PodRate | None] = {}
    for node in nodes:
        if not node.is_virtual:
            continue
        where = locate(node, options)
        matching = (p for p in prices if p.rate.amount(Per.VCPU) is not None)
        rate = next((p for p in matching if p.match.holds(node.name, node.labels, where)), None)
        found[node.name] = PodRate(rate.rate, rate.currency, rate.source, rate.date) if rate else None
    return found
