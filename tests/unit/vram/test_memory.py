"""The memory model: published arithmetic, floors, and that every kind of sharding only ever takes memory away."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.vram.memory.architecture import Architecture, count_parameters, from_hints, shaped
from ksolver_cli.vram.memory.configuration import BadConfiguration, read_configuration
from ksolver_cli.vram.memory.estimate import Estimate, Setting, estimate
from ksolver_cli.vram.memory.inference import Serving, kv_bytes_per_token, serving_memory
from ksolver_cli.vram.memory.models import known_model
from ksolver_cli.vram.memory.parallel import Parallelism, parallelism
from ksolver_cli.vram.memory.precision import FP32, optimizer_state_bytes, precision_named, quantised_bytes
from ksolver_cli.vram.memory.training import Training, training_memory

MIB, GIB = 2**20, 2**30
SEVEN = Architecture(7_000_000_000, layers=32, hidden=4096, heads=32, kv_heads=32, vocab=32_000)
ALONE = Parallelism()


def adamw(precision: str = "fp32", **changes: object) -> Training:
    found = precision_named(precision)
    assert found is not None
    made = Training(found, 8.0, batch=1, sequence=1024, parallelism=ALONE)
    return replace(made, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("precision", ["fp32", "bf16", "fp16", "tf32", "torch.bfloat16"])
def test_adamw_takes_sixteen_bytes_a_parameter_in_every_precision(precision: str) -> None:
    assert training_memory(SEVEN, adamw(precision)).floor == 16 * SEVEN.parameters


@pytest.mark.parametrize(
    ("stage", "gib"),
    # The table of the ZeRO paper: 7.5 billion parameters on 64 GPUs take 120, 31.4, 16.6 and 1.9 GB.
    [(0, 120.0), (1, 31.4), (2, 16.6), (3, 1.9)],
)
def test_the_zero_papers_own_table(stage: int, gib: float) -> None:
    network = Architecture(7_500_000_000, layers=36, hidden=4096)
    spread = Parallelism(data=64, zero_stage=stage)
    assert training_memory(network, adamw("fp16", parallelism=spread)).floor / 1e9 == pytest.approx(gib, abs=0.06)


def test_activations_follow_the_published_formula() -> None:
    # 34·s·b·h bytes a layer in 16 bits without tensor parallelism, 5·a·s²·b more where attention is stored.
    network = replace(SEVEN, vocab=None)
    stored = training_memory(network, adamw("bf16", batch=2)).activations
    assert stored == 34 * 1024 * 2 * 4096 * 32
    eager = training_memory(network, adamw("bf16", batch=2, eager_attention=True)).activations
    assert eager is not None
    assert stored is not None
    assert eager - stored == 5 * 32 * 1024**2 * 2 * 32
    full = training_memory(network, adamw("bf16", batch=2, checkpointing="full")).activations
    assert full == (2 * 32 + 34) * 1024 * 2 * 4096


def test_a_known_model_reproduces_published_cache_sizes() -> None:
    # Llama 2 7B keeps half a MiB of keys and values a token in 16 bits, Llama 3 8B (grouped heads) a quarter of that.
    for name, kib in (("llama-2-7b", 512), ("llama-3-8b", 128), ("llama-3-70b", 320)):
        network = known_model(name)
        assert network is not None
        assert kv_bytes_per_token(network, 2, ALONE) == kib * 1024
        assert kv_bytes_per_token(network, 2, Parallelism(tensor=4)) == kib * 256
        assert kv_bytes_per_token(network, 2, Parallelism(tensor=16)) == kib * 1024 / min(16, network.kv_heads or 0)


def test_encoders_have_no_cache() -> None:
    bert = known_model("bert-base-uncased")
    assert bert is not None
    assert kv_bytes_per_token(bert, 2, ALONE) == 0


def test_lora_trains_a_sliver() -> None:
    lora = training_memory(SEVEN, adamw("bf16", lora_rank=16))
    assert lora.weights == pytest.approx(2 * SEVEN.parameters, rel=0.02)
    assert lora.gradients + lora.optimizer < 0.05 * lora.weights
    qlora = training_memory(SEVEN, adamw("bf16", lora_rank=16, quantised_weight_bytes=quantised_bytes("int4")))
    assert qlora.weights < lora.weights / 3


def test_offloading_frees_the_card() -> None:
    spread = Parallelism(data=8, zero_stage=3, offload_optimizer=True, offload_weights=True)
    parts = training_memory(SEVEN, adamw("bf16", parallelism=spread))
    assert (parts.weights, parts.optimizer) == (0, 0)
    assert parts.gradients > 0


@pytest.mark.parametrize(
    ("word", "states"),
    [("adamw_torch_fused", 8), ("Adam", 8), ("FusedAdam", 8), ("adamw_bnb_8bit", 2), ("paged_adamw_8bit", 2),
     ("sgd", 0), ("adafactor", 0.04), ("lion_32bit", 4), ("adagrad", 4), ("unheard-of", None), ("", None)],
)  # fmt: skip
def test_optimizer_states(word: str, states: float | None) -> None:
    assert optimizer_state_bytes(word) == states


def test_counting_parameters_needs_depth_and_width() -> None:
    assert count_parameters({"layers": 12}) is None
    assert count_parameters({"layers": 12, "hidden_size": 768, "vocab_size": 50257}, tied=True) == pytest.approx(
        124e6, rel=0.01
    )


@given(st.floats(0.1, 500))
def test_a_shape_filled_in_from_a_size_has_that_size(billions: float) -> None:
    network = shaped(Architecture(round(billions * 1e9)))
    assert network.layers is not None
    assert network.hidden is not None
    assert 12 * network.layers * network.hidden**2 == pytest.approx(network.parameters, rel=0.15)
    assert network.guessed == ("layers", "hidden")


DEGREES = st.sampled_from([1, 2, 4, 8])


@given(DEGREES, DEGREES, DEGREES, st.integers(0, 3), st.integers(1, 16), st.sampled_from(["fp32", "bf16"]))
def test_never_below_weights_gradients_and_states(
    data: int, tensor: int, pipeline: int, stage: int, batch: int, precision: str
) -> None:
    spread = Parallelism(data, tensor, pipeline, stage)
    parts = training_memory(SEVEN, adamw(precision, batch=batch, parallelism=spread))
    assert parts.total >= parts.floor >= 16 * SEVEN.parameters / spread.world * 0.999
    more_batch = training_memory(SEVEN, adamw(precision, batch=batch + 1, parallelism=spread))
    assert more_batch.total > parts.total
    deeper = training_memory(
        SEVEN, adamw(precision, batch=batch, parallelism=replace(spread, zero_stage=min(3, stage + 1)))
    )
    assert deeper.floor <= parts.floor
    wider = training_memory(SEVEN, adamw(precision, batch=batch, parallelism=replace(spread, tensor=tensor * 2)))
    assert wider.floor < parts.floor


def hints(*words: tuple[str, str], **numbers: float) -> Hints:
    return Hints(numbers, dict(words))


def must(found: Hints, setting: Setting | None = None) -> Estimate:
    answer = estimate(found, setting or Setting())
    assert answer is not None
    return answer


def test_without_a_size_there_is_no_estimate() -> None:
    assert estimate(hints(batch_size=8, sequence_length=2048), Setting()) is None
    assert estimate(hints(model_parameters_billions=-1), Setting()) is None


def test_what_is_missing_is_said() -> None:
    answer = must(hints(model_parameters_billions=7))
    assert answer.mib >= 7e9 * 16 / MIB
    assert {"batch_size", "sequence_length", "precision", "optimizer"} <= set(answer.missing)
    told = hints(
        ("precision", "bf16"), ("optimizer", "adamw"), ("model", "llama-2-7b"), batch_size=1, sequence_length=512
    )
    assert must(told).missing == ()


def test_batch_of_the_whole_world_is_split() -> None:
    whole = hints(model_parameters_billions=1, global_batch_size=64, gradient_accumulation_steps=4, sequence_length=512)
    single = hints(model_parameters_billions=1, batch_size=2, sequence_length=512)
    eight = Setting("PyTorchJob", processes=8)
    assert must(whole, eight).mib == must(single, eight).mib


def test_engines_that_preallocate_follow_the_card() -> None:
    vllm = hints(
        ("model", "meta-llama/Llama-3.1-8B"), ("engine", "vllm"), gpu_memory_utilization=0.8, sequence_length=8192
    )
    on_h100 = must(vllm, Setting(card_mib=81_559))
    assert (on_h100.mib, on_h100.elastic) == (int(0.8 * 81_559), True)
    unknown = must(vllm)
    assert unknown.mib == unknown.needed_mib == on_h100.needed_mib
    assert 8.03e9 * 2 / MIB < unknown.needed_mib < 24_000
    assert any("card memory" in fact for fact in unknown.missing)
    assert must(vllm, Setting(card_mib=8_000)).mib == on_h100.needed_mib


def test_other_servers_need_a_cache_for_every_sequence() -> None:
    network = known_model("llama-2-7b")
    assert network is not None
    few, many = (
        serving_memory(network, Serving(2, 2, sequences, 4096, ALONE), None).needed.total for sequences in (1, 9)
    )
    assert many - few == pytest.approx(8 * 4096 * 512 * 1024 * 1.05, rel=0.01)


@pytest.mark.parametrize(
    ("words", "kind", "serves"),
    [
        ({}, "Pod", False),
        ({}, "Deployment", True),
        ({"engine": "torchrun"}, "Deployment", False),
        ({"engine": "vllm"}, "Job", True),
        ({"optimizer": "adamw"}, "StatefulSet", False),
        ({"mode": "inference"}, "PyTorchJob", True),
    ],
)
def test_training_or_serving(words: dict[str, str], kind: str, serves: bool) -> None:
    answer = must(Hints({"model_parameters_billions": 1.0}, words), Setting(kind))
    assert answer.explanation.startswith("serving") is serves


@pytest.mark.parametrize(
    ("found", "spread"),
    [
        (hints(tensor_parallel=2, pipeline_parallel=2), Parallelism(4, 2, 2)),
        (hints(tensor_parallel=32), Parallelism(1, 32, 1)),
        (hints(processes_per_node=8, nodes=4), Parallelism(32)),
        (hints(world_size=64, zero_stage=2), Parallelism(64, zero_stage=2)),
        (hints(("sharding", "full_shard auto_wrap")), Parallelism(16, zero_stage=3)),
        (hints(("sharding", "ShardingStrategy.SHARD_GRAD_OP")), Parallelism(16, zero_stage=2)),
        (hints(("sharding", "distributed_optimizer")), Parallelism(16, zero_stage=1)),
        (hints(zero_stage=9), Parallelism(16)),
    ],
)
def test_parallelism_from_hints(found: Hints, spread: Parallelism) -> None:
    assert parallelism(found, 16) == spread


def test_a_stated_size_beats_a_known_model_of_another() -> None:
    network = from_hints(hints(model_parameters_billions=3), known_model("llama-2-7b"))
    assert network is not None
    assert (network.parameters, network.layers) == (3_000_000_000, None)
    near = from_hints(hints(model_parameters_billions=8), known_model("llama-2-7b"))
    assert near is not None
    assert (near.parameters, near.layers) == (8_000_000_000, 32)


def test_a_name_only_rounds_a_known_models_size() -> None:
    named = Hints({"model_parameters_billions": 56.0}, {"model": "mistralai/Mixtral-8x7B-v0.1"})
    network = from_hints(named, known_model(named.words["model"]))
    assert network is not None
    assert network.parameters == 46_702_792_704


DEEPSPEED = """{"train_micro_batch_size_per_gpu": 4, "gradient_accumulation_steps": "auto", "bf16": {"enabled": true},
 "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}}, "optimizer": {"type": "AdamW"},
 "activation_checkpointing": {"partition_activations": true}}"""
HUGGING_FACE = """
model_type: llama
num_hidden_layers: 32
hidden_size: 4096
num_attention_heads: 32
num_key_value_heads: 8
intermediate_size: 14336
vocab_size: 128256
torch_dtype: bfloat16
per_device_train_batch_size: 2
gradient_checkpointing: true
optim: adamw_torch
"""
ACCELERATE = """
mixed_precision: fp16
num_processes: 16
deepspeed_config: {zero_stage: 2, offload_param_device: none}
fsdp_config: {fsdp_sharding_strategy: FULL_SHARD}
"""


def test_deepspeed_keys() -> None:
    found = read_configuration(DEEPSPEED)
    assert found.numbers == {"batch_size": 4, "zero_stage": 3}
    assert found.words == {
        "precision": "bf16",
        "offload_optimizer": "cpu",
        "optimizer": "AdamW",
        "checkpointing": "full",
        "engine": "deepspeed",
    }


def test_hugging_face_keys_are_enough_for_an_estimate() -> None:
    found = read_configuration(HUGGING_FACE)
    answer = must(found.over(hints(sequence_length=1024)))
    assert answer.floor_mib == pytest.approx(8.03e9 * 16 / MIB, rel=0.01)
    assert answer.missing == ()


def test_accelerate_keys() -> None:
    found = read_configuration(ACCELERATE)
    assert found.numbers == {"world_size": 16, "zero_stage": 2}
    assert found.words["precision"] == "fp16"
    assert parallelism(found, 1).zero_stage == 2


def test_a_deepspeed_configuration_inside_another_is_read() -> None:
    inner = json.dumps({"deepspeed": json.loads(DEEPSPEED), "per_device_train_batch_size": 2, "bf16": True})
    found = read_configuration(inner)
    assert found.numbers == {"batch_size": 2, "zero_stage": 3}
    assert (found.words["engine"], found.words["offload_optimizer"]) == ("deepspeed", "cpu")


@pytest.mark.parametrize("text", ["", "[1]", "{", "a: *b", "just words"])
def test_what_is_no_configuration_is_said(text: str) -> None:
    with pytest.raises(BadConfiguration):
        read_configuration(text)


KEYS = st.sampled_from(["fp16", "zero_optimization", "optimizer", "num_parameters", "hidden_size", "model", "stage"])
INNER = st.sampled_from(["enabled", "stage", "type", "device"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(INNER, x), max_leaves=5
)


@given(st.dictionaries(KEYS, VALUES))
def test_odd_configurations_never_crash(document: dict[str, object]) -> None:
    try:
        found = read_configuration(json.dumps(document))
    except BadConfiguration:
        return
    assert estimate(found, Setting()) is None or found.numbers


def test_fp32_is_the_default_of_training() -> None:
    assert "training in fp32" in must(hints(model_parameters_billions=1)).explanation
    assert FP32.master_bytes == 0
