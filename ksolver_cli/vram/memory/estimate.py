"""From hints to a number: which formula, what was assumed, what is missing, in words a person can check."""

from dataclasses import dataclass, replace

from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.vram.memory.architecture import TRANSFORMERS, Architecture, from_hints, lacks_vocabulary, shaped
from ksolver_cli.vram.memory.inference import Served, Serving, fraction_taken, serving_memory
from ksolver_cli.vram.memory.models import known_model
from ksolver_cli.vram.memory.parallel import Parallelism, parallelism
from ksolver_cli.vram.memory.precision import (
    DEFAULT_OPTIMIZER,
    FP32,
    Precision,
    optimizer_state_bytes,
    precision_named,
    quantised_bytes,
)
from ksolver_cli.vram.memory.training import MIB, Components, Training, training_memory

TRAINERS = frozenset({"torchrun", "deepspeed", "accelerate", "megatron"})
SERVERS = frozenset({"vllm", "sglang", "tgi", "triton"})
"""Engines that serve, as the others here train."""

HOLD_HALF = frozenset({"deepspeed", "megatron"})
"""Trainers that hold a 16-bit model, where others cast a 32-bit one."""

_SERVING_KINDS = frozenset(
    {"Deployment", "StatefulSet", "ReplicaSet", "InferenceService", "RayService", "LeaderWorkerSet"}
)
# Assumed, and listed as missing, where nothing tells.
_DEFAULT_SEQUENCE = 2_048
_DEFAULT_RANK = 16
# vLLM's default of --max-num-seqs.
_VLLM_SEQUENCES = 256


@dataclass(frozen=True)
class Setting:
    """Where a workload runs: its kind, the GPUs of all its processes, and the card it will get, where known."""

    kind: str = "Pod"
    processes: int = 1
    card_mib: int | None = None


@dataclass(frozen=True)
class Estimate:
    """Memory of the fullest GPU in MiB, the part that is unavoidable, and how it came about.

    `elastic` engines take a fraction of whatever card they get: then `needed_mib` is what they cannot do without, and
    `mib` what they will be seen to use. An estimate that is not `complete` lacks a part there is no formula for.
    """

    mib: int
    floor_mib: int
    needed_mib: int
    missing: tuple[str, ...]
    explanation: str
    elastic: bool = False
    complete: bool = True


def estimate(hints: Hints, setting: Setting) -> Estimate | None:
    """Return what the memory model says; None where not even the number of parameters is known."""
    known = known_model(hints.words.get("model"))
    network = from_hints(hints, known)
    if network is None:
        return None
    if hints.words.get("family"):
        network = replace(network, family=hints.words["family"])
    network = shaped(network)
    asked = _Asked(hints, setting, network)
    return asked.serving() if asked.serves() else asked.training()


