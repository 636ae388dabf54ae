"""Kinds of networks and engines the memory model tells apart: mixtures, stored attention, pipelines, preallocation."""

import json
from dataclasses import replace

import pytest

from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.vram.facts import as_numbers, from_numbers, preallocates
from ksolver_cli.vram.memory.architecture import Architecture, from_hints
from ksolver_cli.vram.memory.configuration import read_configuration
from ksolver_cli.vram.memory.estimate import Estimate, Setting, estimate
from ksolver_cli.vram.memory.inference import kv_bytes_per_token
from ksolver_cli.vram.memory.models import known_model, known_models
from ksolver_cli.vram.memory.parallel import Parallelism
from ksolver_cli.vram.memory.precision import precision_named
from ksolver_cli.vram.memory.training import Training, training_memory
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.predict.residual import modelled
from ksolver_cli.vram.predict.tiers import Asked, Predictor
from tests.unit.vram.gpu_pods import gpu_pod

MIB, GIB = 2**20, 2**30
CARD = 81_559
LAYERS, HIDDEN, HEADS, SEQUENCE = 32, 4_096, 32, 1_024
SEVEN = Architecture(7_000_000_000, layers=LAYERS, hidden=HIDDEN, heads=HEADS)


def activations(network: Architecture, **changes: object) -> float:
    half = precision_named("bf16")
    assert half is not None
    training = Training(half, 8.0, batch=1, sequence=SEQUENCE, parallelism=Parallelism())
    found = training_memory(network, replace(training, **changes)).activations  # type: ignore[arg-type]
    assert found is not None
    return found


def must(numbers: dict[str, float], words: dict[str, str], setting: Setting | None = None) -> Estimate:
    answer = estimate(Hints(numbers, words), setting or Setting())
    assert answer is not None
    return answer


@pytest.mark.parametrize(("checkpointing", "matrices"), [("none", LAYERS), ("selective", 1), ("full", 1)])
def test_a_stored_attention_matrix_is_there_while_its_layer_is_recomputed(checkpointing: str, matrices: int) -> None:
    eager = activations(SEVEN, eager_attention=True, checkpointing=checkpointing)
    fused = activations(SEVEN, checkpointing=checkpointing)
    assert eager - fused == matrices * 5 * HEADS * SEQUENCE**2


def test_a_mixture_sends_every_token_through_two_experts() -> None:
    """34 bytes an element of a layer, of which the feed-forward block's 19 are there twice."""
    dense, mixture = activations(SEVEN), activations(replace(SEVEN, family="moe"))
    assert mixture / dense == pytest.approx((34 + 19) / 34)
    split = Parallelism(tensor=8)
    assert activations(replace(SEVEN, family="moe"), parallelism=split) < mixture
    network = from_hints(Hints({"layers": 2, "hidden_size": 64, "experts": 8}), None)
    assert network is not None
    assert network.family == "moe"


def test_a_tied_embedding_counts_once() -> None:
    config = {"num_hidden_layers": 24, "hidden_size": 896, "intermediate_size": 4864, "num_attention_heads": 14,
              "num_key_value_heads": 2, "vocab_size": 151_936}  # fmt: skip
    counted = [
        from_hints(read_configuration(json.dumps(config | more)), None)
        for more in ({"tie_word_embeddings": True}, {"tie_word_embeddings": False})
    ]
    tied, untied = (network.parameters for network in counted if network is not None)
    assert tied == pytest.approx(494_032_768, rel=0.001)
    assert untied - tied == 151_936 * 896


def test_a_shape_without_vocabulary_is_said_to_lack_its_embedding() -> None:
    shape = {"layers": 24.0, "hidden_size": 2048.0}
    assert any("vocab_size" in fact for fact in must(shape, {}).missing)
    assert not any("vocab_size" in fact for fact in must({**shape, "vocab_size": 50_257}, {}).missing)
    assert not any("vocab_size" in fact for fact in must({"model_parameters_billions": 1.0}, {}).missing)


