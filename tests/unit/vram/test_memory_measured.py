"""The memory model beside measurements that others published.

Hugging Face's guide *Efficient Training on a Single GPU* (transformers 4.21, `perf_train_gpu_one.mdx`) trains
`bert-large-uncased` on sequences of 512 on a V100, whose context and kernels alone took 1,343 MiB, and reports what
the card held.
"""

from statistics import fmean

import pytest

from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.vram.memory import training
from ksolver_cli.vram.memory.estimate import Setting, estimate

MIB = 2**20
CONTEXT_MIB = 1_343
MEASURED = [
    ("fp32", 4, "adamw", "none", 14_949),
    ("fp32", 1, "adamw", "none", 8_681),
    ("fp32", 1, "adamw", "full", 6_775),
    ("fp16", 4, "adamw", "none", 13_939),
    ("fp16", 1, "adamw", "full", 7_275),
    ("fp32", 4, "adafactor", "none", 12_295),
    ("fp16", 1, "adafactor", "full", 4_847),
    ("fp32", 4, "adamw_8bit", "none", 13_085),
    ("fp16", 1, "adamw_8bit", "full", 5_363),
]


@pytest.fixture(autouse=True)
def context_of_the_measured_card(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "CONTEXT_BYTES", CONTEXT_MIB * MIB)


def modelled(precision: str, batch: int, optimizer: str, checkpointing: str) -> int:
    words = {
        "model": "bert-large-uncased",
        "mode": "training",
        "attention": "eager",
        "precision": precision,
        "optimizer": optimizer,
        "checkpointing": checkpointing,
    }
    answer = estimate(Hints({"batch_size": float(batch), "sequence_length": 512.0}, words), Setting())
    assert answer is not None
    assert answer.missing == ()
    return answer.mib


@pytest.mark.parametrize(("precision", "batch", "optimizer", "checkpointing", "mib"), MEASURED)
def test_each_setting_within_a_tenth(precision: str, batch: int, optimizer: str, checkpointing: str, mib: int) -> None:
    assert modelled(precision, batch, optimizer, checkpointing) == pytest.approx(mib, rel=0.1)


def test_all_of_them_within_four_hundredths_on_average() -> None:
    errors = [abs(modelled(*setting) / mib - 1) for *setting, mib in MEASURED]
    assert fmean(errors) < 0.04


def test_a_sixteen_bit_model_needs_no_copies() -> None:
    """Autocast keeps 32-bit weights and 16-bit copies; DeepSpeed holds 16-bit weights and a 32-bit master copy."""
    numbers = {"batch_size": 1.0, "sequence_length": 512.0}
    words = {"model": "llama-2-7b", "precision": "bf16", "optimizer": "adamw"}
    cast = estimate(Hints(numbers, words), Setting())
    for held in (words | {"engine": "deepspeed"}, words | {"engine": "megatron"}, words | {"adapter": "lora"}):
        other = estimate(Hints(numbers, held), Setting())
        assert cast is not None
        assert other is not None
        assert cast.mib - other.mib > 2 * 6_738_415_616 / MIB
    sharded = estimate(Hints({**numbers, "zero_stage": 2.0}, words), Setting())
    assert sharded is not None
    assert cast.floor_mib == sharded.floor_mib
    assert cast.mib > sharded.mib
