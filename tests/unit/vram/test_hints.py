"""Hints: what command lines of real frameworks say, and that nonsense says nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.gpu_workload.hints import Hints, billions_in_name, parse_number, sniff_container, sniff_line


@pytest.mark.parametrize(
    ("line", "numbers", "words"),
    [
        (
            "torchrun --nproc_per_node=8 --nnodes 2 train.py --per_device_train_batch_size 4 --bf16 True --tp 2",
            {"processes_per_node": 8, "nodes": 2, "batch_size": 4, "tensor_parallel": 2},
            {"precision": "bf16", "engine": "torchrun"},
        ),
        (
            "vllm serve meta-llama/Llama-3.1-8B-Instruct --tensor-parallel-size 2 --gpu-memory-utilization 0.85",
            {"tensor_parallel": 2, "gpu_memory_utilization": 0.85, "model_parameters_billions": 8},
            {"model": "meta-llama/Llama-3.1-8B-Instruct", "engine": "vllm"},
        ),
        (
            "python pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 --seq-length 4096"
            " --recompute-granularity selective --micro-batch-size 2 --global-batch-size 512",
            {
                "layers": 24,
                "hidden_size": 2048,
                "heads": 16,
                "sequence_length": 4096,
                "batch_size": 2,
                "global_batch_size": 512,
            },
            {"checkpointing": "selective", "engine": "megatron"},
        ),
        (
            "python main.py trainer.batch_size=16 model.hidden_size=768 ++optim=adafactor",
            {"batch_size": 16, "hidden_size": 768},
            {"optimizer": "adafactor"},
        ),
        ("python t.py --gradient_checkpointing --fp16 false", {}, {"checkpointing": "full"}),
        ("python t.py --batch-size abc --seq-len nan --lr 1e-4", {}, {}),
    ],
)
def test_command_lines(line: str, numbers: dict[str, float], words: dict[str, str]) -> None:
    whole = sniff_container({"command": line.split()})
    assert dict(whole.numbers) == numbers
    assert dict(whole.words) == words
    assert sniff_container({"command": ["/bin/bash", "-c"], "args": [line]}).numbers == numbers
    assert sniff_line(line).numbers == numbers


def test_the_size_in_a_models_name_goes_with_the_name() -> None:
    line = sniff_line("vllm serve meta-llama/Llama-3.1-8B --max-num-seqs 4")
    assert Hints(words={"model": "gpt2"}).over(line).number("model_parameters_billions") is None
    assert Hints({"model_parameters_billions": 70.0}, {"model": "x-70b"}).over(line).numbers == {
        "model_parameters_billions": 70.0,
        "max_num_seqs": 4.0,
    }
    stated = Hints({"model_parameters_billions": 3.0}, {"model": "x-8b"})
    assert Hints(words={"model": "gpt2"}).over(stated).number("model_parameters_billions") == 3
    assert Hints({"batch_size": 1.0}).over(line).number("model_parameters_billions") == 8


def test_a_shell_script_of_many_lines_is_read() -> None:
    script = "set -e\nexport X=1\ntorchrun \\\n  --nproc-per-node 4 \\\n  train.py --bs 2\necho \"it's done"
    assert sniff_container({"command": ["sh", "-c", script]}).numbers == {"processes_per_node": 4, "batch_size": 2}


def test_command_line_wins_over_env_and_unknown_env_is_not_taken() -> None:
    env = [
        {"name": "BATCH_SIZE", "value": "32"},
        {"name": "MAX_SEQ_LEN", "value": "1024"},
        {"name": "PASSWORD", "value": "12345"},
        {"name": "WORLD_SIZE", "valueFrom": {"fieldRef": {}}},
    ]
    found = sniff_container({"args": ["--batch-size=8"], "env": env})
    assert found.numbers == {"batch_size": 8, "sequence_length": 1024}
    assert found.words == {}


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("meta-llama/Llama-2-7b-hf", 7),
        ("mistralai/Mixtral-8x7B-v0.1", 56),
        ("deepseek-ai/deepseek-coder-6.7b-base", 6.7),
        ("EleutherAI/pythia-410m", 0.41),
        ("microsoft/phi-2", None),
        ("unsloth/gemma-2-9b-bnb-4bit", 9),
        ("/models/13b/llama", None),
        ("bert-base-uncased", None),
        ("", None),
    ],
)
def test_sizes_in_model_names(name: str, billions: float | None) -> None:
    assert billions_in_name(name) == (pytest.approx(billions) if billions is not None else None)


@pytest.mark.parametrize("value", ["inf", "nan", "1e400", "", "0x10", "8k", "1e16"])
def test_odd_numbers_are_no_numbers(value: str) -> None:
    assert parse_number(value) is None


def test_stronger_hints_win_and_weaker_ones_fill_in() -> None:
    strong = Hints({"batch_size": 8}, {"precision": "bf16"})
    weak = Hints({"batch_size": 1, "layers": 2}, {"precision": "fp32", "model": "m"})
    both = strong.over(weak)
    assert both.numbers == {"batch_size": 8, "layers": 2}
    assert both.words == {"precision": "bf16", "model": "m"}
    assert Hints({"batch_size": 0}).count("batch_size") is None


@given(st.lists(st.text(max_size=12), max_size=8), st.lists(st.text(max_size=12), max_size=8))
def test_no_command_line_crashes_the_reader(command: list[str], args: list[str]) -> None:
    found = sniff_container({"command": command, "args": args})
    assert all(isinstance(value, float) for value in found.numbers.values())
