"""Parameters of the known models counted tensor by tensor, biases and norms included, from the structure of each.

A second count beside the product's own, which rounds norms and biases away: what is stated must be what the shape
makes, to the last parameter.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ksolver_cli.vram.memory.architecture import TRANSFORMERS
from tests.paths import ROOT

ROWS = list(csv.DictReader((ROOT / "catalogs" / "models.csv").read_text().splitlines()))


@dataclass(frozen=True)
class Shape:
    """A row's numbers."""

    layers: int
    hidden: int
    wide: int
    heads: int
    kv_heads: int
    head: int
    vocab: int
    experts: int
    tied: bool

    @property
    def attention(self) -> int:
        return 2 * self.hidden * self.head * (self.heads + self.kv_heads)

    @property
    def embeddings(self) -> int:
        return self.vocab * self.hidden * (1 if self.tied else 2)


def shape(row: dict[str, str]) -> Shape:
    hidden, heads = int(row["hidden_size"]), int(row["heads"])
    return Shape(
        layers=int(row["layers"]),
        hidden=hidden,
        wide=int(row["intermediate_size"]),
        heads=heads,
        kv_heads=int(row["kv_heads"]),
        head=int(row["head_dim"] or hidden // heads),
        vocab=int(row["vocab_size"] or 0),
        experts=int(row["experts"] or 0),
        tied=row["tied"] == "yes",
    )


def llama(s: Shape, *, norms: int = 2, more: int = 0) -> int:
    """Three matrices forward, weight-only norms, no bias; `more` is what a variant adds to each layer."""
    forward = 3 * s.hidden * s.wide * max(1, s.experts) + s.hidden * s.experts
    return s.layers * (s.attention + forward + norms * s.hidden + more) + s.hidden + s.embeddings


def qwen2(s: Shape) -> int:
    """Llama with biases on queries, keys and values."""
    return llama(s, more=s.head * (s.heads + 2 * s.kv_heads))


def qwen3(s: Shape) -> int:
    """Llama with a norm over each head of queries and keys."""
    return llama(s, more=2 * s.head)


def gemma2(s: Shape) -> int:
    """Llama with norms before and after each block."""
    return llama(s, norms=4)


def block(s: Shape) -> int:
    """A layer of GPT and BERT: four projections, two matrices forward, two norms, biases everywhere."""
    return s.attention + 2 * s.hidden * s.wide + 5 * s.hidden + s.wide + 4 * s.hidden


def gpt2(s: Shape) -> int:
    """Learnt positions: 1,024."""
    return s.layers * block(s) + 2 * s.hidden + 1_024 * s.hidden + s.embeddings


def opt(s: Shape) -> int:
    """Learnt positions: 2,048 and an offset of two."""
    return s.layers * block(s) + 2 * s.hidden + 2_050 * s.hidden + s.embeddings


def neox(s: Shape) -> int:
    """Rotary positions, which are no parameters."""
    return s.layers * block(s) + 2 * s.hidden + s.embeddings


def bloom(s: Shape) -> int:
    """A norm after the embedding too."""
    return neox(s) + 2 * s.hidden


def falcon(s: Shape) -> int:
    """One norm for attention and forward block, no other bias."""
    return s.layers * (s.attention + 2 * s.hidden * s.wide + 2 * s.hidden) + 2 * s.hidden + s.embeddings


def phi2(s: Shape) -> int:
    """One norm a layer, and a head with a bias."""
    return s.layers * (block(s) - 2 * s.hidden) + 2 * s.hidden + s.embeddings + s.vocab


def gptj(s: Shape) -> int:
    """One norm a layer, attention without bias, a head with one."""
    return s.layers * (block(s) - 6 * s.hidden) + 2 * s.hidden + s.embeddings + s.vocab


def bert(s: Shape, *, positions: int = 512, kinds: int = 2, pooled: bool = True) -> int:
    """The encoder with its pooler, without a head."""
    pooler = (s.hidden + 1) * s.hidden if pooled else 0
    return s.layers * block(s) + (positions + kinds + 2) * s.hidden + pooler + s.vocab * s.hidden


def roberta(s: Shape) -> int:
    """BERT with one kind of segment and two positions that are never used."""
    return bert(s, positions=514, kinds=1)


def distilbert(s: Shape) -> int:
    """BERT without segments and pooler."""
    return bert(s, kinds=0, pooled=False)


def vit(s: Shape) -> int:
    """Patches of 16 x 16 in three colours, a class token, 197 positions, a head of 1,000 classes."""
    patches = (16 * 16 * 3 + 1) * s.hidden
    return s.layers * block(s) + patches + (1 + 197 + 2) * s.hidden + (s.hidden + 1) * 1_000


# By the beginning of a name, the longest that fits.
STRUCTURES: dict[str, Callable[[Shape], int]] = {
    "bert-": bert,
    "bloom": bloom,
    "codellama": llama,
    "deepseek-coder": llama,
    "distilbert": distilbert,
    "falcon": falcon,
    "gemma-": llama,
    "gemma-2-": gemma2,
    "gpt-j": gptj,
    "gpt-neox": neox,
    "gpt2": gpt2,
    "llama": llama,
    "mistral": llama,
    "mixtral": llama,
    "opt": opt,
    "phi-2": phi2,
    "phi-3": llama,
    "pythia": neox,
    "qwen2": qwen2,
    "qwen3": qwen3,
    "roberta": roberta,
    "tinyllama": llama,
    "vit": vit,
}


@pytest.mark.parametrize("row", [r for r in ROWS if r["family"] in TRANSFORMERS], ids=lambda row: row["name"])
def test_every_parameter_is_accounted_for(row: dict[str, str]) -> None:
    prefix = max((known for known in STRUCTURES if row["name"].startswith(known)), key=len)
    assert STRUCTURES[prefix](shape(row)) == int(row["parameters"])


BLOCKS = {"resnet50": (3, 4, 6, 3), "resnet101": (3, 4, 23, 3)}


@pytest.mark.parametrize("row", [r for r in ROWS if r["family"] == "cnn"], ids=lambda row: row["name"])
def test_residual_networks_convolution_by_convolution(row: dict[str, str]) -> None:
    """He et al., *Deep Residual Learning*, 2015, table 1, with the stride in the 3 x 3 convolution."""
    parameters, outputs, inputs, side = 7 * 7 * 3 * 64 + 128, 112**2 * 64, 64, 56
    for stage, blocks in enumerate(BLOCKS[row["name"]]):
        narrow, before = 64 * 2**stage, side
        side = 56 // 2**stage
        for index in range(blocks):
            first = before if index == 0 else side
            convolutions = [(1, inputs, narrow, first), (3, narrow, narrow, side), (1, narrow, 4 * narrow, side)]
            if index == 0:
                convolutions.append((1, inputs, 4 * narrow, side))
            # Each is followed by a normalisation with two parameters a channel.
            parameters += sum(size**2 * i * o + 2 * o for size, i, o, _ in convolutions)
            outputs += sum(width**2 * o for _, _, o, width in convolutions)
            inputs = 4 * narrow
    assert parameters + (inputs + 1) * 1_000 == int(row["parameters"])
    # The paper rounds its table to a tenth of a million.
    assert 2 * outputs == pytest.approx(int(row["activation_elements"]), abs=1e5)
