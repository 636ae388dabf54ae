"""What keeps a pod from a node with another GPU: node selector and required node affinity."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ksolver_cli.catalog.gpus import GKE_ACCELERATOR, PRODUCT, gpu_named, gpu_product
from ksolver_cli.catalog.locate import TYPE_LABELS
from ksolver_cli.catalog.tables import Catalog, Gpu
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, labels_of, mappings, string_map, text, texts

_TERMS = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_HOSTNAME = "kubernetes.io/hostname"
_MEMORY = "nvidia.com/gpu.memory"
# Any node of the same kind has these, whatever its card.
_OF_ANY_NODE = (
    "topology.",
    "failure-domain.",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
    "nvidia.com/gpu.present",
    "nvidia.com/gpu.deploy",
    "nvidia.com/cuda",
    "feature.node.kubernetes.io/",
)


@dataclass(frozen=True)
class _Rule:
    """One requirement on a node's labels, as node affinity writes it, and how it is told."""

    key: str
    operator: str
    values: tuple[str, ...]
    words: str

    def admits(self, labels: dict[str, str]) -> bool:
        """Whether labels satisfy it (In and Exists; others are judged by the card alone)."""
        value = labels.get(self.key)
        return value is not None and (self.operator == "Exists" or value in self.values)


class Blockers:
    """Judges by labels whose values tell the card, and by where the nodes of the cluster carry all others."""

    def __init__(self, catalog: Catalog, provider: str | None, nodes: Sequence[RawObject] = ()) -> None:
        self._catalog = catalog
        self._shapes = catalog.shapes(provider) if provider is not None else {}
        self._nodes = [(labels_of(node), self._named(gpu_product(labels_of(node)) or "")) for node in nodes]

    def of(self, pod: RawObject, gpu: str) -> tuple[str, ...]:
        """Return every rule of a pod that no node with GPUs of a class can satisfy, or none here does."""
        found = list(self._told(_selector(pod), gpu))
        terms = [list(self._told(_affinity(term), gpu)) for term in mappings(at(pod, *_TERMS))]
        # Terms are alternatives: they block only where each of them does.
        if terms and all(terms):
            found.extend(rule for term in terms for rule in term)
        return tuple(dict.fromkeys(found))

    def _told(self, rules: Iterable[_Rule], gpu: str) -> Iterator[str]:
        for rule in rules:
            if not self._may_be(rule, self._catalog.gpus[gpu]):
                yield rule.words
            elif others := self._only_on_others(rule, gpu):
                yield f"{rule.words} (here only on nodes with {', '.join(others)})"

    def _may_be(self, rule: _Rule, gpu: Gpu) -> bool:
        """Whether a node with cards of a class can satisfy a rule, as far as the rule speaks of cards."""
        if rule.key in {PRODUCT, GKE_ACCELERATOR}:
            named = gpu.name in {self._named(value) for value in rule.values}
            return {"In": named, "NotIn": not named}.get(rule.operator, rule.operator != "DoesNotExist")
        if rule.key in TYPE_LABELS and rule.operator == "In":
            return gpu.name in {self._card_of(value) for value in rule.values}
        if rule.key == _MEMORY:
            return _has_memory(rule, gpu)
        # A name is one node's alone, and that node has its card.
        return rule.key != _HOSTNAME or rule.operator != "In"

    def _only_on_others(self, rule: _Rule, gpu: str) -> list[str]:
        """The cards of the nodes that satisfy a rule, where those are all of other classes."""
        if rule.operator not in {"In", "Exists"} or rule.key in {PRODUCT, GKE_ACCELERATOR, _MEMORY, *TYPE_LABELS}:
            return []
        if rule.key.startswith(_OF_ANY_NODE):
            return []
        cards = [card for labels, card in self._nodes if rule.admits(labels)]
        return sorted({card for card in cards if card}) if None not in cards and gpu not in cards else []

    def _named(self, product: str) -> str | None:
        found = gpu_named(product, self._catalog)
        return found.name if found is not None else None

    def _card_of(self, instance_type: str) -> str | None:
        shape = self._shapes.get(instance_type) or self._shapes.get(instance_type.casefold())
        return shape.gpu if shape is not None else None


def _selector(pod: RawObject) -> Iterator[_Rule]:
    for key, value in string_map(at(pod, "spec", "nodeSelector")).items():
        yield _Rule(key, "In", (value,), f"node selector {key}={value}")


def _affinity(term: RawObject) -> Iterator[_Rule]:
    for field in ("matchExpressions", "matchFields"):
        for rule in mappings(term.get(field)):
            key, operator = text(rule.get("key")) or "", text(rule.get("operator")) or ""
            values = tuple(texts(rule.get("values")))
            listed = f" [{', '.join(values)}]" if values else ""
            # The one field there is, metadata.name, is a host's name by another name.
            label = _HOSTNAME if field == "matchFields" else key
            yield _Rule(label, operator, values, f"node affinity {key} {operator}{listed}")


def _has_memory(rule: _Rule, gpu: Gpu) -> bool:
    """`nvidia.com/gpu.memory` is in MiB; nodes report somewhat less than is sold."""
    bounds = [int(value) for value in rule.values if value.isdecimal()]
    if rule.operator == "Gt":
        return all(gpu.memory_mib > bound for bound in bounds)
    if rule.operator == "Lt":
        return all(gpu.memory_low_mib < bound for bound in bounds)
    if rule.operator == "In":
        return any(gpu.memory_low_mib <= bound <= gpu.memory_mib for bound in bounds)
    return True
