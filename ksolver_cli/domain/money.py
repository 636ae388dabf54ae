"""Money as exact integers: micro-units of a currency an hour, and where each number came from."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from fractions import Fraction

HOURS_PER_MONTH = 730
MICROS = 1_000_000
_WIDEST = 10**12
_ONE = Decimal(1)


class Basis(StrEnum):
    """How a price was obtained."""

    LIST = "list"
    """The provider's published on-demand price."""
    SPOT = "spot"
    """The provider's published spot price."""
    USER = "user"
    """Given by the user, or a published price times a factor that the user gave."""
    COMMITTED = "committed"
    """Paid whether the node exists or not: the marginal price is 0."""
    ASSUMED = "assumed"
    """Rests on an assumption that the user stated, such as a spot factor; `Price.assumption` says which."""


class CapacityType(StrEnum):
    """How capacity is bought; the values of `karpenter.sh/capacity-type`."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"


class UnpricedReason(StrEnum):
    """Why a node carries no price."""

    PROVIDER_UNKNOWN = "provider-unknown"
    PROVIDER_NOT_IN_CATALOG = "provider-not-in-catalog"
    INSTANCE_TYPE_UNKNOWN = "instance-type-unknown"
    REGION_UNKNOWN = "region-unknown"
    REGION_NOT_IN_CATALOG = "region-not-in-catalog"
    TYPE_NOT_IN_REGION = "type-not-in-region"
    SPOT_PRICE_UNKNOWN = "spot-price-unknown"
    LOCAL_ZONE = "local-zone"
    WINDOWS = "windows"
    GPU_NOT_INCLUDED = "gpu-not-included"
    GPU_COUNT_UNKNOWN = "gpu-count-unknown"
    VIRTUAL_NODE = "virtual-node"


@dataclass(frozen=True, slots=True)
class Price:
    """What one more hour of a node costs, in micro-units of `currency`, and the provenance of that number.

    `committed_micros_per_hour` is what the node would cost without its commitment (None: not known, or no commitment).
    """

    micros_per_hour: int
    currency: str
    basis: Basis
    source: str
    date: str | None = None
    assumption: str | None = None
    committed_micros_per_hour: int | None = None
    committed_until: str | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """No price is known, and why. Not zero: it takes no part in sums or differences."""

    reason: UnpricedReason
    detail: str


def to_micros(amount: Decimal | Fraction) -> int:
    """Micro-units of an amount, rounded half to even, once.

    Raises ValueError for amounts that are not finite or absurdly large.
    """
    if isinstance(amount, Decimal) and not amount.is_finite():
        raise ValueError(f"{amount} is not an amount of money")
    exact = Fraction(amount)
    if abs(exact) > _WIDEST:
        raise ValueError(f"{amount} is out of range")
    return round(exact * MICROS)


def from_micros(micros: int) -> Decimal:
    """The amount in whole units, exact, with at least two decimals and no more than needed."""
    amount = Decimal(micros).scaleb(-6).normalize()
    exponent = amount.as_tuple().exponent
    places = max(2, -exponent) if isinstance(exponent, int) else 2
    return amount.quantize(_ONE.scaleb(-places), rounding=ROUND_HALF_EVEN)


def monthly_micros(micros_per_hour: int) -> int:
    """A month is 730 hours; exact."""
    return micros_per_hour * HOURS_PER_MONTH


def hourly_from_monthly(amount: Decimal) -> int:
    """Micro-units an hour of a monthly amount: divided by 730, rounded half to even; the month shown may differ from
    the month given by at most 365 micro-units.
    """
    return to_micros(Fraction(amount) / HOURS_PER_MONTH)


def total_by_currency(prices: Iterable[Price | Unpriced]) -> dict[str, int]:
    """Sums per currency, in order of currency; unpriced nodes are left out, currencies are never mixed."""
    totals: dict[str, int] = {}
    for price in prices:
        if isinstance(price, Price):
            totals[price.currency] = totals.get(price.currency, 0) + price.micros_per_hour
    return dict(sorted(totals.items()))


def difference(before: Price | Unpriced, after: Price | Unpriced) -> int | None:
    """`after` − `before` in micro-units an hour; None when either is unpriced or the currencies differ.

    A node that lost its price did not become cheaper.
    """
    if isinstance(before, Unpriced) or isinstance(after, Unpriced) or before.currency != after.currency:
        return None
    return after.micros_per_hour - before.micros_per_hour


def split_micros(total: int, weights: Sequence[int]) -> tuple[int, ...]:
    """Parts of a total in proportion to weights, which sum to it exactly (largest remainder; ties to the first).

    All zero weights: equal parts. Raises ValueError for a negative weight or none at all.
    """
    if not weights or min(weights) < 0:
        raise ValueError("weights must be given, and not negative")
    effective = list(weights) if any(weights) else [1] * len(weights)
    whole = sum(effective)
    parts = [total * w // whole for w in effective]
    left = total - sum(parts)
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(total * effective[i] % whole), i))
    for i in by_remainder[:left]:
        parts[i] += 1
    return tuple(parts)
