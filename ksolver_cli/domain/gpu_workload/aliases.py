"""The allow-list of hints: which flag, env and configuration names mean which fact.

Names are compared in lower case with `-` as `_` and with only the last part of a dotted path (`model.hidden_size`).
Sources: argument names of Hugging Face TrainingArguments and PretrainedConfig, DeepSpeed's configuration, Megatron-LM,
vLLM and SGLang engine arguments, torchrun, PEFT.
"""

NUMBERS: dict[str, tuple[str, ...]] = {
    "model_parameters_billions": (
        "model_parameters_billions",
        "num_parameters_billions",
        "params_billions",
        "params_b",
    ),
    "batch_size": (
        "batch_size",
        "bs",
        "mbs",
        "micro_batch_size",
        "per_device_train_batch_size",
        "per_device_batch_size",
        "per_gpu_train_batch_size",
        "train_micro_batch_size_per_gpu",
        "local_batch_size",
        "batch_size_per_gpu",
    ),
    # DeepSpeed and Megatron mean all GPUs together by these.
    "global_batch_size": ("global_batch_size", "gbs", "train_batch_size", "total_batch_size"),
    "gradient_accumulation_steps": ("gradient_accumulation_steps", "accumulation_steps", "grad_accum", "accum_steps"),
    # For an engine that serves, the longest request it admits.
    "sequence_length": (
        "sequence_length",
        "seq_length",
        "seq_len",
        "max_seq_length",
        "max_seq_len",
        "max_sequence_length",
        "max_model_len",
        "max_length",
        "model_max_length",
        "context_length",
        "cutoff_len",
        "block_size",
        "max_total_tokens",
    ),
    "layers": ("num_layers", "n_layer", "n_layers", "num_hidden_layers"),
    "hidden_size": ("hidden_size", "n_embd", "d_model", "hidden_dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    "kv_heads": ("num_key_value_heads", "n_kv_heads", "num_query_groups", "num_kv_heads"),
    "head_dim": ("head_dim", "kv_channels"),
    "intermediate_size": ("intermediate_size", "ffn_hidden_size", "n_inner"),
    "vocab_size": ("vocab_size", "padded_vocab_size"),
    "experts": ("num_experts", "num_local_experts", "n_routed_experts"),
    # torchrun multiplies the next two; accelerate and launchers state the product.
    "world_size": ("world_size", "num_processes", "np"),
    "nodes": ("nnodes", "num_nodes", "num_machines", "pet_nnodes"),
    "processes_per_node": (
        "nproc_per_node",
        "num_gpus_per_node",
        "gpus_per_node",
        "slots_per_worker",
        "pet_nproc_per_node",
    ),
    "data_parallel": ("data_parallel_size", "dp_size", "dp"),
    "tensor_parallel": ("tensor_parallel_size", "tensor_model_parallel_size", "tp_size", "tp", "num_shard"),
    "pipeline_parallel": ("pipeline_parallel_size", "pipeline_model_parallel_size", "pp_size", "pp"),
    "zero_stage": ("zero_stage",),
    "lora_rank": ("lora_rank", "lora_r", "lora_dim"),
    "gpu_memory_utilization": (
        "gpu_memory_utilization",
        "mem_fraction_static",
        "cuda_memory_fraction",
        "gpu_memory_fraction",
    ),
    # JAX's allocator takes this much of the card before the program asks for anything.
    "preallocated_fraction": ("xla_python_client_mem_fraction", "xla_client_mem_fraction"),
    # TGI's bound on all tokens it holds; without it, TGI fills the card.
    "cache_tokens": ("max_batch_total_tokens",),
    "max_num_seqs": ("max_num_seqs", "max_running_requests", "max_batch_size"),
}
"""Canonical numeric hint → the names it goes by; these alone may leave the cluster with a redacted snapshot."""

WORDS: dict[str, tuple[str, ...]] = {
    "model": (
        "model_name_or_path",
        "pretrained_model_name_or_path",
        "model",
        "model_name",
        "model_id",
        "base_model",
        "model_path",
        "arch",
        "hf_model_id",
    ),
    "precision": ("precision", "mixed_precision", "dtype", "torch_dtype"),
    "optimizer": ("optimizer", "optim"),
    "quantization": ("quantization", "quantize"),
    "kv_cache_dtype": ("kv_cache_dtype",),
    "checkpointing": ("recompute_granularity", "checkpointing"),
    "attention": ("attn_implementation",),
    "sharding": ("fsdp", "fsdp_sharding_strategy", "sharding_strategy"),
    "mode": ("vram_mode",),
}
"""Canonical word hint → the names it goes by."""

SWITCHES: dict[str, tuple[str, str]] = {
    "bf16": ("precision", "bf16"),
    "fp16": ("precision", "fp16"),
    "gradient_checkpointing": ("checkpointing", "full"),
    "activation_checkpointing": ("checkpointing", "full"),
    "use_flash_attn": ("attention", "flash"),
    "tie_word_embeddings": ("embedding", "tied"),
    "load_in_4bit": ("quantization", "int4"),
    "load_in_8bit": ("quantization", "int8"),
    "use_lora": ("adapter", "lora"),
    "use_distributed_optimizer": ("sharding", "distributed_optimizer"),
    "use_peft": ("adapter", "lora"),
}
"""Flags that are on by being there (or by a true value) → the word hint they stand for."""


def _reversed(table: dict[str, tuple[str, ...]]) -> dict[str, str]:
    return {alias: canonical for canonical, names in table.items() for alias in (canonical, *names)}


NUMBER_OF = _reversed(NUMBERS)
"""Alias → canonical numeric hint."""

WORD_OF = _reversed(WORDS)
"""Alias → canonical word hint."""


def spelled(name: str) -> str:
    """Return a flag, env or configuration name as the tables spell it."""
    return name.lstrip("-+").rpartition(".")[2].replace("-", "_").lower()
