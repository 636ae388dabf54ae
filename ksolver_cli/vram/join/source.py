"""Where pod specs come from: objects of a snapshot, of kubectl lists, or of the live API."""

from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Protocol

from ksolver_cli.domain.gpu_workload.raw import RawObject, at, mapping, mappings, text
from ksolver_cli.snapshot.importers import Found, import_document
from ksolver_cli.snapshot.kinds import by_plural
from ksolver_cli.snapshot.migrate import is_snapshot, migrate, own_objects
from ksolver_cli.vram.inputs import documents

OwnerKey = tuple[str, str, str]
"""Kind, namespace, name."""

_FROZEN_TEMPLATES = frozenset({"ReplicaSet", "Job"})
_PLURALS = ("replicasets", "jobs", "statefulsets", "daemonsets", "deployments", "cronjobs", "replicationcontrollers")


class PodSpecSource(Protocol):
    """Whoever knows raw pods, what made them and where they run."""

    @property
    def redacted(self) -> bool:
        """Whether command lines are gone without a note of them, except those of pods that ask for a GPU."""
        ...

    def pod(self, namespace: str, name: str) -> RawObject | None:
        """Return the pod now of that name."""
        ...

    def template(self, kind: str, namespace: str, name: str) -> RawObject | None:
        """Return what an owner makes its pods from, when it cannot have changed since; see `frozen`."""
        ...

    def owner(self, kind: str, namespace: str, name: str) -> OwnerKey | None:
        """Return the controller of a controller."""
        ...

    def node(self, name: str) -> RawObject | None:
        """Return a node."""
        ...


def frozen(kind: str) -> bool:
    """Tell whether the pods of a kind of owner all come from the same template.

    The API refuses changes to a Job's pod template; a Deployment's change makes a new ReplicaSet. A StatefulSet or
    DaemonSet may have been changed since a pod of it ended.
    """
    return kind in _FROZEN_TEMPLATES


def controller_of(obj: RawObject) -> tuple[str, str] | None:
    """Return (kind, name) of the controller among an object's owner references."""
    for reference in mappings(at(obj, "metadata", "ownerReferences")):
        kind, name = text(reference.get("kind")), text(reference.get("name"))
        if reference.get("controller") is True and kind and name:
            return kind, name
    return None


class ObjectSource:
    """A source over objects held in memory, by plural kind."""

    def __init__(self, objects: Mapping[str, Iterable[RawObject]], *, redacted: bool = False) -> None:
        self._redacted = redacted
        self._pods = {_place(pod): pod for pod in objects.get("pods", ())}
        self._nodes = {name: node for node in objects.get("nodes", ()) if (name := text(at(node, "metadata", "name")))}
        self._owners: dict[OwnerKey, RawObject] = {}
        for plural in _PLURALS:
            kind = by_plural(plural)
            self._owners |= {(kind.kind, *_place(obj)): obj for obj in objects.get(plural, ()) if kind is not None}
        self._siblings: dict[OwnerKey, RawObject] = {}
        for (namespace, _), pod in self._pods.items():
            controller = controller_of(pod)
            if controller is not None:
                self._siblings.setdefault((controller[0], namespace, controller[1]), pod)

    @property
    def redacted(self) -> bool:
        """Whether the objects are those of a snapshot of ours."""
        return self._redacted

    def pod(self, namespace: str, name: str) -> RawObject | None:
        """Return the pod now of that name."""
        return self._pods.get((namespace, name))

    def template(self, kind: str, namespace: str, name: str) -> RawObject | None:
        """Return the template of a ReplicaSet or Job, or another pod of it, which came from the same template."""
        if not frozen(kind):
            return None
        template = mapping(at(self._owners.get((kind, namespace, name)), "spec", "template"))
        return template or self._siblings.get((kind, namespace, name))

    def owner(self, kind: str, namespace: str, name: str) -> OwnerKey | None:
        """Return the controller of a controller."""
        controller = controller_of(self._owners.get((kind, namespace, name), {}))
        return (controller[0], namespace, controller[1]) if controller is not None else None

    def node(self, name: str) -> RawObject | None:
        """Return a node."""
        return self._nodes.get(name)

    def __len__(self) -> int:
        return len(self._pods)


def _place(obj: RawObject) -> tuple[str, str]:
    return text(at(obj, "metadata", "namespace")) or "default", text(at(obj, "metadata", "name")) or ""


def read_objects(path: str | Path) -> dict[str, list[RawObject]]:
    """Return the objects of an input (snapshot, kubectl lists; see `inputs.documents`) by plural.

    As written, not redacted: what is read here stays in memory. Raises SnapshotError.
    """
    return _by_plural(documents(path))


def read_source(path: str | Path) -> ObjectSource:
    """Return a source over the objects of an input; see `read_objects`."""
    given = list(documents(path))
    redacted = any(isinstance(document, dict) and is_snapshot(document) for _, document in given)
    return ObjectSource(_by_plural(given), redacted=redacted)


def _by_plural(given: Iterable[tuple[str, object]]) -> dict[str, list[RawObject]]:
    found: dict[str, list[RawObject]] = {}
    for entry in chain.from_iterable(_objects(where, document) for where, document in given):
        if isinstance(entry, tuple) and entry[1] is not None:
            found.setdefault(entry[0].plural, []).append(entry[1])
    return found


def _objects(where: str, document: object) -> Iterable[Found]:
    if isinstance(document, dict) and is_snapshot(document):
        return own_objects(where, migrate(where, document))
    return import_document(where, document, None)
