"""Owner chains: from a pod's direct controller to the top one, the object a person would edit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.pod import WorkloadRef
from ksolver_cli.normalise.fields import Field, raw_key

_LONGEST_CHAIN = 10
_HASH_LABELS = (
    ("pod-template-hash", "Deployment", "apps/v1"),
    ("rollouts-pod-template-hash", "Rollout", "argoproj.io/v1alpha1"),
)
"""Labels by which a ReplicaSet's parent can be told from its name alone: the name is the parent's and this hash."""


def controller_of(metadata: Field, namespace: str) -> WorkloadRef | None:
    """The owner reference that is marked as controller; None when there is none. A node as owner has no namespace."""
    for owner in metadata["ownerReferences"].items():
        if owner["controller"].flag():
            kind = owner["kind"].text()
            return WorkloadRef(
                kind=kind,
                namespace="" if kind == "Node" else namespace,
                name=owner["name"].text(),
                api_version=owner["apiVersion"].text(),
                uid=owner["uid"].text(),
            )
    return None


@dataclass
class Owners:
    """Finds the top controller of a chain; equal references share one object."""

    parents: Mapping[WorkloadRef, WorkloadRef | None] = field(default_factory=dict)
    """Owner of each known controller object, by its reference without uid and version (see `identity`)."""
    _controllers: dict[tuple[str, bytes], WorkloadRef | None] = field(default_factory=dict)
    _tops: dict[tuple[WorkloadRef, str], WorkloadRef] = field(default_factory=dict)

    def controller(self, metadata: Field, namespace: str) -> WorkloadRef | None:
        """The direct controller of an object, as one object for all that it owns."""
        owners = metadata["ownerReferences"]
        raw = None if owners.absent else raw_key(owners.value)
        if raw is None:
            return controller_of(metadata, namespace)
        key = (namespace, raw)
        if key not in self._controllers:
            self._controllers[key] = controller_of(metadata, namespace)
        return self._controllers[key]

    def top(self, controller: WorkloadRef, labels: Labels) -> WorkloadRef:
        """The top of the chain above a pod's direct controller.

        Where the ReplicaSet itself is not in the input, its parent is told from its name only if a label of the pod
        confirms the hash at the name's end; otherwise the chain ends there.
        """
        guess = _hash_of(labels) if controller.kind == "ReplicaSet" else ""
        key = (controller, guess)
        found = self._tops.get(key)
        if found is None:
            found = self._tops[key] = self._climb(controller, labels)
        return found

    def _climb(self, controller: WorkloadRef, labels: Labels) -> WorkloadRef:
        current = controller
        for _ in range(_LONGEST_CHAIN):
            parent = self.parents.get(identity(current))
            if parent is None and current is controller and identity(current) not in self.parents:
                parent = _told_from_name(current, labels)
            if parent is None:
                break
            current = parent
        return current


def identity(ref: WorkloadRef) -> WorkloadRef:
    """The reference by kind, namespace and name alone."""
    return WorkloadRef(ref.kind, ref.namespace, ref.name)


def parents_of(owned: Iterable[tuple[WorkloadRef, WorkloadRef | None]]) -> dict[WorkloadRef, WorkloadRef | None]:
    """The index that `Owners` climbs, from controller objects and their own controllers."""
    return {identity(ref): owner for ref, owner in owned}


def _hash_of(labels: Labels) -> str:
    return next((labels[label] for label, _, _ in _HASH_LABELS if label in labels), "")


def _told_from_name(controller: WorkloadRef, labels: Labels) -> WorkloadRef | None:
    if controller.kind != "ReplicaSet":
        return None
    for label, kind, api_version in _HASH_LABELS:
        suffix = f"-{labels.get(label, '')}"
        if suffix != "-" and controller.name.endswith(suffix) and controller.name != suffix:
            return WorkloadRef(kind, controller.namespace, controller.name.removesuffix(suffix), api_version)
    return None
