"""The facts of a GPU pod that survive redaction: fingerprint, numeric hints, words of closed vocabularies."""

import json

from ksolver_cli.domain.gpu_workload.containers import FRACTION_ANNOTATIONS, asks_for_gpu
from ksolver_cli.domain.gpu_workload.ended import OOM_ANNOTATION, out_of_memory
from ksolver_cli.domain.gpu_workload.fingerprint import FINGERPRINT_ANNOTATION, fingerprint
from ksolver_cli.domain.gpu_workload.hints import Hints, sniff
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, mapping

HINTS_ANNOTATION = "ksolver.dev/vram-hints"
"""Where a redacted snapshot keeps the hints, as one JSON object."""

KEPT_ANNOTATIONS = (
    "ksolver.dev/predicted-peak-vram-bytes",
    "ksolver.dev/predicted-peak-vram-gib",
    "ksolver.dev/model-parameters-billions",
    "ksolver.dev/batch-size",
    "ksolver.dev/sequence-length",
    "ksolver.dev/precision",
    "ksolver.dev/optimizer",
    "ksolver.dev/gradient-accumulation-steps",
    "ksolver.dev/tensor-parallel-size",
    "ksolver.dev/pipeline-parallel-size",
    "ksolver.dev/zero-stage",
    "ksolver.dev/lora-rank",
    "ksolver.dev/gpu-memory-utilization",
    "ksolver.dev/vram-mode",
    "ksolver.ai/vram-config",
    *FRACTION_ANNOTATIONS,
    FINGERPRINT_ANNOTATION,
    HINTS_ANNOTATION,
    OOM_ANNOTATION,
)
"""Pod annotations the prediction reads; redaction keeps them."""

_VOCABULARY: dict[str, frozenset[str]] = {
    "precision": frozenset({"fp32", "float32", "tf32", "bf16", "bfloat16", "fp16", "float16", "half", "fp8", "auto"}),
    "optimizer": frozenset({"adamw", "adam", "sgd", "adafactor", "lion", "lamb", "adamw_torch", "adamw_8bit"}),
    "quantization": frozenset({"awq", "gptq", "fp8", "int8", "int4", "bitsandbytes"}),
    "checkpointing": frozenset({"full", "selective"}),
    "attention": frozenset({"flash", "eager", "sdpa", "flash_attention_2"}),
    "adapter": frozenset({"lora"}),
    "embedding": frozenset({"tied"}),
    "kv_cache_dtype": frozenset({"fp8", "fp8_e4m3", "fp8_e5m2", "auto"}),
    "sharding": frozenset(
        {"full_shard", "full_shard auto_wrap", "shard_grad_op", "no_shard", "hybrid_shard", "distributed_optimizer"}
    ),
    "engine": frozenset({"vllm", "sglang", "tgi", "triton", "torchrun", "deepspeed", "accelerate", "megatron"}),
}


def kept_facts(pod: RawObject) -> dict[str, str]:
    """Return the annotations to put on a pod before its command line and env values are dropped.

    Empty for pods that ask for no GPU. Words outside the closed vocabularies (a model's name, a path) stay behind.
    """
    return noted_facts(pod) if asks_for_gpu(pod) else {}


def noted_facts(pod: RawObject) -> dict[str, str]:
    """Return the same for any pod: an exporter may tie a card to one whose resource has a name of its own."""
    found: dict[str, str] = {}
    print_ = fingerprint(pod)
    if print_ is not None:
        found[FINGERPRINT_ANNOTATION] = print_.key
    hints = sniff(pod)
    words = {name: word for name, word in hints.words.items() if word.lower() in _VOCABULARY.get(name, ())}
    if hints.numbers or words:
        found[HINTS_ANNOTATION] = json.dumps({**hints.numbers, **words}, sort_keys=True, separators=(",", ":"))
    if out_of_memory(pod):
        # The message of a full card goes with the rest of the log; that it was one is kept.
        found[OOM_ANNOTATION] = "true"
    return found


def kept_hints(pod: RawObject) -> Hints:
    """Return the hints a redacted pod carries; empty where there are none or they are not a JSON object."""
    try:
        document = mapping(json.loads(annotations_of(pod).get(HINTS_ANNOTATION, "{}")))
    except ValueError:
        return Hints()
    numbers = {name: float(value) for name, value in document.items() if isinstance(value, int | float)}
    words = {name: value for name, value in document.items() if isinstance(value, str)}
    return Hints(numbers, words)
