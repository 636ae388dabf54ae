"""Which GPU nodes of a cluster a prediction rules out: those known to be too small, and no others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ksolver_cli.domain.gpu_workload.containers import is_gpu_resource
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, mapping
from ksolver_cli.vram.cards import Cards, node_gpu_memory_mib
from ksolver_cli.vram.predict.results import Prediction


@dataclass(frozen=True)
class Rooms:
    """GPU nodes by the memory of one of their cards. Those of unknown memory stay eligible."""

    large_enough: int
    too_small: int
    unknown: int
    hard: bool

    def record(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return {"large_enough": self.large_enough, "too_small": self.too_small, "unknown": self.unknown}

    def words(self) -> str:
        """Return them in words."""
        ruled = "ruled out" if self.hard else "advised against"
        parts = [(self.large_enough, "large enough"), (self.too_small, f"too small and {ruled}")]
        parts.append((self.unknown, "of unknown memory and eligible (caveat: the pod may not fit there)"))
        return "GPU nodes: " + ", ".join(f"{count} {what}" for count, what in parts if count)


def gpu_node_sizes(nodes: Iterable[RawObject], cards: Cards) -> list[int | None]:
    """Return the memory of a card of each GPU node in MiB, None where unknown; other nodes are left out."""
    sizes = ((node, node_gpu_memory_mib(node, cards)) for node in nodes)
    return [size for node, size in sizes if size is not None or _has_gpu(node)]


def _has_gpu(node: RawObject) -> bool:
    return any(is_gpu_resource(name) for name in mapping(at(node, "status", "allocatable")))


def rooms_for(prediction: Prediction, sizes: Sequence[int | None]) -> Rooms | None:
    """Return how the GPU nodes stand to a prediction; None where nothing is predicted or there are no GPU nodes.

    An engine that takes a fraction of its card is judged by what it needs, not by what it takes.
    """
    need = prediction.needed_mib or prediction.vram_mib
    if need is None or not sizes:
        return None
    known = [size for size in sizes if size is not None]
    small = sum(size < need for size in known)
    return Rooms(len(known) - small, small, len(sizes) - len(known), prediction.hard)
