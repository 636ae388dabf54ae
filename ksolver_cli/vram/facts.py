"""All hints about one workload, by rank: annotations, then command line and environment, then what redaction kept."""

from collections.abc import Mapping

from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name, read_pairs, sniff
from ksolver_cli.domain.gpu_workload.kept import kept_hints
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of

_PREFIX = "ksolver.dev/"
_NAMES = (
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


def annotated(annotations: Mapping[str, str]) -> Hints:
    """Return the hints in `ksolver.dev/…` annotations (model-parameters-billions, batch-size, precision, …)."""
    pairs = [(name, annotations[_PREFIX + name]) for name in _NAMES if _PREFIX + name in annotations]
    hints = read_pairs(pairs)
    billions = billions_in_name(hints.words.get("model", ""))
    named = {} if billions is None else {"model_parameters_billions": billions}
    return hints.over(Hints(named))


def workload_hints(pod: RawObject, beside: Hints | None = None) -> Hints:
    """Return what is known about a pod's GPU container; `beside` is what other parts of the workload say (weakest)."""
    found = annotated(annotations_of(pod)).over(sniff(pod)).over(kept_hints(pod))
    return found.over(beside) if beside is not None else found
