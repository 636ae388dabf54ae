"""The catalogs as typed, lazily read tables: a run reads the regions it meets and no others."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, cached_property
from pathlib import Path

from ksolver_cli.catalog.files import CatalogError, catalog_folder, rows, stems
from ksolver_cli.domain.money import Basis, CapacityType, Price, to_micros

CURRENCY = "USD"
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Source:
    """Where facts come from and when they were read."""

    id: str
    title: str
    retrieved: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class InstanceShape:
    """What a machine of an instance type has.

    `gpu_share` is the part of a card that one device of the type is: 1 for whole cards. Allocatable and `max_pods` are
    those of the provider's default node image; None where not known.
    """

    instance_type: str
    vcpu: int
    memory_bytes: int
    arch: str
    gpu: str | None
    gpu_count: int
    gpu_share: Fraction
    accelerators: int
    allocatable_millicores: int | None
    allocatable_memory_bytes: int | None
    max_pods: int | None
    source: str

    @property
    def whole_gpus(self) -> int:
        """Whole cards; 0 for types sold with part of one."""
        return self.gpu_count if self.gpu_share == 1 else 0


@dataclass(frozen=True, slots=True)
class Gpu:
    """Memory of one device, in MiB: as sold, and the lowest figure that a node or provider reports for it."""

    name: str
    vendor: str
    memory_mib: int
    memory_low_mib: int


@dataclass(frozen=True, slots=True)
class GpuCard:
    """A card of the TensorFusion table: price in micro-dollars an hour, FP16 TFLOPS as written."""

    model: str
    full_name: str
    vendor: str
    micros_per_hour: int
    fp16_tflops: Decimal
    source: str


def _whole(text: str) -> int | None:
    return int(text) if text else None


def _mib(text: str) -> int | None:
    return int(text) * MIB if text else None


def _shape(row: Mapping[str, str]) -> InstanceShape:
    return InstanceShape(
        instance_type=row["instance_type"],
        vcpu=int(row["vcpu"]),
        memory_bytes=int(row["memory_mib"]) * MIB,
        arch=row["arch"],
        gpu=row["gpu"] or None,
        gpu_count=int(row["gpu_count"]),
        gpu_share=Fraction(row["gpu_share"]),
        accelerators=int(row["accelerators"]),
        allocatable_millicores=_whole(row["allocatable_millicores"]),
        allocatable_memory_bytes=_mib(row["allocatable_memory_mib"]),
        max_pods=_whole(row["max_pods"]),
        source=row["source"],
    )


class Catalog:
    """The tables under one folder. Prices and shapes are read when first asked for, then kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._prices: dict[tuple[str, str], Mapping[tuple[str, CapacityType], Price]] = {}
        self._shapes: dict[str, Mapping[str, InstanceShape]] = {}
        self._written: dict[tuple[str, str], str] = {}

    @cached_property
    def sources(self) -> Mapping[str, Source]:
        """Sources by id."""
        return {
            row["id"]: Source(row["id"], row["title"], row["retrieved"], row["note"])
            for _, row in rows(self.folder / "sources.csv")
        }

    @cached_property
    def providers(self) -> tuple[str, ...]:
        """Providers with prices, sorted."""
        folder = self.folder / "prices"
        return tuple(sorted(p.name for p in folder.iterdir() if p.is_dir())) if folder.is_dir() else ()

    def regions(self, provider: str) -> tuple[str, ...]:
        """Regions of a provider with prices, sorted."""
        return stems(self.folder / "prices" / provider) if provider in self.providers else ()

    def prices(self, provider: str, region: str) -> Mapping[tuple[str, CapacityType], Price]:
        """Prices by instance type as spelled by the provider (lower case for Azure) and capacity type; empty where the
        catalog has no such region.
        """
        key = (provider, region)
        if key not in self._prices:
            # The check also keeps a label such as `../x` from naming a file.
            known = region in self.regions(provider)
            self._prices[key] = self._read_prices(provider, region) if known else {}
        return self._prices[key]

    def _read_prices(self, provider: str, region: str) -> Mapping[tuple[str, CapacityType], Price]:
        path = self.folder / "prices" / provider / f"{region}.csv"
        found: dict[tuple[str, CapacityType], Price] = {}
        for line, row in rows(path):
            try:
                capacity = CapacityType(row["capacity_type"])
                source = self.sources[row["source"]]
                micros = to_micros(Decimal(row["usd_per_hour"]))
            except (KeyError, ValueError, InvalidOperation) as error:
                raise CatalogError(f"{path}, line {line}: {error!r}", f"run ksolver catalog check {path}") from error
            basis = Basis.SPOT if capacity is CapacityType.SPOT else Basis.LIST
            name = spelled(provider, row["instance_type"])
            self._written[provider, name] = row["instance_type"]
            found[name, capacity] = Price(micros, CURRENCY, basis, source.title, source.retrieved or None)
        return found

    def written(self, provider: str, name: str) -> str:
        """An instance type of a table of prices as its provider writes it."""
        return self._written.get((provider, name), name)

    def shapes(self, provider: str) -> Mapping[str, InstanceShape]:
        """Shapes by instance type, spelled as in `prices`; empty where the catalog has none."""
        if provider not in self._shapes:
            path = self.folder / "instances" / f"{provider}.csv"
            known = provider in stems(self.folder / "instances")
            found = (_shape(row) for _, row in rows(path)) if known else ()
            self._shapes[provider] = {spelled(provider, shape.instance_type): shape for shape in found}
        return self._shapes[provider]

    @cached_property
    def gpus(self) -> Mapping[str, Gpu]:
        """GPUs by name."""
        found = {}
        for _, row in rows(self.folder / "gpus.csv"):
            memory = int(row["memory_mib"])
            low = _whole(row["memory_low_mib"]) or memory
            found[row["gpu"]] = Gpu(row["gpu"], row["vendor"], memory, low)
        return found

    @cached_property
    def gpu_spellings(self) -> Mapping[str, str]:
        """GPU names by spelling in lower case."""
        return {row["spelling"].casefold(): row["gpu"] for _, row in rows(self.folder / "gpu_aliases.csv")}

    @cached_property
    def gpu_cards(self) -> tuple[GpuCard, ...]:
        """The TensorFusion cards; those that its cost uses come before the legacy list."""
        return tuple(
            GpuCard(
                row["model"],
                row["full_name"],
                row["vendor"],
                to_micros(Decimal(row["usd_per_hour"])),
                Decimal(row["fp16_tflops"]),
                row["source"],
            )
            for _, row in rows(self.folder / "gpu_cards.csv")
        )


def spelled(provider: str, instance_type: str) -> str:
    """The key of an instance type: Azure does not tell upper from lower case, the others do."""
    return instance_type.casefold() if provider == "azure" else instance_type


@cache
def _opened(folder: Path) -> Catalog:
    return Catalog(folder)


def bundled_catalog() -> Catalog:
    """The catalogs that come with ksolver, or those of `KSOLVER_CATALOGS`; one object a folder: reads are shared."""
    return _opened(catalog_folder())
