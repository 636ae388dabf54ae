"""Sizes of one instance family: what differs only in size should cost in proportion."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from ksolver_cli.catalog.tables import Catalog, InstanceShape, spelled
from ksolver_cli.catalog.userfile.model import GIB, Problem
from ksolver_cli.domain.money import CapacityType, from_micros

# A price per unit of size that strays further than this from its family's median is no rounding or volume effect.
TOLERANCE = Fraction(8, 5)
_FEWEST = 3

_AWS_SIZE = {
    "nano": Fraction(1, 4),
    "micro": Fraction(1, 2),
    "small": Fraction(1),
    "medium": Fraction(2),
    "large": Fraction(4),
    "xlarge": Fraction(8),
}
# HPC types are a whole host whatever their size says.
_WHOLE_HOST = "hpc"
_AWS = re.compile(r"(?P<family>[a-z0-9-]+)\.(?P<times>\d*)(?P<size>nano|micro|small|medium|large|xlarge)")
_AZURE = re.compile(r"(?P<head>(Standard|Basic)_[A-Za-z]+)(?P<size>\d+)(?P<tail>[a-z]*(_.*)?)")
_GCP = re.compile(r"(?P<head>[a-z]\w+-[a-z]+)-(?P<size>\d+)(?P<tail>(-\w+)?)")


@dataclass(frozen=True, slots=True)
class Listed:
    """A price of an instance type, and the line that states it."""

    line: int
    provider: str
    region: str
    instance_type: str
    capacity_type: CapacityType
    currency: str
    micros_per_hour: int


def family_and_size(instance_type: str, shape: InstanceShape | None) -> tuple[str, Fraction] | None:
    """The family of a type and its size in units of that family.

    None where size says little about price: GPUs and accelerators, HPC and metal hosts, unusual spellings. Azure's old
    families mix shapes under one spelling, so that there only sizes with the same memory for each vCPU are siblings.
    """
    if shape is not None and (shape.gpu_count or shape.accelerators):
        return None
    if found := _AWS.fullmatch(instance_type):
        size = _AWS_SIZE[found["size"]] * int(found["times"] or 1)
        return None if found["family"].startswith(_WHOLE_HOST) else (found["family"], size)
    if found := _GCP.fullmatch(instance_type):
        return f"{found['head']}#{found['tail']}", Fraction(found["size"])
    if shape is not None and (found := _AZURE.fullmatch(instance_type)):
        memory = round(Fraction(shape.memory_bytes, shape.vcpu * GIB))
        return f"{found['head']}#{found['tail']} {memory}", Fraction(shape.vcpu)
    return None


def siblings_out_of_proportion(prices: Iterable[Listed], catalog: Catalog) -> Iterator[Problem]:
    """Prices that are far from their family's, size for size, in the same region and capacity type.

    Families of fewer than three sizes say nothing; free machines are left alone.
    """
    families: dict[tuple[str, ...], list[tuple[Fraction, Listed]]] = defaultdict(list)
    for price in prices:
        shape = catalog.shapes(price.provider).get(spelled(price.provider, price.instance_type))
        known = family_and_size(price.instance_type, shape)
        if known is not None and known[1] and price.micros_per_hour:
            family, size = known
            key = (price.provider, price.region, price.capacity_type, price.currency, family)
            families[key].append((price.micros_per_hour / size, price))
    for members in families.values():
        if len(members) >= _FEWEST:
            yield from _strays(members)


def _strays(members: list[tuple[Fraction, Listed]]) -> Iterator[Problem]:
    # The lower median, so that of two halves the cheaper is the usual one.
    usual = sorted(rate for rate, _ in members)[(len(members) - 1) // 2]
    for rate, price in members:
        times = rate / usual
        if not 1 / TOLERANCE <= times <= TOLERANCE:
            amount = from_micros(price.micros_per_hour)
            yield Problem(
                price.line,
                "hourly",
                f"{price.instance_type} at {amount} an hour is {float(times):.2f} times what its siblings cost by size",
            )
