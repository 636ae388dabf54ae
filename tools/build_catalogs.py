"""Build catalogs/ from a folder of price and shape extracts: `python -m tools.build_catalogs FACTS [--out catalogs]`.

FACTS holds aws_us-east-1.csv, gcp_od_spot.csv, azure_od.csv, azure_shapes.csv and azure_suspects.csv. Prices are copied
as written; what is left out, and why, is said on stderr and in catalogs/README.md. The tables of GPUs, GPU cards and
sources are kept by hand and not touched.
"""

import argparse
import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from tools.catalog_shapes import Shape, aws_gpu, azure_gpu, gcp_shape

PRICE_COLUMNS = ("instance_type", "capacity_type", "usd_per_hour", "source")
SHAPE_COLUMNS = (
    "instance_type",
    "vcpu",
    "memory_mib",
    "arch",
    "gpu",
    "gpu_count",
    "gpu_share",
    "accelerators",
    "allocatable_millicores",
    "allocatable_memory_mib",
    "max_pods",
    "source",
)
# Sizes of Azure that can be a node: dedicated hosts (Type1), reserved names and promotional meters are not.
AZURE_SIZE = re.compile(r"(Standard|Basic)_[A-Za-z0-9_-]+")
AZURE_FAMILY = re.compile(r"(?P<head>Standard_[A-Z]+)(?P<vcpu>\d+)(-\d+)?(?P<tail>[a-z]+_v\d+)")
WINDOWS_PER_VCPU = Decimal("0.046")
LICENCE_SLACK = Decimal("0.0006")
LEAST_RATIO = Decimal("1.25")
AZURE_NOT_A_SIZE = re.compile(r"_Promo$|_SPECIAL$|Type ?\d+$|PLACEHOLDER")


@dataclass(frozen=True)
class Fact:
    """One price as read."""

    region: str
    instance_type: str
    capacity_type: str
    per_hour: str


