"""Bytes per parameter: of weights, gradients, master copies and optimizer states."""

from dataclasses import dataclass

FP32_BYTES = 4


@dataclass(frozen=True)
class Precision:
    """Bytes per parameter in training and per activation element.

    Mixed precision keeps 16-bit weights and gradients and a 32-bit master copy of the weights: 2 + 2 + 4, and with
    Adam's two 32-bit moments 16 bytes in all, the same as 32-bit training's 4 + 4 + 8 (Rajbhandari et al., *ZeRO*,
    SC 2020, section 3.1, K = 12).
    """

    name: str
    weight_bytes: float
    gradient_bytes: float
    master_bytes: float
    activation_bytes: float


FP32 = Precision("fp32", 4, 4, 0, 4)
_HALF = {name: Precision(name, 2, 2, 4, 2) for name in ("bf16", "fp16", "fp8")}

_NAMES = {
    "fp32": FP32,
    "float32": FP32,
    "float": FP32,
    "32": FP32,
    "32-true": FP32,
    "no": FP32,
    "tf32": FP32,
    "bf16": _HALF["bf16"],
    "bfloat16": _HALF["bf16"],
    "bf16-mixed": _HALF["bf16"],
    "fp16": _HALF["fp16"],
    "float16": _HALF["fp16"],
    "half": _HALF["fp16"],
    "16": _HALF["fp16"],
    "16-mixed": _HALF["fp16"],
    # 8-bit matrix products keep their weights and gradients in 16 bits (Transformer Engine).
    "fp8": _HALF["fp8"],
}


def precision_named(word: str | None) -> Precision | None:
    """Return the precision behind a word of a framework (`bf16`, `torch.float16`, `16-mixed`); None when unknown."""
    return _NAMES.get(word.lower().removeprefix("torch.")) if word else None


# Weights at rest, metadata of the quantiser included: NF4 with double quantisation takes 4.127 bits (Dettmers et al.,
# *QLoRA*, 2023), group-wise 4-bit formats about 4.5; embeddings and norms stay in 16 bits.
_QUANTISED_BYTES = {
    "int4": 0.56,
    "nf4": 0.56,
    "4bit": 0.56,
    "bitsandbytes": 0.56,
    "awq": 0.56,
    "gptq": 0.56,
    "awq_marlin": 0.56,
    "gptq_marlin": 0.56,
    "int8": 1.05,
    "8bit": 1.05,
    "fp8": 1.05,
    "eetq": 1.05,
}


def quantised_bytes(word: str | None) -> float | None:
    """Return bytes per weight of a quantisation scheme; None for none or an unknown one."""
    return _QUANTISED_BYTES.get(word.lower()) if word else None


# 32-bit states: Adam and its kin two moments, momentum methods one, plain SGD none. bitsandbytes' 8-bit Adam two of a
# byte each. Adafactor keeps row and column sums, under a hundredth of a matrix of 1,024 or wider.
_STATE_BYTES = {
    "adamw": 8.0,
    "adam": 8.0,
    "lamb": 8.0,
    "adagrad": 4.0,
    "rmsprop": 4.0,
    "lion": 4.0,
    "muon": 4.0,
    "sgd": 0.0,
    "momentum": 4.0,
    "adafactor": 0.04,
}
_EIGHT_BIT_SHARE = 0.25
DEFAULT_OPTIMIZER = "adamw"


def optimizer_state_bytes(word: str | None) -> float | None:
    """Return bytes of optimizer state per trainable parameter (`adamw_torch_fused` → 8); None for unknown names.

    `paged` optimizers may move states to the host under pressure; what may stay counts as staying.
    """
    if not word:
        return None
    name = word.lower().replace("-", "_")
    family = next((family for family in ("adafactor", "adagrad", "adamw", "adam") if family in name), None)
    family = family or next((family for family in _STATE_BYTES if name.startswith(family)), None)
    if family is None:
        return None
    eight_bit = "8bit" in name or "8_bit" in name
    return _STATE_BYTES[family] * (_EIGHT_BIT_SHARE if eight_bit else 1.0)
