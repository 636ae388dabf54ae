"""All hints about one workload, by rank: annotations, then command line and environment, then what redaction kept."""

from collections.abc import Mapping

from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name, read_pairs, sniff
from ksolver_cli.domain.gpu_workload.kept import kept_hints
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of
from ksolver_cli.vram.memory.estimate import SERVERS, TRAINERS
from ksolver_cli.vram.memory.inference import fraction_taken
from ksolver_cli.vram.memory.precision import optimizer_state_bytes, precision_named

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
    """Return hints as the store keeps them: the numeric ones, and the words that can be said in numbers."""
    found = dict(hints.numbers)
    engine = hints.words.get("engine", "")
    if engine in SERVERS | TRAINERS:
        found["serving"] = float(engine in SERVERS)
    if preallocates(hints):
        found["preallocates"] = 1.0
    precision = precision_named(hints.words.get("precision"))
    if precision is not None:
        found["precision_bits"] = 8.0 * precision.weight_bytes
    states = optimizer_state_bytes(hints.words.get("optimizer"))
    if states is not None:
        found["optimizer_state_bytes"] = states
    if hints.words.get("checkpointing") == "full":
        found["full_checkpointing"] = 1.0
    return found


def from_numbers(numbers: Mapping[str, float]) -> Hints:
    """Return hints of the store with the words its numbers stand for; the reverse of `as_numbers`."""
    words: dict[str, str] = {}
    if "serving" in numbers:
        words["mode"] = "inference" if numbers["serving"] else "training"
    if numbers.get("preallocates") and not {"gpu_memory_utilization", "preallocated_fraction"} & set(numbers):
        words["engine"] = "vllm"
    if "precision_bits" in numbers:
        words["precision"] = "fp32" if numbers["precision_bits"] >= 32 else "bf16"
    if numbers.get("full_checkpointing"):
        words["checkpointing"] = "full"
    return Hints(dict(numbers), words)
