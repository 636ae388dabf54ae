"""The table of known models: its shapes and its parameter counts, each derived from the other."""

import csv

import pytest

from ksolver_cli.vram.memory.architecture import TRANSFORMERS, count_parameters
from ksolver_cli.vram.memory.models import known_model, known_models
from tests.paths import ROOT

ROWS = list(csv.DictReader((ROOT / "catalogs" / "models.csv").read_text().splitlines()))
SOURCES = {row["id"] for row in csv.DictReader((ROOT / "catalogs" / "sources.csv").read_text().splitlines())}
SHAPE = ("layers", "hidden_size", "intermediate_size", "heads", "kv_heads", "head_dim", "vocab_size", "experts")
TRANSFORMER_ROWS = [row for row in ROWS if row["family"] in TRANSFORMERS]


def test_rows_are_sorted_unique_and_sourced() -> None:
    names = [row["name"] for row in ROWS]
    assert names == sorted(set(names))
    assert {row["source"] for row in ROWS} <= SOURCES
    assert len(known_models()) == len(ROWS)


@pytest.mark.parametrize("row", TRANSFORMER_ROWS, ids=lambda row: row["name"])
def test_the_shape_adds_up_to_the_stated_parameters(row: dict[str, str]) -> None:
    numbers = {name: float(row[name]) for name in SHAPE if row[name]}
    if row["gated"] == "no":
        wide = numbers.pop("intermediate_size")
        assert wide == 4 * numbers["hidden_size"]
    counted = count_parameters(numbers, gated=row["gated"] == "yes", tied=row["tied"] == "yes")
    assert counted == pytest.approx(int(row["parameters"]), rel=0.02)


@pytest.mark.parametrize("row", TRANSFORMER_ROWS, ids=lambda row: row["name"])
def test_shapes_are_possible(row: dict[str, str]) -> None:
    heads, kv_heads = int(row["heads"]), int(row["kv_heads"])
    assert heads % kv_heads == 0
    assert row["head_dim"] or int(row["hidden_size"]) % heads == 0


def test_every_name_is_found_by_itself_and_under_its_usual_spellings() -> None:
    for row in ROWS:
        assert known_model(row["name"]) is known_models()[row["name"]]
    spellings = {
        "meta-llama/Llama-2-7b-hf": "llama-2-7b",
        "meta-llama/Meta-Llama-3-8B-Instruct": "llama-3-8b",
        "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b",
        "mistralai/Mixtral-8x7B-v0.1": "mixtral-8x7b",
        "Qwen/Qwen2.5-7B-Instruct-AWQ": "qwen2.5-7b",
        "/models/gpt2_xl/": "gpt2-xl",
        "google/gemma-2-9b-it": "gemma-2-9b",
    }
    for spelling, name in spellings.items():
        assert known_model(spelling) is known_models()[name]
    assert known_model("acme/secret-model") is None
    assert known_model(None) is None
