"""`ksolver catalog`: list, look up, check and extend the price and hardware catalogs."""

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from ksolver_cli.catalog.files import CatalogError
from ksolver_cli.catalog.tables import Catalog, InstanceShape, bundled_catalog, spelled
from ksolver_cli.catalog.userfile.files import check_price_file, problem_text
from ksolver_cli.catalog.userfile.model import PriceFileError
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.cli.common.guard import guarded
from ksolver_cli.cli.common.output import emit
from ksolver_cli.domain.money import CapacityType, Price, from_micros, monthly_micros

P = ParamSpec("P")
GIB = 2**30
_NEAR = 6

app = typer.Typer(help="Look up, check and extend prices and hardware.", no_args_is_help=True)


class Output(StrEnum):
    """Formats of these commands."""

    TABLE = "table"
    JSON = "json"


ProviderOption = Annotated[str | None, typer.Option("--provider", help="aws, azure or gcp.")]
RegionOption = Annotated[str | None, typer.Option("--region", help="A region as its provider spells it.")]
OutputOption = Annotated[Output, typer.Option("-o", "--output", help="How to print.")]
Record = dict[str, object]


def _command(name: str, short: str | None = None) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Register a command whose errors are told in two lines."""

    def register(function: Callable[P, None]) -> Callable[P, None]:
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            try:
                function(*args, **kwargs)
            except CatalogError as error:
                raise CommandError(str(error), error.advice, Exit.NO_RESULT) from error

        run.__wrapped__ = function  # type: ignore[attr-defined]  # typer reads the signature of what is wrapped
        run.__doc__ = function.__doc__
        app.command(name, short_help=short)(guarded(run))
        return function

    return register


@_command("list", "Providers, their regions, and types with prices.")
def list_(provider: ProviderOption = None, region: RegionOption = None, output: OutputOption = Output.TABLE) -> None:
    """Providers; with --provider its regions; with --region too, the instance types and their prices."""
    catalog = bundled_catalog()
    if provider is None:
        records = [_provider_record(catalog, name) for name in catalog.providers]
    elif region is None:
        _known(provider, catalog.providers, "provider")
        records = [_region_record(catalog, provider, name) for name in catalog.regions(provider)]
    else:
        _known(provider, catalog.providers, "provider")
        _known(region, catalog.regions(provider), f"{provider} region")
        records = list(_type_records(catalog, provider, region, None))
    _print(records, output)


@_command("show", "All that is known of an instance type.")
def show(
    instance_type: Annotated[str, typer.Argument(help="An instance type, such as m5.xlarge.")],
    region: RegionOption = None,
    provider: ProviderOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """What is known of an instance type: its price in every region or the one given, and its shape."""
    catalog = bundled_catalog()
    providers = [provider] if provider else catalog.providers
    records: list[Record] = []
    for name in providers:
        _known(name, catalog.providers, "provider")
        for place in [region] if region else catalog.regions(name):
            records += _type_records(catalog, name, place, instance_type)
    if not records:
        where = f" in {region}" if region else ""
        raise CommandError(
            f"the catalogs have no price of {instance_type}{where}",
            "see ksolver catalog list --provider NAME --region NAME, or give a price with --prices FILE",
            Exit.USAGE,
        )
    _print(records, output)


@_command("check")
def check(
    files: Annotated[list[Path], typer.Argument(help="Price files (YAML or CSV), or price tables of the catalogs.")],
) -> None:
    """Check price files: every problem at once, with its line. Exit 1 if there are problems, 4 if unreadable."""
    catalog = bundled_catalog()
    found = 0
    for path in files:
        try:
            problems = check_price_file(path, catalog)
        except PriceFileError as error:
            raise CommandError(str(error), error.advice, Exit.SNAPSHOT) from error
        found += len(problems)
        for problem in problems:
            sys.stdout.write(f"{path}: {problem_text(problem)}\n")
    if found:
        raise typer.Exit(Exit.GATE)
    sys.stdout.write(f"{len(files)} file{'s' if len(files) > 1 else ''} checked, no problems\n")


@_command("sources")
def sources(output: OutputOption = Output.TABLE) -> None:
    """Where the facts come from and when they were read."""
    _print(
        [
            {"id": s.id, "retrieved": s.retrieved, "title": s.title, "note": s.note}
            for s in bundled_catalog().sources.values()
        ],
        output,
    )


@_command("gpus", "GPUs, and the memory of one device.")
def gpus(output: OutputOption = Output.TABLE) -> None:
    """GPUs: memory of one device, and the lowest figure that nodes report for it."""
    _print(
        [
            {"gpu": g.name, "vendor": g.vendor, "memory_mib": g.memory_mib, "memory_low_mib": g.memory_low_mib}
            for g in bundled_catalog().gpus.values()
        ],
        output,
    )


@_command("cards", "GPU cards with their prices and FP16 TFLOPS.")
def cards(output: OutputOption = Output.TABLE) -> None:
    """GPU cards with a price an hour and FP16 TFLOPS, as TensorFusion ships them."""
    _print(
        [
            {
                "model": c.model,
                "full_name": c.full_name,
                "usd_per_hour": str(from_micros(c.micros_per_hour)),
                "fp16_tflops": str(c.fp16_tflops),
                "source": c.source,
            }
            for c in bundled_catalog().gpu_cards
        ],
        output,
    )


@_command("extend", "Start a price file with a row for each type.")
def extend(
    instance_types: Annotated[list[str], typer.Argument(help="Instance types to price.")],
    region: Annotated[str, typer.Option("--region", help="The region to price them in.")],
    provider: Annotated[str, typer.Option("--provider", help="aws, azure or gcp.")],
    out: Annotated[str, typer.Option("--out", help="Where to write the file; - is stdout.")] = "-",
) -> None:
    """Start a price file: a row for each type, filled where the catalogs know a price, to complete and correct."""
    catalog = bundled_catalog()
    known = catalog.prices(provider, region)
    lines = ["provider,region,instance_type,capacity_type,hourly,per,currency,source,date"]
    for name in instance_types:
        for capacity in (CapacityType.ON_DEMAND, CapacityType.SPOT):
            price = known.get((spelled(provider, name), capacity))
            lines.append(_starter_row(provider, region, name, capacity, price))
    emit("\n".join(lines) + "\n", out)


def _starter_row(provider: str, region: str, name: str, capacity: CapacityType, price: Price | None) -> str:
    amount = str(from_micros(price.micros_per_hour)) if price else ""
    day = (price.date or "") if price else ""
    source = "bundled catalog" if price else ""
    return f"{provider},{region},{name},{capacity},{amount},node,USD,{source},{day}"


def _known(name: str, names: Iterable[str], what: str) -> None:
    known = tuple(names)
    if name not in known:
        near = get_close_matches(name, known, _NEAR, 0.0)
        hint = f"known are, nearest first: {', '.join(near)}"
        raise CommandError(f"the catalogs have no {what} {name}", hint, Exit.USAGE)


def _provider_record(catalog: Catalog, provider: str) -> Record:
    regions = catalog.regions(provider)
    return {"provider": provider, "regions": len(regions), "shapes": len(catalog.shapes(provider))}


def _region_record(catalog: Catalog, provider: str, region: str) -> Record:
    prices = catalog.prices(provider, region)
    counts = {kind: sum(1 for _, capacity in prices if capacity is kind) for kind in CapacityType}
    return {"region": region, "on_demand": counts[CapacityType.ON_DEMAND], "spot": counts[CapacityType.SPOT]}


def _type_records(catalog: Catalog, provider: str, region: str, wanted: str | None) -> Iterable[Record]:
    shapes = catalog.shapes(provider)
    key = spelled(provider, wanted) if wanted else None
    for (name, capacity), price in sorted(catalog.prices(provider, region).items()):
        if key in (None, name):
            shape = shapes.get(name)
            yield {
                "provider": provider,
                "region": region,
                "instance_type": catalog.written(provider, name),
                "capacity_type": capacity.value,
                "currency": price.currency,
                "per_hour": str(from_micros(price.micros_per_hour)),
                "per_month": str(from_micros(monthly_micros(price.micros_per_hour))),
                **_shape_record(shape),
                "basis": price.basis.value,
                "date": price.date,
            }


def _shape_record(shape: InstanceShape | None) -> Record:
    if shape is None:
        return dict.fromkeys(("vcpu", "memory_gib", "arch", "gpus", "allocatable_cpu_m", "max_pods"))
    share = "" if shape.gpu_share == 1 else f" ({shape.gpu_share} of a card each)"
    return {
        "vcpu": shape.vcpu,
        "memory_gib": round(shape.memory_bytes / GIB, 2),
        "arch": shape.arch,
        "gpus": f"{shape.gpu_count} × {shape.gpu}{share}" if shape.gpu_count else "0",
        "allocatable_cpu_m": shape.allocatable_millicores,
        "max_pods": shape.max_pods,
    }


def _print(records: Sequence[Record], output: Output) -> None:
    if output is Output.JSON:
        emit(json.dumps(records, indent=2, ensure_ascii=False) + "\n", None, exact=True)
        return
    if not records:
        return
    heads = [column.upper() for column in records[0]]
    table = [heads, *([_cell(value) for value in record.values()] for record in records)]
    widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
    for row in table:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)
