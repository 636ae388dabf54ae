"""A snapshot: Kubernetes objects as served, pruned, with what could not be seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ksolver_cli.domain.cluster import Gap

SCHEMA = "ksolver.snapshot/1"

RawObject = Mapping[str, Any]
"""One Kubernetes object as parsed from JSON or YAML; nothing about its shape is certain."""


@dataclass(frozen=True)
class Snapshot:
    """Objects by plural lower-case kind. A kind that the input held, even with no object of it, is a key."""

    objects: Mapping[str, tuple[RawObject, ...]]
    gaps: tuple[Gap, ...] = ()
    server_version: str = ""
    cluster_name: str = ""
    collected_at: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Facts beside objects (usage history, fingerprints), each under its own key, as `collect` wrote them."""

    def count(self, kind: str) -> int:
        """How many objects of a plural kind there are; 0 when the kind is absent."""
        return len(self.objects.get(kind, ()))


class SnapshotError(Exception):
    """The input is unreadable or invalid. Two lines for people: what is wrong (and where), and what to do."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
