"""What pricing needs to know of a node, and what a person may tell it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from ksolver_cli.domain.labels import Requirement


@dataclass(frozen=True, slots=True)
class NodePricingFacts:
    """The facts of one node that decide its price.

    Capacity is that of the machine (`status.capacity`), which is what is paid for; give allocatable where capacity is
    missing. `gpu_count` is physical cards (see `gpus.physical_gpu_count`), None when it cannot be told.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    provider_id: str = ""
    gpu_product: str | None = None
    gpu_count: int | None = 0
    capacity_millicores: int | None = None
    capacity_memory_bytes: int | None = None
    is_virtual: bool = False


@dataclass(frozen=True, slots=True)
class PricingOptions:
    """What the command line says about prices.

    `region` and `provider` serve only nodes that do not tell their own. `spot_factor`: spot = factor × on-demand where
    no spot price is known. `spot_labels`: labels that mark spot nodes besides the well-known ones. `today` decides
    which commitments still run; without it all do, and the price says that the date was not checked. `bundled_cards`:
    price on-prem GPU nodes by the bundled card table where the user gave no card price.
    """

    region: str | None = None
    provider: str | None = None
    spot_factor: Decimal | None = None
    spot_labels: tuple[tuple[Requirement, ...], ...] = ()
    today: date | None = None
    bundled_cards: bool = False
