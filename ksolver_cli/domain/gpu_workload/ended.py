"""How a pod ended: out of memory, or not, or nobody knows."""

from ksolver_cli.domain.gpu_workload.raw import RawObject, at, mapping, mappings, text

_OOM_KILLED = "OOMKilled"
# What PyTorch, TensorFlow, JAX and the CUDA driver say when the card is full, as the kubelet keeps it of the last log
# lines under `terminationMessagePolicy: FallbackToLogsOnError`.
_CUDA_OOM = (
    "cuda out of memory",
    "cuda_error_out_of_memory",
    "cudaerrormemoryallocation",
    "outofmemoryerror",
    "hip out of memory",
    "resource_exhausted",
)

OOM_ANNOTATION = "ksolver.dev/vram-oom"
"""Where a redacted snapshot notes a CUDA out-of-memory message it does not keep."""


def out_of_memory(pod: RawObject) -> bool | None:
    """Tell whether a container of the pod was OOM-killed or died of a full card; None where no status shows it.

    Only a container that has run says anything: the statuses of a pending pod are silent.
    """
    statuses = [
        *mappings(at(pod, "status", "containerStatuses")),
        *mappings(at(pod, "status", "initContainerStatuses")),
    ]
    states = [mapping(status.get(field)) for status in statuses for field in ("state", "lastState")]
    if at(pod, "metadata", "annotations", OOM_ANNOTATION) == "true":
        return True
    if any(_died_of_memory(mapping(state.get("terminated"))) for state in states):
        return True
    seen = any(state.get("running") is not None or state.get("terminated") is not None for state in states)
    return False if seen else None


def _died_of_memory(terminated: RawObject) -> bool:
    if terminated.get("reason") == _OOM_KILLED:
        return True
    return terminated.get("exitCode") not in (0, None) and says_card_is_full(text(terminated.get("message")) or "")


def says_card_is_full(message: str) -> bool:
    """Tell whether a termination message is one of a GPU allocation that failed."""
    lowered = message.lower()
    return any(words in lowered for words in _CUDA_OOM)
