"""Workloads whose proven peak of GPU memory fits a cheaper class of card."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WrongGpuClass:
    """One workload. Memory in MiB a card; `less_micros` is the difference at list price for all its GPUs together.

    It is a potential, by memory alone and never called a saving: speed is not compared, and nothing is saved until the
    pods have moved and their nodes are gone. The rules in `blocked_by` have to change first.
    """

    workload: str
    pods: int
    gpus: int
    gpu: str
    memory_mib: int
    peak_mib: int
    observations: int
    fits_gpu: str
    fits_memory_mib: int
    instance_type: str
    less_micros: int
    blocked_by: tuple[str, ...]
