"""Redaction as data flows in: what analysis needs is kept by allow-list, everything else never enters a snapshot.

Never kept: secrets, configmaps, env and its values, commands and arguments, probes, lifecycle hooks, managedFields,
messages, annotations outside the list, and what volumes name besides claims and disks. What a GPU pod's command line
and environment say about its memory is taken down as numbers and a hash before they go (see `domain/gpu_workload`).
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ksolver_cli.domain.gpu_workload.kept import kept_facts
from ksolver_cli.snapshot.shape.pods import POD_SPEC
from ksolver_cli.snapshot.shape.table import OBJECTS

RawMap = Mapping[str, Any]

_TEMPLATES: dict[str, tuple[tuple[str, ...], ...]] = {
    "pods": ((),),
    "cronjobs": (("spec", "jobTemplate", "spec", "template"),),
    **dict.fromkeys(
        ("deployments", "replicasets", "statefulsets", "daemonsets", "jobs", "replicationcontrollers"),
        (("spec", "template"),),
    ),
}
"""Where a kind has pods or what pods are made from."""


def pod_spec(raw: Any) -> Any:
    """A pod spec without env, commands, probes and the like."""
    return POD_SPEC.keep(raw)


def prune(plural: str, raw: RawMap) -> dict[str, Any]:
    """The part of an object that a snapshot keeps, in new containers; raises KeyError for a kind that is never kept."""
    kept: dict[str, Any] = OBJECTS[plural].keep(raw)
    for path in _TEMPLATES.get(plural, ()):
        _note_facts(_at(raw, path), _at(kept, path))
    metadata = kept.get("metadata")
    if isinstance(metadata, dict) and not metadata.get("annotations", True):
        del metadata["annotations"]
    return kept


def _at(value: Any, path: Iterable[str]) -> Any:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _note_facts(raw: Any, kept: Any) -> None:
    """Put what the command line says of GPU memory into annotations; facts that an earlier redaction noted stay."""
    if not isinstance(raw, dict) or not isinstance(kept, dict) or not isinstance(kept.get("metadata", {}), dict):
        return
    facts = kept_facts(raw)
    if facts:
        metadata = kept.setdefault("metadata", {})
        metadata["annotations"] = {**facts, **(metadata.get("annotations") or {})}