class _Asked:
    """One question to the model; collects what had to be assumed on the way."""

    def __init__(self, hints: Hints, setting: Setting, network: Architecture) -> None:
        self.hints = hints
        self.setting = setting
        self.network = network
        self.spread: Parallelism = parallelism(hints, setting.processes)
        self.missing: list[str] = [f"{name} (guessed from the size)" for name in network.guessed]
        if lacks_vocabulary(hints, network):
            self.missing.append("vocab_size (the embedding is not counted)")

    def serves(self) -> bool:
        mode, engine = self.hints.words.get("mode"), self.hints.words.get("engine")
        if mode in {"training", "inference"}:
            return mode == "inference"
        # What runs says more than the kind it runs in: trainers live in Deployments too.
        if engine in SERVERS or engine in TRAINERS:
            return engine in SERVERS
        if {"gpu_memory_utilization", "max_num_seqs"} & set(self.hints.numbers):
            return True
        return self.setting.kind in _SERVING_KINDS and not self._trains()

    def _trains(self) -> bool:
        return "optimizer" in self.hints.words or "gradient_accumulation_steps" in self.hints.numbers

    def training(self) -> Estimate:
        precision = self._precision(FP32)
        training = Training(
            precision=precision,
            state_bytes=self._state_bytes(),
            batch=self._batch(),
            sequence=self._sequence(),
            parallelism=self.spread,
            checkpointing=self._checkpointing(),
            eager_attention=self.hints.words.get("attention") == "eager",
            lora_rank=self._lora_rank(),
            quantised_weight_bytes=quantised_bytes(self.hints.words.get("quantization")),
            autocast=self._casts(precision),
        )
        components = training_memory(self.network, training)
        complete = self._counted(components.activations is not None)
        mib = _mib(components.total)
        how = f"training in {training.precision.name} with {self._optimizer()}"
        words = self._words(how, components)
        return Estimate(mib, _mib(components.floor), mib, tuple(self.missing), words, complete=complete)

    def _casts(self, precision: Precision) -> bool:
        """Whether 16 bits come by `torch.autocast`: DeepSpeed, Megatron, FSDP and adapters hold a 16-bit model."""
        holds = self.hints.words.get("engine") in HOLD_HALF or self.spread.zero_stage or self._adapts()
        return precision.weight_bytes < FP32.weight_bytes and not holds

    def _adapts(self) -> bool:
        return self.hints.words.get("adapter") == "lora" or self.hints.count("lora_rank") is not None

    def serving(self) -> Estimate:
        quantised = quantised_bytes(self.hints.words.get("quantization"))
        # Checkpoints are published in 16 bits, and engines serve them as they are.
        half = precision_named("bf16")
        precision = self._precision(half or FP32)
        cache = 1.0 if "fp8" in self.hints.words.get("kv_cache_dtype", "") else precision.weight_bytes
        fraction = fraction_taken(self.hints)
        sequences, sequence = self._requests(elastic=fraction is not None)
        serving = Serving(
            weight_bytes=quantised or precision.weight_bytes,
            cache_bytes=cache,
            sequences=sequences,
            sequence=sequence,
            parallelism=self.spread,
            fraction=fraction,
        )
        return self._served(serving, serving_memory(self.network, serving, self.setting.card_mib))

    def _requests(self, *, elastic: bool) -> tuple[int, int]:
        """How many requests are held at once, and how long each may be."""
        whole = self.hints.count("cache_tokens")
        if whole is not None:
            return 1, whole
        # Without --max-model-len an engine admits, and must have room for, whatever the model was made for.
        longest = self.network.max_positions if elastic else None
        sequence = self.hints.count("sequence_length") or longest or self._sequence() or _DEFAULT_SEQUENCE
        if elastic:
            return self.hints.count("max_num_seqs") or _VLLM_SEQUENCES, sequence
        return self.hints.count("max_num_seqs") or self.hints.count("batch_size") or self._one_request(), sequence

    def _one_request(self) -> int:
        self.missing.append("batch_size")
        return 1

    def _served(self, serving: Serving, served: Served) -> Estimate:
        needed = _mib(served.needed.total)
        words = self._words("serving", served.needed)
        if serving.fraction is not None:
            words += f"; the engine takes {serving.fraction:g} of whatever card it gets and needs {needed} MiB to start"
            card = self.setting.card_mib
            if card is None:
                self.missing.append("card memory (the engine takes a fraction of it)")
            elif needed > serving.fraction * card:
                words += f", which is more than its part of {card} MiB"
        mib = served.taken_mib or needed
        complete = self._counted(self.network.family in TRANSFORMERS)
        return Estimate(
            mib,
            _mib(served.needed.weights),
            needed,
            tuple(self.missing),
            words,
            elastic=serving.fraction is not None,
            complete=complete,
        )

    def _counted(self, known: bool) -> bool:
        if not known:
            self.missing.append("activations (no formula for this kind of network)")
        return known

    def _precision(self, default: Precision) -> Precision:
        found = precision_named(self.hints.words.get("precision"))
        if found is None:
            self.missing.append("precision")
        return found or default

    def _optimizer(self) -> str:
        return self.hints.words.get("optimizer", DEFAULT_OPTIMIZER)

    def _state_bytes(self) -> float:
        stated = optimizer_state_bytes(self.hints.words.get("optimizer"))
        if stated is None:
            stated = self.hints.number("optimizer_state_bytes")
        if stated is None:
            self.missing.append("optimizer")
        return stated if stated is not None else optimizer_state_bytes(DEFAULT_OPTIMIZER) or 0.0

    def _batch(self) -> int:
        stated = self.hints.count("batch_size")
        whole = self.hints.count("global_batch_size")
        if stated is not None:
            return stated
        if whole is not None:
            steps = self.hints.count("gradient_accumulation_steps") or 1
            return max(1, -(-whole // (self.spread.data * steps)))
        self.missing.append("batch_size")
        return 1

    def _sequence(self) -> int | None:
        stated = self.hints.count("sequence_length") or self.network.sequence
        if stated is None and self.network.family in TRANSFORMERS:
            self.missing.append("sequence_length")
            return _DEFAULT_SEQUENCE
        return stated

    def _checkpointing(self) -> str:
        word = self.hints.words.get("checkpointing", "none").lower()
        return word if word in {"full", "selective"} else "none"

    def _lora_rank(self) -> int | None:
        rank = self.hints.count("lora_rank")
        if rank is None and self.hints.words.get("adapter") == "lora":
            self.missing.append("lora_rank")
            return _DEFAULT_RANK
        return rank

    def _words(self, how: str, parts: Components) -> str:
        size = f"{self.network.parameters / 1e9:.3g} billion parameters"
        shares = {
            "weights": parts.weights,
            "gradients": parts.gradients,
            "optimizer": parts.optimizer,
            "activations and cache": parts.activations or 0.0,
            "overhead": parts.overhead,
        }
        listed = ", ".join(f"{name} {share / 2**30:.1f} GiB" for name, share in shares.items() if share)
        spread = self.spread
        degrees = {"data": spread.data, "tensor": spread.tensor, "pipeline": spread.pipeline, "ZeRO": spread.zero_stage}
        apart = ", ".join(
            f"{name} {degree}" for name, degree in degrees.items() if degree > 1 or (name == "ZeRO" and degree)
        )
        return f"{how}, {size}{f' over {apart}' if apart else ''}: {listed}"


def _mib(count: float) -> int:
    return -int(-count // MIB)
