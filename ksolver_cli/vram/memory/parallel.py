"""How a model is spread over GPUs: data, tensor and pipeline parallelism, ZeRO stages, offloading."""

from dataclasses import dataclass

from ksolver_cli.domain.gpu_workload.hints import Hints

# PyTorch FSDP's strategies and Megatron's distributed optimizer by what they shard, in ZeRO's terms.
_FSDP_STAGES = {
    "full_shard": 3,
    "hybrid_shard": 3,
    "shard_grad_op": 2,
    "no_shard": 0,
    "true": 3,
    "1": 3,
    "2": 2,
    "distributed_optimizer": 1,
}


@dataclass(frozen=True)
class Parallelism:
    """Degrees of parallelism and what is sharded over the data-parallel group (Rajbhandari et al., *ZeRO*, SC 2020).

    Stage 1 shards optimizer states (and master weights), 2 gradients too, 3 weights too.
    """

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    zero_stage: int = 0
    offload_optimizer: bool = False
    offload_weights: bool = False

    @property
    def world(self) -> int:
        """Number of processes."""
        return self.data * self.tensor * self.pipeline

    def shards(self, from_stage: int) -> int:
        """Return over how many processes something is split that is sharded from a ZeRO stage on."""
        return self.data if self.zero_stage >= from_stage else 1


def parallelism(hints: Hints, processes: int) -> Parallelism:
    """Return the parallelism that hints describe; `processes` is the number of GPUs of the whole workload.

    Data parallelism is what tensor and pipeline parallelism leave of the world (Megatron-LM). A world that hints state
    wins over the one counted, except that fewer GPUs than `tensor × pipeline` cannot be.
    """
    tensor, pipeline = hints.count("tensor_parallel") or 1, hints.count("pipeline_parallel") or 1
    stated = hints.count("world_size") or _product(hints)
    world = max(stated or processes, tensor * pipeline)
    data = hints.count("data_parallel") or world // (tensor * pipeline)
    return Parallelism(
        data=data,
        tensor=tensor,
        pipeline=pipeline,
        zero_stage=_zero_stage(hints),
        offload_optimizer=hints.words.get("offload_optimizer", "none") not in {"none", ""},
        offload_weights=hints.words.get("offload_param", "none") not in {"none", ""},
    )


def _product(hints: Hints) -> int | None:
    each = hints.count("processes_per_node")
    return each * (hints.count("nodes") or 1) if each else None


def _zero_stage(hints: Hints) -> int:
    stage = hints.number("zero_stage")
    if stage is not None and 0 <= stage <= 3:
        return int(stage)
    words = hints.words.get("sharding", "").lower().replace(",", " ").split()
    return max((_FSDP_STAGES.get(word.rpartition(".")[2], 0) for word in words), default=0)