@pytest.mark.parametrize("mode", ["training", "inference"])
def test_without_a_formula_for_activations_an_answer_is_never_a_hard_filter(mode: str) -> None:
    pod = gpu_pod("paint", args=("--pretrained_model_name_or_path", "stabilityai/stable-diffusion-xl-base-1.0"))
    typed = Hints(words={"mode": mode})
    answer = Predictor([], largest_card_mib=294_912, hard_admit=True).predict(Asked(pod, typed=typed))
    assert answer.vram_mib is not None
    assert answer.vram_mib > 2 * 3_468_837_867 / MIB
    assert any("activations" in fact for fact in answer.missing)
    assert not answer.hard


LONG = {"model": "meta-llama/Llama-3.1-8B", "precision": "bf16"}


def test_an_engine_must_have_room_for_the_longest_request_it_admits() -> None:
    """vLLM admits 131,072 tokens of this model unless told less: 16 GiB of cache for one request."""
    free, bounded = must({}, LONG | {"engine": "vllm"}), must({"sequence_length": 2048.0}, LONG | {"engine": "vllm"})
    network = known_model(LONG["model"])
    assert network is not None
    cache = (131_072 - 2_048) * kv_bytes_per_token(network, 2, Parallelism())
    assert (free.needed_mib - bounded.needed_mib) * MIB >= cache
    assert not any("sequence_length" in fact for fact in free.missing)
    # Training is for the sequences it is given.
    assert "sequence_length" in must({}, LONG).missing


def test_a_card_too_small_to_start_on_is_said() -> None:
    small = must({"sequence_length": 2048.0}, LONG | {"engine": "vllm"}, Setting(card_mib=15_360))
    assert "more than its part of 15360 MiB" in small.explanation
    assert small.mib == small.needed_mib > 15_360
    assert (
        "more than its part"
        not in must({"sequence_length": 2048.0}, LONG | {"engine": "vllm"}, Setting(card_mib=CARD)).explanation
    )


def test_tgi_fills_the_card_unless_its_tokens_are_bounded() -> None:
    """`--cuda-memory-fraction` is 1.0 by default, and `--max-batch-total-tokens` what fits."""
    words = LONG | {"engine": "tgi"}
    assert must({}, words, Setting(card_mib=CARD)).mib == CARD
    bounded = must({"cache_tokens": 16_384.0}, words, Setting(card_mib=CARD))
    assert not bounded.elastic
    assert 8.03e9 * 2 / MIB + 2_048 < bounded.mib < CARD / 2
    assert must({"gpu_memory_utilization": 0.5}, words, Setting(card_mib=CARD)).mib == CARD // 2


def test_what_jax_takes_is_no_need_and_teaches_nothing() -> None:
    env = {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".75"}
    pod = gpu_pod("jax", args=("--batch-size", "4"), env=env)
    rows = [
        Observation("img", "a" * 64, 61_000 + n, hints={"preallocated_fraction": 0.75, "preallocates": 1.0})
        for n in range(3)
    ]
    assert all(modelled(row) is None for row in rows)
    found = Hints({"preallocated_fraction": 0.75})
    assert preallocates(found)
    assert preallocates(from_numbers(as_numbers(found)))
    assert "engine" not in from_numbers(as_numbers(found)).words
    answer = Predictor([], largest_card_mib=294_912).predict(Asked(pod))
    assert answer.vram_mib is None


@pytest.mark.parametrize("name", sorted(known_models()))
@pytest.mark.parametrize("stage", [0, 1, 2, 3])
@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16"])
def test_no_known_model_is_promised_less_than_its_states(name: str, stage: int, precision: str) -> None:
    """AdamW takes 16 bytes a parameter over all GPUs together, however they are spread."""
    words = {"model": name, "mode": "training", "precision": precision, "optimizer": "adamw"}
    numbers = {"batch_size": 1.0, "sequence_length": 128.0, "zero_stage": float(stage)}
    for degrees in ({}, {"tensor_parallel": 4.0}, {"pipeline_parallel": 2.0}, {"tensor_parallel": 2.0}):
        answer = must({**numbers, **degrees}, words, Setting("PyTorchJob", processes=8))
        known = known_model(name)
        assert known is not None
        assert answer.mib >= answer.floor_mib >= 16 * known.parameters / 8 / MIB * (1 if stage == 3 else 0.999)
        serving = must(numbers, {"model": name, "mode": "inference", "precision": "bf16"}, Setting(processes=1))
        assert serving.mib * MIB >= 2 * known.parameters
