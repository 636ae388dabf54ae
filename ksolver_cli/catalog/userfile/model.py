"""What a price file says, after reading."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from ksolver_cli.catalog.locate import Whereabouts
from ksolver_cli.catalog.selectors import selects
from ksolver_cli.domain.labels import Requirement
from ksolver_cli.domain.money import CapacityType

GIB = 2**30
MILLI = 1000


class Per(StrEnum):
    """What one amount pays for."""

    NODE = "node"
    GPU = "gpu"
    VCPU = "vcpu"
    GIB = "gib"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in a price file. `line` counts from 1; 0 where the whole file is meant."""

    line: int
    field: str
    message: str


class PriceFileError(Exception):
    """A price file that cannot be read, or has problems; the message names the file, `advice` says what to do."""

    def __init__(self, message: str, advice: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.advice = advice
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Match:
    """Which nodes a line of the file speaks of: all that is given must hold; nothing given matches every node.

    `capacity_type` None: on-demand for prices, any for discounts and commitments. `family` is the instance type up to
    the first dot (AWS) or the first dash (GCP), or the letters after `Standard_` (Azure).
    """

    node: str | None = None
    selector: tuple[Requirement, ...] = ()
    provider: str | None = None
    region: str | None = None
    instance_type: str | None = None
    family: str | None = None
    capacity_type: CapacityType | None = None

    @property
    def is_by_type(self) -> bool:
        """Whether the line is a row of a price table and not about nodes by name or label."""
        return self.node is None and not self.selector and self.instance_type is not None

    def holds(self, name: str, labels: Mapping[str, str], where: Whereabouts) -> bool:
        """Whether a node is meant. A place or type that the node does not tell never matches one that is asked for."""
        asked = (
            (self.node, name),
            (self.provider, where.provider),
            (self.region, where.region),
            (self.family, family_of(where.instance_type)),
            (self.capacity_type, where.capacity_type),
        )
        same = all(wanted is None or wanted == have for wanted, have in asked)
        return same and self._same_type(where) and selects(self.selector, labels)

    def _same_type(self, where: Whereabouts) -> bool:
        if self.instance_type is None or where.instance_type is None:
            return self.instance_type is None
        if where.provider == "azure":
            return self.instance_type.casefold() == where.instance_type.casefold()
        return self.instance_type == where.instance_type


def family_of(instance_type: str | None) -> str | None:
    """`m5` of `m5.xlarge`, `n2` of `n2-standard-4`, `D` of `Standard_D4s_v3`; None without a type."""
    if instance_type is None:
        return None
    if instance_type.startswith(("Standard_", "Basic_")):
        size = instance_type.partition("_")[2]
        return size[: next((i for i, c in enumerate(size) if not c.isalpha()), len(size))]
    head, dot, _ = instance_type.partition(".")
    return head if dot else instance_type.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Rate:
    """Micro-units an hour: for the node, or for each GPU, vCPU and GiB; None where not given."""

    node: int | None = None
    gpu: int | None = None
    vcpu: int | None = None
    gib: int | None = None

    def with_amount(self, per: Per, micros: int) -> "Rate":
        """The same rate with one amount set."""
        amounts = {Per.NODE: self.node, Per.GPU: self.gpu, Per.VCPU: self.vcpu, Per.GIB: self.gib, per: micros}
        return Rate(amounts[Per.NODE], amounts[Per.GPU], amounts[Per.VCPU], amounts[Per.GIB])

    def amount(self, per: Per) -> int | None:
        """The amount for one unit."""
        return {Per.NODE: self.node, Per.GPU: self.gpu, Per.VCPU: self.vcpu, Per.GIB: self.gib}[per]

    def of(self, millicores: int | None, memory_bytes: int | None, gpus: int | None) -> int | None:
        """Micro-units an hour of so much capacity, rounded half to even once; None where the rate cannot tell.

        A rate for each GPU says nothing of a node without GPUs, and a rate for vCPU and GiB nothing of one with GPUs
        unless it prices them too: neither is ever 0 by omission.
        """
        if self.node is not None:
            return self.node
        if self.vcpu is None and self.gib is None:
            return self.gpu * gpus if self.gpu is not None and gpus else None
        if millicores is None or memory_bytes is None or gpus is None or (gpus and self.gpu is None):
            return None
        cores = Fraction(millicores, MILLI) * (self.vcpu or 0)
        memory = Fraction(memory_bytes, GIB) * (self.gib or 0)
        return round(cores + memory + gpus * (self.gpu or 0))


@dataclass(frozen=True, slots=True)
class UserPrice:
    """One price of the file."""

    match: Match
    rate: Rate
    currency: str
    source: str
    date: str | None
    line: int


@dataclass(frozen=True, slots=True)
class CardPrice:
    """The price of one GPU card, for nodes of no cloud."""

    card: str
    micros_per_hour: int
    currency: str
    source: str
    date: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Discount:
    """What the price of the matching nodes is multiplied by."""

    match: Match
    factor: Decimal
    line: int


@dataclass(frozen=True, slots=True)
class Commitment:
    """Nodes that are paid whether they exist or not, up to and including the day `until`; `count` None: all of them."""

    name: str
    match: Match
    count: int | None
    until: date
    line: int


@dataclass(frozen=True, slots=True)
class UserPrices:
    """A price file."""

    name: str
    prices: tuple[UserPrice, ...] = ()
    cards: tuple[CardPrice, ...] = ()
    discounts: tuple[Discount, ...] = ()
    commitments: tuple[Commitment, ...] = ()
    spot_labels: tuple[tuple[Requirement, ...], ...] = ()
