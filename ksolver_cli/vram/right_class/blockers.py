"""What keeps a pod from a node with another GPU: node selector and required node affinity."""

from collections.abc import Iterable

from ksolver_cli.catalog.gpus import GKE_ACCELERATOR, PRODUCT, gpu_named
from ksolver_cli.catalog.locate import TYPE_LABELS
from ksolver_cli.catalog.tables import Catalog, InstanceShape
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, mappings, string_map, text, texts

_TERMS = ("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")


class Blockers:
    """Judges by the labels whose values tell the GPU; other labels may be put on any new node."""

    def __init__(self, catalog: Catalog, provider: str | None) -> None:
        self._catalog = catalog
        self._shapes = catalog.shapes(provider) if provider is not None else {}

    def of(self, pod: RawObject, gpu: str) -> tuple[str, ...]:
        """Return every rule of a pod that no node with GPUs of a class can satisfy."""
        selector = string_map(at(pod, "spec", "nodeSelector")).items()
        found = [f"node selector {key}={value}" for key, value in selector if not self._may_be(key, value, gpu)]
        terms = [list(self._blocking(term, gpu)) for term in mappings(at(pod, *_TERMS))]
        # Terms are alternatives: they block only where each of them does.
        if terms and all(terms):
            found.extend(dict.fromkeys(rule for term in terms for rule in term))
        return tuple(found)

    def _blocking(self, term: RawObject, gpu: str) -> Iterable[str]:
        for rule in mappings(term.get("matchExpressions")):
            key, operator = text(rule.get("key")) or "", text(rule.get("operator")) or ""
            values = texts(rule.get("values"))
            if operator == "In" and not any(self._may_be(key, value, gpu) for value in values):
                yield f"node affinity {key} In [{', '.join(values)}]"

    def _may_be(self, key: str, value: str, gpu: str) -> bool:
        """Whether a node of a GPU class can have a label value; values that say nothing of the GPU can be on any."""
        if key in {PRODUCT, GKE_ACCELERATOR}:
            named = gpu_named(value, self._catalog)
            return named is not None and named.name == gpu
        if key in TYPE_LABELS:
            shape: InstanceShape | None = self._shapes.get(value) or self._shapes.get(value.casefold())
            return shape is not None and shape.gpu == gpu
        return True
