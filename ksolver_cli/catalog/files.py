"""Where the catalogs lie, and their rows."""

import csv
import os
from collections.abc import Iterator, Mapping
from pathlib import Path


class CatalogError(Exception):
    """The catalogs are missing or broken; the message says what and where, `advice` what to do."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


def catalog_folder() -> Path:
    """The folder of the catalogs: `KSOLVER_CATALOGS` if set, else the one in the package, else the one in the checkout.

    Raises CatalogError when there is none.
    """
    named = os.environ.get("KSOLVER_CATALOGS")
    package = Path(__file__).resolve().parent.parent
    candidates = [Path(named)] if named else [package / "_data" / "catalogs", package.parent / "catalogs"]
    for folder in candidates:
        if (folder / "sources.csv").is_file():
            return folder
    raise CatalogError(
        f"no catalogs in {' or '.join(str(c) for c in candidates)}",
        "reinstall ksolver, or set KSOLVER_CATALOGS to a folder that has sources.csv",
    )


def rows(path: Path) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Line numbers and rows of a CSV file with a header. Raises CatalogError when it cannot be read."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            for row in reader:
                # A short row gives None for the missing cells, a long one a list under the key None.
                yield reader.line_num, {k: v or "" for k, v in row.items() if isinstance(k, str)}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CatalogError(f"cannot read {path}: {error}", "reinstall ksolver, or repair the file") from error


def stems(folder: Path) -> tuple[str, ...]:
    """Names of the CSV files of a folder, sorted; none when there is no such folder."""
    return tuple(sorted(path.stem for path in folder.glob("*.csv"))) if folder.is_dir() else ()
