"""Known models, from `catalogs/models.csv`."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ksolver_cli.catalog.files import CatalogError, catalog_folder, rows
from ksolver_cli.vram.memory.architecture import Architecture

_SUFFIXES = re.compile(
    r"-(instruct|chat|base|hf|it|python|deduped|gptq|awq|fp8|bnb-4bit|4bit|8bit|int4|int8|gguf|v\d\.\d|\d{4}|preview)$"
)


@cache
def known_models() -> Mapping[str, Architecture]:
    """Return known models by plain name; empty where there is no table. Raises CatalogError when a row is wrong."""
    try:
        path = catalog_folder() / "models.csv"
    except CatalogError:
        return {}
    return _read(path) if path.is_file() else {}


def _read(path: Path) -> dict[str, Architecture]:
    found: dict[str, Architecture] = {}
    for line, row in rows(path):
        try:
            found[row["name"]] = _architecture(row)
        except (KeyError, ValueError) as error:
            what = f"no column {error}" if isinstance(error, KeyError) else str(error)
            raise CatalogError(f"{path}, line {line}: {what}", "repair the row, or unset KSOLVER_CATALOGS") from error
    return found


def _architecture(row: Mapping[str, str]) -> Architecture:
    return Architecture(
        parameters=int(row["parameters"]),
        family=row["family"],
        layers=_size(row, "layers"),
        hidden=_size(row, "hidden_size"),
        intermediate=_size(row, "intermediate_size"),
        heads=_size(row, "heads"),
        kv_heads=_size(row, "kv_heads"),
        head_dim=_size(row, "head_dim"),
        vocab=_size(row, "vocab_size"),
        sequence=_size(row, "sequence_length"),
        max_positions=_size(row, "max_positions"),
        activation_elements=_size(row, "activation_elements"),
        experts=_size(row, "experts"),
    )


def _size(row: Mapping[str, str], column: str) -> int | None:
    return int(row[column]) if row.get(column) else None


def known_model(name: str | None) -> Architecture | None:
    """Return the known model of a name as frameworks spell it (`org/Llama-3-8B-Instruct`); None for others.

    Organisation and path are left out, then the suffixes of variants, one by one.
    """
    candidate = (name or "").rstrip("/").rpartition("/")[2].lower().replace("_", "-").removeprefix("meta-")
    models = known_models()
    while candidate not in models:
        shorter = _SUFFIXES.sub("", candidate)
        if shorter == candidate:
            return None
        candidate = shorter
    return models[candidate]
