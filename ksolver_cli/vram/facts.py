"""All hints about one workload, by rank: annotations, then command line and environment, then what redaction kept."""

from collections.abc import Mapping

from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name, read_pairs, sniff
from ksolver_cli.domain.gpu_workload.kept import kept_hints
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of
from ksolver_cli.vram.memory.architecture import Architecture, from_hints
from ksolver_cli.vram.memory.estimate import HOLD_HALF, SERVERS, TRAINERS
from ksolver_cli.vram.memory.inference import fraction_taken
from ksolver_cli.vram.memory.models import known_model
from ksolver_cli.vram.memory.parallel import parallelism
from ksolver_cli.vram.memory.precision import optimizer_state_bytes, precision_named, quantised_bytes

_PREFIX = "ksolver.dev/"
ANNOTATED = (
    "model-parameters-billions",
    "batch-size",
    "sequence-length",
    "precision",
    "model",
    "optimizer",
    "gradient-accumulation-steps",
    "tensor-parallel-size",
    "pipeline-parallel-size",
    "zero-stage",
    "lora-rank",
    "gpu-memory-utilization",
    "vram-mode",
)
"""Names of `ksolver.dev/…` annotations that are hints."""

# Words that are there or not, as the store says them.
_FLAGS = {
    ("checkpointing", "full"): "full_checkpointing",
    ("checkpointing", "selective"): "selective_checkpointing",
    ("attention", "eager"): "stored_attention",
    ("adapter", "lora"): "adapter_lora",
    ("embedding", "tied"): "tied_embedding",
    ("kv_cache_dtype", "fp8"): "fp8_cache",
    ("family", "encoder"): "encoder",
    ("family", "cnn"): "cnn",
    ("family", "diffusion"): "diffusion",
}


def annotated(annotations: Mapping[str, str]) -> Hints:
    """Return the hints in `ksolver.dev/…` annotations (model-parameters-billions, batch-size, precision, …)."""
    pairs = [(name, annotations[_PREFIX + name]) for name in ANNOTATED if _PREFIX + name in annotations]
    hints = read_pairs(pairs)
    billions = billions_in_name(hints.words.get("model", ""))
    named = {} if billions is None else {"model_parameters_billions": billions}
    return hints.over(Hints(named))


def workload_hints(pod: RawObject, beside: Hints | None = None) -> Hints:
    """Return what is known about a pod's GPU container; `beside` is what other parts of the workload say (weakest)."""
    found = annotated(annotations_of(pod)).over(sniff(pod)).over(kept_hints(pod))
    return found.over(beside) if beside is not None else found


def preallocates(hints: Hints) -> bool:
    """Tell whether the engine takes a fraction of whatever card it gets, so that its use says nothing of its need."""
    told = {"gpu_memory_utilization", "preallocated_fraction"} & set(hints.numbers)
    return bool(told or hints.number("preallocates")) or fraction_taken(hints) is not None


def as_numbers(hints: Hints) -> dict[str, float]:
    """Return hints as the store keeps them: the numeric ones, and the words that can be said in numbers.

    A known model leaves its size and shape, and not its name.
    """
    found = {**_said_in_numbers(hints), **hints.numbers, **_shape(hints)}
    if preallocates(hints):
        found["preallocates"] = 1.0
    return found


def _said_in_numbers(hints: Hints) -> dict[str, float]:
    words = hints.words
    found = {flag: 1.0 for (word, meaning), flag in _FLAGS.items() if words.get(word) == meaning}
    engine = words.get("engine", "")
    if engine in SERVERS | TRAINERS:
        found["serving"] = float(engine in SERVERS)
    if engine in HOLD_HALF:
        found["holds_half"] = 1.0
    precision = precision_named(words.get("precision"))
    states, weight = optimizer_state_bytes(words.get("optimizer")), quantised_bytes(words.get("quantization"))
    told = {
        "precision_bits": 8.0 * precision.weight_bytes if precision is not None else None,
        "optimizer_state_bytes": states,
        "quantised_bytes": weight,
        "gpu_memory_utilization": fraction_taken(hints),
        "zero_stage": float(parallelism(hints, 1).zero_stage) if "sharding" in words else None,
    }
    return found | {name: value for name, value in told.items() if value is not None}


def _shape(hints: Hints) -> dict[str, float]:
    model = known_model(hints.words.get("model"))
    known: Architecture | None = from_hints(hints, model) if model is not None else None
    if known is None:
        return {}
    sizes = {
        "model_parameters_billions": known.parameters / 1e9,
        "layers": known.layers,
        "hidden_size": known.hidden,
        "intermediate_size": known.intermediate,
        "heads": known.heads,
        "kv_heads": known.kv_heads,
        "head_dim": known.head_dim,
        "vocab_size": known.vocab,
        "experts": known.experts,
        "max_positions": known.max_positions,
        "sequence_length": hints.count("sequence_length") or known.sequence,
        "activation_elements": known.activation_elements,
        # Decoders and mixtures are what their numbers say; the others are told apart.
        known.family: 1 if ("family", known.family) in _FLAGS else None,
    }
    return {name: float(size) for name, size in sizes.items() if size is not None}


def from_numbers(numbers: Mapping[str, float]) -> Hints:
    """Return hints of the store with the words its numbers stand for; the reverse of `as_numbers`."""
    words = {word: meaning for (word, meaning), flag in _FLAGS.items() if numbers.get(flag)}
    if "serving" in numbers:
        words["mode"] = "inference" if numbers["serving"] else "training"
    if numbers.get("holds_half"):
        words["engine"] = "deepspeed"
    if numbers.get("preallocates") and not {"gpu_memory_utilization", "preallocated_fraction"} & set(numbers):
        words["engine"] = "vllm"
    if "precision_bits" in numbers:
        words["precision"] = "fp32" if numbers["precision_bits"] >= 32 else "bf16"
    if "quantised_bytes" in numbers:
        words["quantization"] = "int4" if numbers["quantised_bytes"] < 1 else "int8"
    return Hints(dict(numbers), words)
