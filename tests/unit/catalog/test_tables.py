"""Where the catalogs are found, and that only what is needed is read."""

import shutil
from pathlib import Path

import pytest

from ksolver_cli.catalog import files
from ksolver_cli.catalog.files import CatalogError, catalog_folder
from ksolver_cli.catalog.tables import Catalog
from ksolver_cli.domain.money import CapacityType
from tests.paths import ROOT

SOURCES = "id,title,retrieved,note\ns,Somewhere,2026-01-01,\n"
HEADER = "instance_type,capacity_type,usd_per_hour,source\n"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "prices" / "aws").mkdir(parents=True)
    (tmp_path / "sources.csv").write_text(SOURCES)
    (tmp_path / "prices" / "aws" / "here.csv").write_text(f"{HEADER}a.large,on-demand,1.5,s\n")
    return tmp_path


def test_a_checkout_has_them_at_its_root() -> None:
    assert catalog_folder() == ROOT / "catalogs"


def test_a_wheel_has_them_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel puts the same folder under ksolver_cli/_data; the same loader must find it there first."""
    package = tmp_path / "ksolver_cli"
    (package / "catalog").mkdir(parents=True)
    shutil.copytree(ROOT / "catalogs", package / "_data" / "catalogs", ignore=shutil.ignore_patterns("prices"))
    monkeypatch.setattr(files, "__file__", str(package / "catalog" / "files.py"))
    assert catalog_folder() == package / "_data" / "catalogs"


def test_ones_own_folder_takes_their_place(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSOLVER_CATALOGS", str(own))
    assert catalog_folder() == own


def test_no_catalogs_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSOLVER_CATALOGS", str(tmp_path))
    with pytest.raises(CatalogError, match="no catalogs"):
        catalog_folder()


def test_a_region_is_read_once_and_only_when_asked_for(own: Path) -> None:
    (own / "prices" / "aws" / "broken.csv").write_text("nonsense")
    catalog = Catalog(own)
    first = catalog.prices("aws", "here")
    assert first["a.large", CapacityType.ON_DEMAND].micros_per_hour == 1_500_000
    assert catalog.prices("aws", "here") is first
    assert catalog.prices("aws", "nowhere") == {}
    assert catalog.prices("nobody", "here") == {}
    assert catalog.shapes("aws") == {}


@pytest.mark.parametrize(
    "row",
    [
        "a.large,on-demand,cheap,s",
        "a.large,often,1,s",
        "a.large,on-demand,1,unknown",
        "a.large",
        "a.large,on-demand,NaN,s",
    ],
)
def test_a_broken_row_is_named(own: Path, row: str) -> None:
    (own / "prices" / "aws" / "here.csv").write_text(f"{HEADER}{row}\n")
    with pytest.raises(CatalogError, match="line 2"):
        Catalog(own).prices("aws", "here")