@dataclass
class Built:
    """What one provider's extracts came to."""

    provider: str
    price_source: str
    shape_source: str
    prices: list[Fact] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def read(path: Path) -> Iterator[Mapping[str, str]]:
    """Rows of a CSV file with a header."""
    with path.open(newline="", encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def quantity(text: str, suffix: str) -> int | None:
    """The number of `7910m` or `14103Mi`; None for an empty cell."""
    return int(text.removesuffix(suffix)) if text else None


def build_aws(facts: Path) -> Built:
    """On-demand prices and shapes of one region; old families keep their price without a shape."""
    built = Built("aws", "aws-list", "aws-types")
    for row in read(facts / "aws_us-east-1.csv"):
        name = row["instance_type"]
        if row["usd_hour_od_us_east_1"]:
            built.prices.append(Fact("us-east-1", name, "on-demand", row["usd_hour_od_us_east_1"]))
        else:
            built.left_out["no price"] += 1
        if not row["vcpu"]:
            built.left_out["no shape"] += 1
            continue
        shape = Shape(
            int(row["vcpu"]),
            int(row["memory_mib"]),
            row["arch"],
            gpu_count=int(row["gpu_count"]),
            accelerators=int(row["accelerator_count"] or 0),
            allocatable_millicores=quantity(row["allocatable_cpu"], "m"),
            allocatable_memory_mib=quantity(row["allocatable_memory"], "Mi"),
            max_pods=quantity(row["max_pods"], ""),
        )
        built.shapes[name] = aws_gpu(name, shape, row["gpu_name"], quantity(row["gpu_memory_mib_each"], ""))
    return built


def build_gcp(facts: Path) -> Built:
    """On-demand and spot prices. A spot price that is not below on-demand is no offer of spot capacity: left out."""
    built = Built("gcp", "gcp-list", "gcp-types")
    for row in read(facts / "gcp_od_spot.csv"):
        name, region = row["machine_type"], row["region"]
        built.prices.append(Fact(region, name, "on-demand", row["usd_hour_od"]))
        if Decimal(row["usd_hour_spot"]) < Decimal(row["usd_hour_od"]):
            built.prices.append(Fact(region, name, "spot", row["usd_hour_spot"]))
        else:
            built.left_out["spot price not below on-demand"] += 1
        shape = gcp_shape(name)
        if shape is not None:
            built.shapes[name] = shape
    return built


def azure_reason_out(row: Mapping[str, str], suspects: set[tuple[str, str]]) -> str | None:
    """Why an Azure row is not the price of a Linux instance type; None when it is."""
    size = row["sku"]
    if not AZURE_SIZE.fullmatch(size) or AZURE_NOT_A_SIZE.search(size):
        return "not an instance type"
    if (row["region"], size) in suspects:
        return "suspected Windows price"
    if Decimal(row["usd_hour_od"]) <= 0:
        return "price of zero"
    return None


def licensed_rows(rows: Iterable[Mapping[str, str]]) -> set[tuple[str, str]]:
    """Azure rows that cost exactly a Windows licence for each vCPU more than the cheapest size of their family there.

    The list of suspects stops at 1.7 times the cheapest; families with much memory stay below it and are caught here.
    """
    families: dict[tuple[str, str, str], list[tuple[Decimal, str]]] = defaultdict(list)
    for row in rows:
        size = AZURE_FAMILY.fullmatch(row["sku"])
        price = Decimal(row["usd_hour_od"])
        if size and price > 0:
            rate = price / int(size["vcpu"])
            families[row["region"], size["head"], size["tail"]].append((rate, row["sku"]))
    found = set()
    for (region, _, _), members in families.items():
        cheapest = min(rate for rate, _ in members)
        found |= {(region, sku) for rate, sku in members if is_licence(rate, cheapest)}
    return found


def is_licence(rate: Decimal, cheapest: Decimal) -> bool:
    """Whether the excess for each vCPU is the licence, and large enough not to be a coincidence."""
    return abs(rate - cheapest - WINDOWS_PER_VCPU) <= LICENCE_SLACK and rate >= cheapest * LEAST_RATIO


def build_azure(facts: Path) -> Built:
    """On-demand prices and shapes, without Windows prices, promotional meters, dedicated hosts and zero prices."""
    built = Built("azure", "azure-list", "azure-types")
    suspects = {(row["region"], row["sku"]) for row in read(facts / "azure_suspects.csv")}
    rows = list(read(facts / "azure_od.csv"))
    suspects |= licensed_rows(rows)
    for row in rows:
        reason = azure_reason_out(row, suspects)
        if reason:
            built.left_out[reason] += 1
        else:
            built.prices.append(Fact(row["region"], row["sku"], "on-demand", row["usd_hour_od"]))
    for row in read(facts / "azure_shapes.csv"):
        if row["memory_mib"] == "0":
            built.left_out["no shape"] += 1
            continue
        shape = Shape(int(row["vcpu"]), int(row["memory_mib"]), row["arch"])
        built.shapes[row["sku"]] = azure_gpu(row["sku"], shape, int(row["gpu"]))
    return built


def write(path: Path, columns: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    """A sorted CSV file with Unix line ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def trimmed(per_hour: str) -> str:
    """The same number without trailing zeros; every digit that says something stays."""
    return per_hour.rstrip("0").rstrip(".") if "." in per_hour else per_hour


def write_prices(built: Built, out: Path) -> None:
    """One file a region, so that a run reads only the regions it needs and a change reads region by region."""
    regions: dict[str, list[Fact]] = defaultdict(list)
    for fact in built.prices:
        regions[fact.region].append(fact)
    for region, facts in sorted(regions.items()):
        rows = sorted((f.instance_type, f.capacity_type, trimmed(f.per_hour), built.price_source) for f in facts)
        write(out / "prices" / built.provider / f"{region}.csv", PRICE_COLUMNS, rows)


def cell(value: int | None) -> object:
    """An unknown is an empty cell."""
    return "" if value is None else value


def write_shapes(built: Built, out: Path) -> None:
    """One file a provider."""
    rows = (
        (
            name,
            shape.vcpu,
            shape.memory_mib,
            shape.arch,
            shape.gpu,
            shape.gpu_count,
            shape.gpu_share,
            shape.accelerators,
            cell(shape.allocatable_millicores),
            cell(shape.allocatable_memory_mib),
            cell(shape.max_pods),
            built.shape_source,
        )
        for name, shape in sorted(built.shapes.items())
    )
    write(out / "instances" / f"{built.provider}.csv", SHAPE_COLUMNS, rows)


def main() -> None:
    """Build, write, and say what was left out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "catalogs")
    arguments = parser.parse_args()
    for built in (build_aws(arguments.facts), build_gcp(arguments.facts), build_azure(arguments.facts)):
        write_prices(built, arguments.out)
        write_shapes(built, arguments.out)
        out = "; ".join(f"{count} rows left out: {why}" for why, count in sorted(built.left_out.items()))
        sys.stderr.write(f"{built.provider}: {len(built.prices)} prices, {len(built.shapes)} shapes; {out}\n")


if __name__ == "__main__":
    main()
