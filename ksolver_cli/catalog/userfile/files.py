"""Load and check price files, a person's and the catalogs' own."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from ksolver_cli.catalog.locate import CLOUDS
from ksolver_cli.catalog.tables import CURRENCY, Catalog, bundled_catalog
from ksolver_cli.catalog.userfile.model import Per, PriceFileError, Problem, UserPrices
from ksolver_cli.catalog.userfile.parse import parse
from ksolver_cli.catalog.userfile.plausible import implausible
from ksolver_cli.catalog.userfile.rows import (
    CATALOG_AMOUNT,
    CATALOG_COLUMNS,
    Cell,
    Kind,
    Row,
    Rows,
    csv_rows,
    read_text,
)

_SHOWN = 5


def load_price_file(path: Path) -> UserPrices:
    """The prices of a YAML or CSV file.

    Raises PriceFileError when it cannot be read, or when anything in it is wrong; the error holds all problems. Prices
    that only look odd do not stop it: `check_price_file` reports them.
    """
    found, problems = parse(str(path), _rows(path))
    if problems:
        first = "; ".join(problem_text(p) for p in problems[:_SHOWN])
        more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise PriceFileError(f"{path}: {first}{more}", f"run ksolver catalog check {path}", tuple(problems))
    return found


def check_price_file(path: Path, catalog: Catalog | None = None) -> list[Problem]:
    """Everything that is wrong with a price file or a price table of the catalogs, by line; empty when it is fine.

    Raises PriceFileError when the file cannot be read at all.
    """
    rows = _rows(path)
    found, problems = parse(str(path), rows)
    if _is_catalog(path):
        problems += _catalog_problems(rows)
    problems += implausible(found, catalog or bundled_catalog())
    return sorted(set(problems), key=lambda p: (p.line, p.field, p.message))


def problem_text(problem: Problem) -> str:
    """`line 3, hourly: …`, without what is not known."""
    where = [f"line {problem.line}"] if problem.line else []
    where += [problem.field] if problem.field else []
    return f"{', '.join(where)}: {problem.message}" if where else problem.message


def _rows(path: Path) -> Rows:
    text = read_text(path)
    if path.suffix.lower() != ".csv":
        # Here and not above: `ksolver --help` imports this module, and must not pay for the parser.
        from ksolver_cli.catalog.userfile.yaml_rows import yaml_rows

        return yaml_rows(text, str(path))
    return _catalog_rows(text, path) if _is_catalog(path) else csv_rows(text, str(path))


def _is_catalog(path: Path) -> bool:
    if path.suffix.lower() != ".csv":
        return False
    header = read_text(path).partition("\n")[0].strip().split(",")
    return CATALOG_AMOUNT in header


def _catalog_rows(text: str, path: Path) -> Rows:
    """A price table of the catalogs as rows of a price file; region and provider are in its path."""
    reader = csv.DictReader(io.StringIO(text))
    found = Rows(defaults={"currency": Cell(CURRENCY, 1), "per": Cell(Per.NODE, 1), "region": Cell(path.stem, 1)})
    if path.parent.name in CLOUDS:
        found.defaults["provider"] = Cell(path.parent.name, 1)
    unknown = set(reader.fieldnames or ()) ^ CATALOG_COLUMNS
    found.problems += [Problem(1, column, "unknown or missing column") for column in sorted(unknown)]
    for raw in reader:
        cells = {k: Cell(v or "", reader.line_num) for k, v in raw.items() if isinstance(k, str)}
        if CATALOG_AMOUNT in cells:
            cells["hourly"] = cells.pop(CATALOG_AMOUNT)
        found.rows.append(Row(Kind.PRICE, reader.line_num, cells))
    return found


def _catalog_problems(rows: Rows) -> Iterator[Problem]:
    """What a table of the catalogs must keep beyond a person's file: order, a type on each row, no price of zero."""
    previous = ("", "")
    for row in rows.rows:
        name, capacity, amount = (_cell(row, c) for c in ("instance_type", "capacity_type", "hourly"))
        if not name or not capacity:
            yield Problem(row.line, "instance_type", "a row needs an instance type and a capacity type")
        if (name, capacity) <= previous:
            yield Problem(row.line, "instance_type", f"{name} {capacity} is not in order, or is there twice")
        if not amount.strip("0."):
            yield Problem(row.line, CATALOG_AMOUNT, "a list price is never zero or empty")
        previous = (name, capacity)


def _cell(row: Row, column: str) -> str:
    cell = row.cells.get(column)
    return cell.text if cell else ""
