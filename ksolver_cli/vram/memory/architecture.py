"""The shape of a network: how many parameters, layers, heads, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name

TRANSFORMERS = frozenset({"decoder", "encoder", "moe"})
_USUAL_ASPECT = 128


@dataclass(frozen=True)
class Architecture:
    """What is known of a network; sizes are None where unknown, `guessed` names those that were filled in."""

    parameters: int
    family: str = "decoder"
    layers: int | None = None
    hidden: int | None = None
    intermediate: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    sequence: int | None = None
    max_positions: int | None = None
    activation_elements: int | None = None
    experts: int | None = None
    guessed: tuple[str, ...] = ()

    @property
    def embedding(self) -> int:
        """Parameters of the token embedding; 0 where vocabulary or width is unknown."""
        return (self.vocab or 0) * (self.hidden or 0)

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer, on average."""
        return max(0, self.parameters - self.embedding) // max(1, self.layers or 1)

    @property
    def kv_width(self) -> int | None:
        """Elements of a layer's keys for one token: key-value heads × head size (Ainslie et al., *GQA*, 2023)."""
        if self.hidden is None:
            return None
        heads = self.heads
        if heads is None:
            return self.hidden
        return (self.kv_heads or heads) * (self.head_dim or self.hidden // heads)


def shaped(architecture: Architecture) -> Architecture:
    """Return a transformer with its depth and width filled in from its parameter count where they are unknown.

    A decoder has about 12 · layers · hidden² parameters besides its embedding (Kaplan et al., *Scaling Laws*, 2020,
    table 1), and from 1 to 200 billion parameters hidden is about 128 · layers (Brown et al., *GPT-3*, 2020, table
    2.1).
    """
    if architecture.family not in TRANSFORMERS or (architecture.layers and architecture.hidden):
        return architecture
    hidden = architecture.hidden or round((_USUAL_ASPECT * architecture.parameters / 12) ** (1 / 3))
    layers = architecture.layers or max(1, round(architecture.parameters / (12 * hidden**2)))
    filled = [name for name in ("layers", "hidden") if getattr(architecture, name) is None]
    return replace(architecture, layers=layers, hidden=hidden, guessed=(*architecture.guessed, *filled))


def count_parameters(numbers: Mapping[str, float], *, gated: bool = True, tied: bool = False) -> int | None:
    """Return the parameters of a transformer of a given shape; None where layers or width are missing.

    Per layer: query and output projections, keys and values of the grouped heads, and a feed-forward block of two
    matrices (GPT) or three (gated, as in Llama); the experts of a mixture have one block each. Norms and biases are
    under one part in a thousand.
    """
    layers, hidden = numbers.get("layers"), numbers.get("hidden_size")
    if not layers or not hidden:
        return None
    heads = numbers.get("heads") or max(1.0, hidden / _USUAL_ASPECT)
    head_dim = numbers.get("head_dim") or hidden / heads
    kv_heads = numbers.get("kv_heads") or heads
    attention = hidden * head_dim * (2 * heads + 2 * kv_heads)
    intermediate = numbers.get("intermediate_size") or 4 * hidden
    matrices = 3 if gated and "intermediate_size" in numbers else 2
    feed_forward = matrices * hidden * intermediate * max(1.0, numbers.get("experts", 1.0))
    embeddings = numbers.get("vocab_size", 0.0) * hidden * (1 if tied else 2)
    return int(layers * (attention + feed_forward) + embeddings)


def from_hints(hints: Hints, known: Architecture | None) -> Architecture | None:
    """Return the network that hints describe, a known model filling in what they leave open; None without a size."""
    billions = hints.number("model_parameters_billions")
    stated = round(billions * 1e9) if billions is not None and billions > 0 else None
    counted = count_parameters(hints.numbers, tied=hints.words.get("embedding") == "tied")
    rounded = billions is not None and billions == billions_in_name(hints.words.get("model", ""))
    if known is not None and rounded:
        # A name rounds (8B for 8.03) and counts the shared parts of experts twice; the table does not.
        stated = known.parameters
    parameters = stated or counted or (known.parameters if known else None)
    if parameters is None:
        return None
    family = "moe" if (hints.count("experts") or 1) > 1 else "decoder"
    base = Architecture(parameters, family=known.family if known is not None else family)
    # The shape of a known model of another size would mislead.
    if known is not None and _is_same_size(known.parameters, parameters):
        base = replace(known, parameters=parameters)
    return replace(
        base,
        layers=hints.count("layers") or base.layers,
        hidden=hints.count("hidden_size") or base.hidden,
        intermediate=hints.count("intermediate_size") or base.intermediate,
        heads=hints.count("heads") or base.heads,
        kv_heads=hints.count("kv_heads") or base.kv_heads,
        head_dim=hints.count("head_dim") or base.head_dim,
        vocab=hints.count("vocab_size") or base.vocab,
        max_positions=hints.count("max_positions") or base.max_positions,
        activation_elements=hints.count("activation_elements") or base.activation_elements,
    )


def lacks_vocabulary(hints: Hints, network: Architecture) -> bool:
    """Tell whether the parameters were counted from a shape without its embedding, so that they are too few."""
    counted = hints.number("model_parameters_billions") is None and count_parameters(hints.numbers) is not None
    return counted and network.vocab is None


def _is_same_size(known: int, stated: int) -> bool:
    return abs(known - stated) <= 0.25 * known
