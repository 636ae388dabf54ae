"""Memory of serving on one GPU: weights, key-value cache, workspace; engines that take a fraction of the card."""

import math
from dataclasses import dataclass

from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.vram.memory.architecture import TRANSFORMERS, Architecture
from ksolver_cli.vram.memory.parallel import Parallelism
from ksolver_cli.vram.memory.training import COMMUNICATOR_BYTES, CONTEXT_BYTES, FRAGMENTATION, MIB, Components

# vLLM's default of --gpu-memory-utilization; SGLang's --mem-fraction-static is of the same size; TGI's
# --cuda-memory-fraction, which it fills unless --max-batch-total-tokens is given.
_DEFAULT_FRACTIONS = {"vllm": 0.9, "sglang": 0.88, "tgi": 1.0}


def fraction_taken(hints: Hints) -> float | None:
    """Return the fraction of whatever card it gets that an engine takes; None for those that take what they need."""
    stated = hints.number("gpu_memory_utilization")
    if stated is not None and 0 < stated <= 1:
        return stated
    engine = hints.words.get("engine", "")
    return None if engine == "tgi" and hints.count("cache_tokens") else _DEFAULT_FRACTIONS.get(engine)


@dataclass(frozen=True)
class Serving:
    """How a network is served; `fraction` is what a preallocating engine takes of whatever card it gets."""

    weight_bytes: float
    cache_bytes: float
    sequences: int
    sequence: int
    parallelism: Parallelism
    fraction: float | None = None


@dataclass(frozen=True)
class Served:
    """What serving needs at least, and what the engine will be seen to use on a card of known size."""

    needed: Components
    taken_mib: int | None


def serving_memory(network: Architecture, serving: Serving, card_mib: int | None) -> Served:
    """Return the memory of one GPU during serving.

    An engine that preallocates (vLLM, SGLang) uses its fraction of the card, whatever that is, and fails to start below
    weights, workspace and the cache of one sequence; others use weights and the cache of every sequence.
    """
    spread = serving.parallelism
    shards = spread.tensor * spread.pipeline
    weights = network.parameters * serving.weight_bytes / shards
    sequences = 1 if serving.fraction is not None else serving.sequences
    cache = kv_bytes_per_token(network, serving.cache_bytes, spread) * sequences * serving.sequence
    workspace = _workspace(network, serving) if cache or network.family in TRANSFORMERS else 0.0
    context = CONTEXT_BYTES + (COMMUNICATOR_BYTES if shards > 1 else 0)
    needed = Components(weights, 0.0, 0.0, cache + workspace, context + FRAGMENTATION * (weights + cache))
    if serving.fraction is None or card_mib is None:
        return Served(needed, None)
    return Served(needed, max(int(serving.fraction * card_mib), math.ceil(needed.total / MIB)))


def kv_bytes_per_token(network: Architecture, element_bytes: float, spread: Parallelism) -> float:
    """Return bytes of keys and values one token keeps on one GPU: 2 · layers · kv heads · head size · element size.

    Decoders alone have a cache. Tensor parallelism splits heads, and repeats them where there are fewer than ranks;
    pipeline parallelism splits layers (Kwon et al., *PagedAttention*, SOSP 2023, section 3).
    """
    if network.family not in TRANSFORMERS - {"encoder"} or network.kv_width is None:
        return 0.0
    heads = network.kv_heads or network.heads or spread.tensor
    split = min(spread.tensor, heads)
    return 2.0 * (network.layers or 0) * network.kv_width * element_bytes / split / spread.pipeline


def _workspace(network: Architecture, serving: Serving) -> float:
    """Peak of one layer over a batch of tokens in prefill: the widest feed-forward tensor twice, and the logits."""
    hidden = network.hidden or 0
    # Chunked prefill bounds how many tokens are in a layer at once.
    tokens = min(serving.sequence, 8_192)
    wide = network.intermediate or 4 * hidden
    logits = 4.0 * min(serving.sequences, 256) * (network.vocab or 0)
    return (2.0 * tokens * (2 * wide + 4 * hidden) + logits) / serving.parallelism.tensor
