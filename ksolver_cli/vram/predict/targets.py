"""From workloads to questions: which card each will get, as far as its node, its selector or the cluster tells."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ksolver_cli.domain.gpu_workload.containers import containers_of, gpu_resources
from ksolver_cli.domain.gpu_workload.hints import Hints
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, labels_of, string_map, text
from ksolver_cli.vram.cards import Cards, node_gpu_memory_mib
from ksolver_cli.vram.manifests import Workload
from ksolver_cli.vram.memory.estimate import Setting
from ksolver_cli.vram.predict.tiers import Asked

_MIG = "nvidia.com/mig-"


@dataclass(frozen=True)
class Targets:
    """What is known about where pods may go: the nodes of the input, the card a person named, the catalog."""

    cards: Cards
    nodes: Sequence[RawObject] = ()
    card_mib: int | None = None
    typed: Hints = field(default_factory=Hints)

    def asked(self, workload: Workload) -> Asked:
        """Return the question about a workload."""
        setting = Setting(workload.kind, workload.processes, self.card_of(workload.pod))
        return Asked(workload.pod, setting, workload.annotations, workload.beside, self.typed)

    def card_of(self, pod: RawObject) -> int | None:
        """Return the memory of the card a pod has or will get, in MiB; None where it may get several kinds or MIG.

        In order: its node, the product its node selector names, what a person said, the one size that all GPU nodes
        which its selector admits have.
        """
        if asks_for_mig(pod):
            return None
        bound = text(at(pod, "spec", "nodeName"))
        node = self._by_name.get(bound) if bound is not None else None
        if node is not None:
            return node_gpu_memory_mib(node, self.cards)
        selector = string_map(at(pod, "spec", "nodeSelector"))
        selected = node_gpu_memory_mib({"metadata": {"labels": selector}}, self.cards)
        return selected or self.card_mib or self._only_size(selector)

    @cached_property
    def _by_name(self) -> dict[str, RawObject]:
        return {name: node for node in self.nodes if (name := text(at(node, "metadata", "name")))}

    @cached_property
    def _sized(self) -> list[tuple[dict[str, str], int]]:
        sizes = ((labels_of(node), node_gpu_memory_mib(node, self.cards)) for node in self.nodes)
        return [(labels, size) for labels, size in sizes if size is not None]

    def _only_size(self, selector: dict[str, str]) -> int | None:
        sizes = {size for labels, size in self._sized if selector.items() <= labels.items()}
        return sizes.pop() if len(sizes) == 1 else None


def asks_for_mig(pod: RawObject) -> bool:
    """Tell whether a pod asks for MIG instances."""
    return any(name.startswith(_MIG) for container in containers_of(pod) for name in gpu_resources(container))


def worth_predicting(workloads: Iterable[Workload], knows: Iterable[bool], *, cluster: bool) -> list[Workload]:
    """Return the workloads to answer for: of a cluster those with GPUs (or known to the store), of manifests all."""
    return [w for w, known in zip(workloads, knows, strict=True) if not cluster or known or w.asks_for_gpu]
