"""The bundled catalogs hold what is known, leave out what is suspect, and are in order."""

import csv
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from ksolver_cli.catalog.files import catalog_folder
from ksolver_cli.catalog.gpus import gpu_named
from ksolver_cli.catalog.tables import Catalog, bundled_catalog, spelled
from ksolver_cli.catalog.userfile.files import check_price_file, problem_text
from ksolver_cli.domain.money import CapacityType
from tests.paths import DATA, ROOT

FACTS = DATA / "pricing"
needs_facts = pytest.mark.skipif(not FACTS.is_dir(), reason="the price extracts are not here")

KNOWN = [
    ("aws", "us-east-1", "p5.48xlarge", "on-demand", 55_040_000),
    ("aws", "us-east-1", "p4d.24xlarge", "on-demand", 21_957_642),
    ("aws", "us-east-1", "g5.xlarge", "on-demand", 1_006_000),
    ("aws", "us-east-1", "g4dn.xlarge", "on-demand", 526_000),
    ("aws", "us-east-1", "g6.xlarge", "on-demand", 804_800),
    ("aws", "us-east-1", "m5.xlarge", "on-demand", 192_000),
    ("gcp", "us-central1", "a3-highgpu-8g", "on-demand", 88_490_000),
    ("gcp", "us-central1", "a3-highgpu-8g", "spot", 50_609_541),
    ("gcp", "us-central1", "a2-highgpu-1g", "on-demand", 3_673_385),
    ("gcp", "us-central1", "g2-standard-4", "on-demand", 706_832),
    ("azure", "eastus", "Standard_ND96isr_H100_v5", "on-demand", 98_320_000),
    ("azure", "eastus", "Standard_NC40ads_H100_v5", "on-demand", 6_980_000),
    ("azure", "eastus", "Standard_NC24ads_A100_v4", "on-demand", 3_673_000),
    ("azure", "eastus", "Standard_NC4as_T4_v3", "on-demand", 526_000),
]
# GPU, lowest and highest MiB that sources give for one device.
MEMORY = [
    ("t4", 15360, 16384),
    ("a10g", 22888, 24576),
    ("l4", 22888, 24576),
    ("l40s", 45776, 49152),
    ("a100-40gb", 39538, 40960),
    ("a100-80gb", 81920, 81920),
    ("h100-80gb", 81559, 81920),
    ("h200", 144384, 144384),
    ("b200", 183359, 183359),
]


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return bundled_catalog()


def price_tables() -> Iterator[Path]:
    yield from sorted((catalog_folder() / "prices").glob("*/*.csv"))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(("provider", "region", "name", "capacity", "micros"), KNOWN)
def test_known_prices(catalog: Catalog, provider: str, region: str, name: str, capacity: str, micros: int) -> None:
    price = catalog.prices(provider, region)[spelled(provider, name), CapacityType(capacity)]
    assert price.micros_per_hour == micros
    assert price.source
    assert price.date


@pytest.mark.parametrize(("gpu", "low", "high"), MEMORY)
def test_known_gpu_memory(catalog: Catalog, gpu: str, low: int, high: int) -> None:
    assert (catalog.gpus[gpu].memory_low_mib, catalog.gpus[gpu].memory_mib) == (low, high)


@pytest.mark.parametrize(
    ("provider", "name", "gpu", "count", "share"),
    [
        ("azure", "Standard_ND96is_MI300X_v5", "mi300x", 8, "1"),
        ("azure", "Standard_NV6ads_A10_v5", "a10", 1, "1/6"),
        ("azure", "Standard_NP10s", None, 0, "1"),
        ("aws", "g6f.large", "l4", 1, "1/8"),
        ("aws", "gr6f.4xlarge", "l4", 1, "1/2"),
        ("aws", "p3.8xlarge", "v100-16gb", 4, "1"),
        ("aws", "dl1.24xlarge", None, 0, "1"),
        ("gcp", "a2-megagpu-16g", "a100-40gb", 16, "1"),
    ],
)
def test_known_gpus_of_types(
    catalog: Catalog, provider: str, name: str, gpu: str | None, count: int, share: str
) -> None:
    shape = catalog.shapes(provider)[spelled(provider, name)]
    assert (shape.gpu, shape.gpu_count, shape.gpu_share) == (gpu, count, Fraction(share))


