"""Memory of a training step on one GPU: weights, gradients, optimizer states, activations, overhead."""

from dataclasses import dataclass

from ksolver_cli.vram.memory.architecture import TRANSFORMERS, Architecture
from ksolver_cli.vram.memory.parallel import Parallelism
from ksolver_cli.vram.memory.precision import FP32_BYTES, Precision

MIB = 2**20
# CUDA context, loaded kernels and cuBLAS workspaces: some hundred MiB on Ampere and Hopper with CUDA 12.
CONTEXT_BYTES = 600 * MIB
# Buffers of NCCL's channels to its peers.
COMMUNICATOR_BYTES = 400 * MIB
# What the caching allocator holds in blocks too small to use.
FRAGMENTATION = 0.05


@dataclass(frozen=True)
class Components:
    """Bytes on one GPU, by what they hold; `activations` is None where they cannot be told."""

    weights: float
    gradients: float
    optimizer: float
    activations: float | None
    overhead: float

    @property
    def floor(self) -> float:
        """What cannot be avoided: weights, gradients and optimizer states."""
        return self.weights + self.gradients + self.optimizer

    @property
    def total(self) -> float:
        """Everything."""
        return self.floor + (self.activations or 0.0) + self.overhead


@dataclass(frozen=True)
class Training:
    """How a network is trained."""

    precision: Precision
    state_bytes: float
    batch: int
    sequence: int | None
    parallelism: Parallelism
    checkpointing: str = "none"
    eager_attention: bool = False
    lora_rank: int | None = None
    quantised_weight_bytes: float | None = None
    autocast: bool = False
    """Mixed precision by casting 32-bit weights as they are used (`torch.autocast`), not by a 16-bit model."""


def training_memory(network: Architecture, training: Training) -> Components:
    """Return the memory of one GPU during training.

    Of a pipeline, the first stage is taken: it holds the embedding and the most activations.
    """
    spread = training.parallelism
    held = _held_parameters(network, spread)
    weights, gradients, optimizer = _states(network, training, held)
    activations = _activations(network, training)
    overhead = _overhead(network, training, held) + FRAGMENTATION * (
        weights + gradients + optimizer + (activations or 0)
    )
    return Components(weights, gradients, optimizer, activations, overhead)


def _held_parameters(network: Architecture, spread: Parallelism) -> float:
    """Parameters of the fullest pipeline stage on one tensor-parallel rank (Shoeybi et al., *Megatron-LM*, 2019)."""
    body = network.parameters - network.embedding
    # Layers are spread over the stages, the embedding is not.
    stage = body / spread.pipeline + network.embedding
    return min(stage, network.parameters) / spread.tensor


def _states(network: Architecture, training: Training, held: float) -> tuple[float, float, float]:
    spread, precision = training.parallelism, training.precision
    trainable = held if training.lora_rank is None else _adapter_parameters(network, training.lora_rank) / spread.tensor
    weight_bytes = training.quantised_weight_bytes or precision.weight_bytes
    weights = 0.0 if spread.offload_weights else held * weight_bytes / spread.shards(3)
    if training.lora_rank is not None:
        # Adapters are trained in 32 bits: weights 4, gradients 4 and their states.
        adapters = trainable / spread.shards(3)
        return weights + FP32_BYTES * adapters, FP32_BYTES * adapters, training.state_bytes * adapters
    gradients = trainable * precision.gradient_bytes / spread.shards(2)
    states = 0.0 if spread.offload_optimizer else trainable * (training.state_bytes + precision.master_bytes)
    return weights, gradients, states / spread.shards(1)


def _adapter_parameters(network: Architecture, rank: int) -> float:
    """Parameters of rank-r adapters on every linear layer: r · (inputs + outputs) each (Hu et al., *LoRA*, 2021)."""
    hidden, layers = network.hidden or 0, network.layers or 0
    wide = network.intermediate or 4 * hidden
    kv_width = network.kv_width or hidden
    attention = 2 * (hidden + hidden) + 2 * (hidden + kv_width)
    return float(rank * layers * (attention + 3 * (hidden + wide)))


def _activations(network: Architecture, training: Training) -> float | None:
    if network.activation_elements is not None and network.family not in TRANSFORMERS:
        return training.batch * network.activation_elements * training.precision.activation_bytes
    sequence = training.sequence or network.sequence
    if network.family not in TRANSFORMERS or not sequence or not network.hidden or not network.layers:
        return None
    return _transformer_activations(network, training, sequence)


def _transformer_activations(network: Architecture, training: Training, sequence: int) -> float:
    """Activations of a transformer, in bytes (Korthikanti et al., *Reducing Activation Recomputation*, MLSys 2023).

    Per layer in 16 bits s·b·h·(10 + 24/t + 5·a·s/(h·t)) (equation 3, t the tensor-parallel degree); the last term is
    the attention matrix, which fused attention never stores and selective recomputation stores for one layer alone.
    Full recomputation keeps the layer inputs, 2·s·b·h, and one layer's worth while it recomputes. The first pipeline
    stage keeps as many micro-batches in flight as there are stages, so that depth does not divide it. A mixture sends
    each token through two experts, as Mixtral does. The head holds logits in 32 bits and their gradient.
    """
    batch, hidden, tensor = training.batch, network.hidden or 0, training.parallelism.tensor
    scale = training.precision.activation_bytes / 2
    token = sequence * batch * hidden * scale
    layer = token * (10 + 24 / tensor)
    # Norms and softmax run in 32 bits: their inputs (two a layer) and outputs take four bytes and not two.
    layer += token * 4 if training.autocast else 0
    if network.family == "moe":
        # Of the 34, 19 are the feed-forward block's: 16 of them divided by tensor parallelism.
        layer += token * (3 + 16 / tensor)
    matrix = 0.0
    if training.eager_attention:
        matrix = (
            scale
            * (7 if training.autocast else 5)
            * (network.heads or hidden // 128 or 1)
            * sequence**2
            * batch
            / tensor
        )
    depth = network.layers or 0
    if training.checkpointing == "full":
        kept = depth * 2 * token + layer + matrix
    else:
        kept = depth * layer + matrix * (1 if training.checkpointing == "selective" else depth)
    logits = 2 * FP32_BYTES * sequence * batch * (network.vocab or 0) / tensor
    return float(kept + (logits if training.parallelism.pipeline == 1 else 0))


def _overhead(network: Architecture, training: Training, held: float) -> float:
    spread = training.parallelism
    communicators = COMMUNICATOR_BYTES if spread.world > 1 else 0
    gathered = 0.0
    if spread.zero_stage == 3 and spread.data > 1:
        # A layer in use and the next one on its way are whole on every GPU (DeepSpeed's prefetch).
        layer = max(network.layer_parameters, network.embedding) / spread.tensor
        gathered = 2 * layer * training.precision.weight_bytes
    elif spread.data > 1 and spread.zero_stage == 0 and training.lora_rank is None:
        # DistributedDataParallel's buckets are a second copy of the gradients, unless they are made views of them.
        gathered = held * training.precision.gradient_bytes
    # The 16-bit copies live from the forward to the backward pass.
    copies = held * training.precision.weight_bytes if training.autocast else 0.0
    return CONTEXT_BYTES + communicators + gathered + copies
