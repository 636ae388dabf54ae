"""What the store keeps of a workload is enough for the memory model to say again what it said of the workload."""

from dataclasses import replace

import pytest

from ksolver_cli.domain.gpu_workload.hints import sniff
from ksolver_cli.vram.facts import as_numbers, from_numbers, workload_hints
from ksolver_cli.vram.join.live import kept_for_join
from ksolver_cli.vram.memory.estimate import Estimate, Setting, estimate
from ksolver_cli.vram.observation import Observation, from_line, to_line
from ksolver_cli.vram.predict.residual import modelled
from tests.unit.vram.gpu_pods import gpu_pod

LINES = [
    "torchrun --nproc_per_node 8 t.py --model_name_or_path meta-llama/Llama-3.1-8B --bf16 --bs 2"
    " --seq_len 2048 --optim adamw_torch --gradient_checkpointing",
    "torchrun t.py --model_name_or_path mistralai/Mistral-7B-v0.1 --fsdp full_shard --nproc_per_node 8 --bf16 --bs 1"
    " --seq_len 1024 --optim adamw_torch",
    "python t.py --model mistralai/Mixtral-8x7B-v0.1 --use_lora --load_in_4bit --bf16 --bs 1 --seq_len 512 --optim sgd",
    "deepspeed t.py --model google/gemma-2-9b --bf16 --bs 4 --seq_len 512 --zero_stage 2 --num_gpus_per_node 8",
    "python pretrain_gpt.py --num-layers 24 --hidden-size 2048 --vocab-size 50257 --seq-length 1024 --bf16"
    " --micro-batch-size 2 --recompute-granularity selective --use-distributed-optimizer --tp 2",
    "python t.py --model_name_or_path bert-large-uncased --bs 16 --fp16 --attn_implementation eager --optim adafactor",
    "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192",
    "text-generation-launcher --model-id Qwen/Qwen2.5-7B-Instruct --quantize awq",
    "python -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp 2 --kv-cache-dtype fp8",
    "python main.py --arch resnet50 --batch-size 64 --optim sgd",
    "python paint.py --model stabilityai/stable-diffusion-xl-base-1.0 --bs 1 --fp16",
    "tritonserver --model roberta-large --max-batch-size 32",
    "python t.py --params-b 3 --bs 8 --seq_len 256",
]
GPUS = 8
CARD = 81_559


def said(estimate_: Estimate | None) -> Estimate:
    assert estimate_ is not None
    return replace(estimate_, explanation="", missing=())


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("live", [False, True], ids=["list", "live"])
def test_an_observed_workload_is_modelled_as_it_was_before(line: str, live: bool) -> None:
    pod = gpu_pod("p", args=tuple(line.split()[1:]))
    pod["spec"]["containers"][0]["command"] = [line.split()[0]]  # type: ignore[index]
    hints = as_numbers(workload_hints(kept_for_join("pods", pod) if live else pod))
    row = Observation("i", "h" * 64, 1_000, gpu_count=GPUS, capacity_mib=CARD, hints=hints)
    direct = estimate(sniff(pod), Setting(processes=GPUS, card_mib=CARD))
    assert said(modelled(from_line(to_line(row)))) == said(direct)
    assert as_numbers(from_numbers(hints)) == hints


@pytest.mark.parametrize("line", LINES)
def test_no_word_of_the_command_line_reaches_the_store(line: str) -> None:
    pod = gpu_pod("p", args=tuple(line.split()))
    assert all(isinstance(value, float) for value in as_numbers(workload_hints(pod)).values())