def test_there_is_a_whole_catalog(catalog: Catalog) -> None:
    assert {p: len(catalog.regions(p)) for p in catalog.providers} == {"aws": 1, "azure": 57, "gcp": 43}


def test_every_table_passes_its_own_check(catalog: Catalog) -> None:
    """One family of GCP has spot prices that are not in proportion; the provider publishes them so."""
    odd = {
        f"{path.stem}: {text}"
        for path in price_tables()
        for text in map(problem_text, check_price_file(path, catalog))
        if "m4-ultramem-224" not in text
    }
    assert odd == set()


def test_what_is_no_instance_type_is_not_in(catalog: Catalog) -> None:
    names = {row["instance_type"] for region in catalog.regions("azure") for row in rows(table("azure", region))}
    assert not [n for n in names if n.endswith("_Promo") or "Type" in n or "PLACEHOLDER" in n or " " in n]
    assert {n.split("_")[0] for n in names} == {"Standard", "Basic"}


def table(provider: str, region: str) -> Path:
    return catalog_folder() / "prices" / provider / f"{region}.csv"


@needs_facts
def test_suspects_are_left_out(catalog: Catalog) -> None:
    suspects = rows(FACTS / "azure_suspects.csv")
    assert len(suspects) > 1000
    priced = [
        s for s in suspects if (s["sku"].casefold(), CapacityType.ON_DEMAND) in catalog.prices("azure", s["region"])
    ]
    assert priced == []


def test_spot_is_below_on_demand_everywhere(catalog: Catalog) -> None:
    for region in catalog.regions("gcp"):
        prices = catalog.prices("gcp", region)
        for (name, capacity), price in prices.items():
            if capacity is CapacityType.SPOT:
                assert price.micros_per_hour < prices[name, CapacityType.ON_DEMAND].micros_per_hour


def test_shapes_make_sense(catalog: Catalog) -> None:
    for provider in catalog.providers:
        names = [row["instance_type"] for row in rows(catalog.folder / "instances" / f"{provider}.csv")]
        assert names == sorted(set(names))
        for shape in catalog.shapes(provider).values():
            assert shape.vcpu > 0
            assert shape.memory_bytes > 0
            assert shape.gpu is None or (shape.gpu in catalog.gpus and shape.gpu_count > 0), shape
            assert (shape.allocatable_millicores or 0) <= shape.vcpu * 1000
            assert (shape.allocatable_memory_bytes or 0) <= shape.memory_bytes
            assert shape.source in catalog.sources


def test_every_fact_names_a_source_with_a_date(catalog: Catalog) -> None:
    for name in ("gpus", "gpu_aliases", "gpu_cards"):
        assert {row["source"] for row in rows(catalog.folder / f"{name}.csv")} <= catalog.sources.keys()
    assert all(source.retrieved and source.title for source in catalog.sources.values())


def test_spellings_name_gpus_and_are_not_there_twice(catalog: Catalog) -> None:
    spellings = [row["spelling"] for row in rows(catalog.folder / "gpu_aliases.csv")]
    assert spellings == sorted({s.casefold(): s for s in spellings}.values())
    assert set(catalog.gpu_spellings.values()) <= catalog.gpus.keys()
    assert all(gpu_named(spelling, catalog) for spelling in spellings)


def test_the_card_table_is_whole(catalog: Catalog) -> None:
    chart = [c for c in catalog.gpu_cards if c.source == "tensorfusion-chart"]
    assert (len(chart), len(catalog.gpu_cards)) == (24, 136)
    h100 = next(c for c in chart if c.full_name == "NVIDIA H100 80GB HBM3")
    assert (h100.micros_per_hour, h100.fp16_tflops) == (2_990_000, 989)


@needs_facts
def test_the_catalogs_are_what_the_builder_makes_of_the_extracts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tools.build_catalogs", str(FACTS), "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    built = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*.csv")}
    kept = {
        p.relative_to(ROOT / "catalogs"): p.read_bytes()
        for folder in ("prices", "instances")
        for p in (ROOT / "catalogs" / folder).rglob("*.csv")
    }
    assert built == kept


def test_no_file_is_too_big_to_review() -> None:
    assert max(path.stat().st_size for path in price_tables()) < 100_000
