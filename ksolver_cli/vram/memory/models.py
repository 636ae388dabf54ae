"""Known models, from `catalogs/models.csv`."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from ksolver_cli.catalog.files import CatalogError, catalog_folder, rows
from ksolver_cli.vram.memory.architecture import Architecture

_SUFFIXES = re.compile(
    r"-(instruct|chat|base|hf|it|gptq|awq|fp8|bnb-4bit|4bit|8bit|int4|int8|gguf|v0\.\d|\d{4}|distilled?|preview)$"
)


@cache
def known_models() -> Mapping[str, Architecture]:
    """Return known models by plain name; empty where there is no catalog."""
    try:
        return _read(catalog_folder() / "models.csv")
    except CatalogError:
        return {}


def _read(path: Path) -> dict[str, Architecture]:
    return {row["name"]: _architecture(row) for _, row in rows(path)}


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
        activation_elements=_size(row, "activation_elements"),
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
