"""The table of known models: its shapes and its parameter counts, each derived from the other."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from ksolver_cli.catalog.files import CatalogError
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


def test_every_row_says_where_it_can_be_checked() -> None:
    assert all(row["url"].startswith("https://") and " " not in row["url"] for row in ROWS)


def test_positions_are_those_of_a_decoder() -> None:
    for row in ROWS:
        if row["max_positions"]:
            assert row["family"] in {"decoder", "moe"}
            assert int(row["max_positions"]) % 1_024 == 0


# As frameworks and commands name them: the repository a checkpoint is fetched from.
PUBLISHED = {
    "bert-base-cased": "google-bert/bert-base-cased",
    "bert-base-uncased": "bert-base-uncased",
    "bert-large-uncased": "google-bert/bert-large-uncased",
    "bloom-7b1": "bigscience/bloom-7b1",
    "codellama-34b": "codellama/CodeLlama-34b-Python-hf",
    "deepseek-coder-6.7b": "deepseek-ai/deepseek-coder-6.7b-instruct",
    "distilbert-base-uncased": "distilbert/distilbert-base-uncased",
    "falcon-7b": "tiiuae/falcon-7b-instruct",
    "gemma-2-27b": "google/gemma-2-27b-it",
    "gemma-2-2b": "google/gemma-2-2b",
    "gemma-2-9b": "google/gemma-2-9b-it",
    "gemma-7b": "google/gemma-7b-it",
    "gpt-j-6b": "EleutherAI/gpt-j-6B",
    "gpt-neox-20b": "EleutherAI/gpt-neox-20b",
    "gpt2": "openai-community/gpt2",
    "gpt2-large": "openai-community/gpt2-large",
    "gpt2-medium": "openai-community/gpt2-medium",
    "gpt2-xl": "openai-community/gpt2-xl",
    "llama-2-13b": "meta-llama/Llama-2-13b-chat-hf",
    "llama-2-70b": "meta-llama/Llama-2-70b-hf",
    "llama-2-7b": "meta-llama/Llama-2-7b-hf",
    "llama-3-70b": "meta-llama/Meta-Llama-3-70B-Instruct",
    "llama-3-8b": "meta-llama/Meta-Llama-3-8B",
    "llama-3.1-405b": "meta-llama/Llama-3.1-405B-Instruct-FP8",
    "llama-3.1-70b": "meta-llama/Meta-Llama-3.1-70B",
    "llama-3.1-8b": "meta-llama/Llama-3.1-8B-Instruct",
    "llama-3.2-1b": "meta-llama/Llama-3.2-1B",
    "llama-3.2-3b": "meta-llama/Llama-3.2-3B-Instruct",
    "llama-3.3-70b": "meta-llama/Llama-3.3-70B-Instruct",
    "mistral-7b": "mistralai/Mistral-7B-Instruct-v0.2",
    "mixtral-8x22b": "mistralai/Mixtral-8x22B-Instruct-v0.1",
    "mixtral-8x7b": "mistralai/Mixtral-8x7B-v0.1",
    "opt-13b": "facebook/opt-13b",
    "opt-6.7b": "facebook/opt-6.7b",
    "phi-2": "microsoft/phi-2",
    "phi-3-mini-4k": "microsoft/Phi-3-mini-4k-instruct",
    "pythia-1.4b": "EleutherAI/pythia-1.4b-deduped",
    "pythia-6.9b": "EleutherAI/pythia-6.9b",
    "qwen2-72b": "Qwen/Qwen2-72B-Instruct",
    "qwen2-7b": "Qwen/Qwen2-7B",
    "qwen2.5-0.5b": "Qwen/Qwen2.5-0.5B-Instruct",
    "qwen2.5-14b": "Qwen/Qwen2.5-14B-Instruct-GPTQ-Int4",
    "qwen2.5-32b": "Qwen/Qwen2.5-32B",
    "qwen2.5-72b": "Qwen/Qwen2.5-72B-Instruct",
    "qwen2.5-7b": "Qwen/Qwen2.5-7B-Instruct-AWQ",
    "qwen3-32b": "Qwen/Qwen3-32B",
    "qwen3-8b": "Qwen/Qwen3-8B-Base",
    "resnet101": "resnet101",
    "resnet50": "resnet50",
    "roberta-base": "FacebookAI/roberta-base",
    "roberta-large": "FacebookAI/roberta-large",
    "stable-diffusion-v1-5": "stable-diffusion-v1-5/stable-diffusion-v1-5",
    "stable-diffusion-xl-base-1.0": "stabilityai/stable-diffusion-xl-base-1.0",
    "tinyllama-1.1b": "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    "vit-base-patch16-224": "google/vit-base-patch16-224",
    "vit-large-patch16-224": "google/vit-large-patch16-224",
}


def test_every_row_is_found_by_itself_and_under_its_published_name() -> None:
    assert set(PUBLISHED) == set(known_models())
    for name, published in PUBLISHED.items():
        assert known_model(name) is known_models()[name]
        assert known_model(published) is known_models()[name]


def test_other_spellings() -> None:
    spellings = {
        "mistralai/Mistral-7B-Instruct-v0.3": "mistral-7b",
        "/models/gpt2_xl/": "gpt2-xl",
    }
    for spelling, name in spellings.items():
        assert known_model(spelling) is known_models()[name]
    assert known_model("acme/secret-model") is None
    assert known_model(None) is None


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A catalog of one's own, and no memory of another."""
    (tmp_path / "sources.csv").write_text("id,title,retrieved,note\n")
    monkeypatch.setenv("KSOLVER_CATALOGS", str(tmp_path))
    known_models.cache_clear()
    yield tmp_path
    known_models.cache_clear()


def test_a_catalog_without_models_knows_none(own_folder: Path) -> None:
    assert not known_models()


@pytest.mark.parametrize("text", ["name,parameters\nmine,7\n", "name,family,parameters\nmine,decoder,7B\n"])
def test_a_wrong_row_is_named(own_folder: Path, text: str) -> None:
    (own_folder / "models.csv").write_text(text)
    with pytest.raises(CatalogError, match=r"models\.csv, line 2: "):
        known_models()
