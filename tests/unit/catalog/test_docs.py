"""The price file reference says what the reader does."""

import re
from pathlib import Path

import pytest

from ksolver_cli.catalog.userfile.files import check_price_file, load_price_file
from ksolver_cli.catalog.userfile.rows import COLUMNS, Kind
from ksolver_cli.domain.money import Basis
from tests.paths import ROOT

REFERENCE = ROOT / "docs" / "reference" / "price-file.md"
GUIDE = ROOT / "docs" / "guides" / "prices.md"


def examples(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"```(yaml|csv)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize(("format_", "text"), examples(REFERENCE) + examples(GUIDE))
def test_examples_are_good_price_files(tmp_path: Path, format_: str, text: str) -> None:
    path = tmp_path / f"example.{format_}"
    path.write_text(text, encoding="utf-8")
    assert check_price_file(path) == []
    assert load_price_file(path).name == str(path)


def test_the_table_of_keys_is_the_readers() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    written = {key: set(sections.split(", ")) for key, sections in rows}
    read = {key: {kind.value for kind in Kind if key in COLUMNS[kind]} for key in set().union(*COLUMNS.values())}
    assert written == read


def test_the_guide_names_every_basis() -> None:
    named = re.findall(r"^\| `(\w+)` \|", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) == {*Basis}
