"""The annotation `ksolver.ai/vram-config`: keys of DeepSpeed, Hugging Face and accelerate configurations, as hints."""

from collections.abc import Iterator

from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name, read_pairs
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, mapping
from ksolver_cli.snapshot.documents import parse
from ksolver_cli.snapshot.model import SnapshotError

CONFIG_ANNOTATION = "ksolver.ai/vram-config"

# Where a nested configuration says something under a name that means it only there.
_PATHS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("zero_optimization", "stage"), "zero_stage"),
    (("deepspeed_config", "zero_stage"), "zero_stage"),
    (("deepspeed_config", "gradient_accumulation_steps"), "gradient_accumulation_steps"),
    (("zero_optimization", "offload_optimizer", "device"), "offload_optimizer"),
    (("zero_optimization", "offload_param", "device"), "offload_param"),
    (("deepspeed_config", "offload_optimizer_device"), "offload_optimizer"),
    (("deepspeed_config", "offload_param_device"), "offload_param"),
    (("optimizer", "type"), "optimizer"),
    (("fsdp_config", "fsdp_sharding_strategy"), "sharding"),
    (("lora", "r"), "lora_rank"),
    (("peft_config", "r"), "lora_rank"),
    (("quantization_config", "quant_method"), "quantization"),
    (("tensor_parallel", "autotp_size"), "tensor_parallel"),
    (("tensor_parallel", "tp_size"), "tensor_parallel"),
)
_WORDS_AT_PATHS = frozenset({"offload_optimizer", "offload_param"})
_SWITCH_BLOCKS = {"fp16": "fp16", "bf16": "bf16", "bfloat16": "bf16"}
_DEEP_KEYS = ("activation_checkpointing",)
_DEEPSPEED = ("zero_optimization", "train_micro_batch_size_per_gpu", "deepspeed_config")
_ARCHITECTURES = {"bert": "encoder", "roberta": "encoder", "deberta": "encoder", "electra": "encoder"}


class BadConfiguration(ValueError):  # noqa: N818 - reads as what it is in `except BadConfiguration`
    """The annotation is no configuration; the message says why."""


def read_configuration(text: str) -> Hints:
    """Return the hints of a configuration in JSON or YAML; raises BadConfiguration.

    Keys are those of the tools themselves: `train_micro_batch_size_per_gpu`, `zero_optimization.stage`, `bf16.enabled`
    (DeepSpeed); `num_hidden_layers`, `torch_dtype`, `per_device_train_batch_size` (Hugging Face); `mixed_precision`,
    `num_processes`, `fsdp_config` (accelerate). Unknown keys are passed over.
    """
    try:
        document = next(iter(parse(CONFIG_ANNOTATION, text.encode())), None)
    except SnapshotError as error:
        raise BadConfiguration(error.what) from error
    if not isinstance(document, dict):
        raise BadConfiguration(f"{CONFIG_ANNOTATION}: not a mapping of keys")
    config = mapping(document)
    hints = _nested(config).over(read_pairs(_pairs(config)))
    # Hugging Face's training arguments may hold DeepSpeed's configuration whole.
    inner = mapping(config.get("deepspeed"))
    if inner:
        hints = hints.over(_nested(inner).over(read_pairs(_pairs(inner))))
    billions = billions_in_name(hints.words.get("model", ""))
    return hints.over(Hints({} if billions is None else {"model_parameters_billions": billions}))


def _pairs(config: RawObject) -> Iterator[tuple[str, str]]:
    for name, value in config.items():
        if isinstance(value, bool):
            yield name, "true" if value else "false"
        elif isinstance(value, str | int | float):
            yield name, str(value)
    parameters = config.get("num_parameters") or config.get("model_parameters")
    if isinstance(parameters, int | float):
        yield "model_parameters_billions", str(parameters / 1e9)


def _nested(config: RawObject) -> Hints:
    found = [(name, at(config, *path)) for path, name in _PATHS]
    said = [(name, str(value)) for name, value in found if isinstance(value, str | int | float)]
    hints = read_pairs(said)
    words = {name: value for name, value in said if name in _WORDS_AT_PATHS}
    for block, precision in _SWITCH_BLOCKS.items():
        enabled = at(config, block, "enabled")
        if enabled is True or enabled == "auto":
            words["precision"] = precision
    if any(mapping(config.get(key)) for key in _DEEP_KEYS):
        words["checkpointing"] = "full"
    if any(key in config for key in _DEEPSPEED):
        words["engine"] = "deepspeed"
    family = _ARCHITECTURES.get(str(config.get("model_type", "")).lower())
    if family is not None:
        words["family"] = family
    return Hints(words=words).over(hints)
