"""Price files as flat rows of text with line numbers, whatever format they are in."""

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from ksolver_cli.catalog.userfile.model import PriceFileError, Problem

MAX_BYTES = 32 * 2**20


class Kind(StrEnum):
    """What a row speaks of; the values are the sections of the YAML form."""

    PRICE = "prices"
    CARD = "gpu_cards"
    DISCOUNT = "discounts"
    COMMITMENT = "commitments"
    SPOT = "spot"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as written, and its line."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its kind, and its cells by column."""

    kind: Kind
    line: int
    cells: Mapping[str, Cell]


@dataclass
class Rows:
    """All rows of a file, what holds for every row that does not say otherwise, and what could not be read."""

    rows: list[Row] = field(default_factory=list)
    defaults: dict[str, Cell] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


MATCH_COLUMNS = ("node", "selector", "provider", "region", "instance_type", "family", "capacity_type")
AMOUNT_COLUMNS = ("hourly", "monthly")
DEFAULT_COLUMNS = ("currency", "source", "date")
COLUMNS: Mapping[Kind, frozenset[str]] = {
    Kind.PRICE: frozenset({*MATCH_COLUMNS, *AMOUNT_COLUMNS, *DEFAULT_COLUMNS, "per"} - {"family"}),
    Kind.CARD: frozenset({*AMOUNT_COLUMNS, *DEFAULT_COLUMNS, "card"}),
    Kind.DISCOUNT: frozenset({*MATCH_COLUMNS, "factor"}),
    Kind.COMMITMENT: frozenset({*MATCH_COLUMNS, "name", "count", "until"}),
    Kind.SPOT: frozenset({"selector"}),
}
ALL_COLUMNS = frozenset().union(*COLUMNS.values())
CATALOG_AMOUNT = "usd_per_hour"
CATALOG_COLUMNS = frozenset({"instance_type", "capacity_type", CATALOG_AMOUNT, "source"})


def read_text(path: Path) -> str:
    """The text of a price file. Raises PriceFileError when it cannot be read."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise PriceFileError(f"{path} is larger than 32 MiB", "give a price file in YAML or CSV")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or "not UTF-8 text"
        raise PriceFileError(f"cannot read {path}: {why}", "give a readable price file in YAML or CSV") from error


def csv_rows(text: str, name: str) -> Rows:
    """Rows of a CSV price file; a row's kind is told by the cells that it fills."""
    found = Rows()
    reader = csv.reader(io.StringIO(text), strict=True)
    try:
        header = [column.strip().lower() for column in next(reader, [])]
        if not any(header):
            raise PriceFileError(f"{name} is empty", "see the price file reference for its columns")
        found.problems += _header_problems(header)
        for values in reader:
            row = _csv_row(header, values, reader.line_num, found.problems)
            if row is not None:
                found.rows.append(row)
    except csv.Error as error:
        raise PriceFileError(f"{name}, line {reader.line_num}: {error}", "quote cells that hold commas") from error
    return found


def _header_problems(header: list[str]) -> Iterator[Problem]:
    for index, column in enumerate(header):
        if column not in ALL_COLUMNS:
            yield Problem(1, column, f"unknown column; known are {', '.join(sorted(ALL_COLUMNS))}")
        elif column in header[:index]:
            yield Problem(1, column, "the column is there twice")


def _csv_row(header: list[str], values: list[str], line: int, problems: list[Problem]) -> Row | None:
    if len(values) > len(header):
        problems.append(Problem(line, "", f"{len(values)} cells under {len(header)} columns"))
    pairs = zip(header, values, strict=False)
    cells = {column: Cell(value.strip(), line) for column, value in pairs if value.strip()}
    if not cells:
        return None
    kind = _kind_of(cells)
    foreign = sorted(cells.keys() & ALL_COLUMNS - COLUMNS[kind])
    problems += [Problem(line, column, f"has no meaning in a row of {kind}") for column in foreign]
    return Row(kind, line, cells)


def _kind_of(cells: Mapping[str, Cell]) -> Kind:
    for column, kind in (("card", Kind.CARD), ("factor", Kind.DISCOUNT), ("until", Kind.COMMITMENT)):
        if column in cells:
            return kind
    return Kind.PRICE
