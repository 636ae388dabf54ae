"""To which workload a pod belongs: by the objects that are there, and by kube-state-metrics for pods that are gone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.collect.prometheus_answer import Answer, Series

Ref = tuple[str, str]
"""Kind and name of an owner."""

_NONE = frozenset({"", "<none>"})


@dataclass
class Owners:
    """Pods and controllers with what owns them, keyed by namespace and name."""

    pods: dict[tuple[str, str], Ref] = field(default_factory=dict)
    controllers: dict[tuple[str, str, str], Ref] = field(default_factory=dict)

    def workload(self, namespace: str, pod: str) -> Ref | None:
        """Return the top controller of a pod (a Deployment, not its ReplicaSet), the pod itself for one without a
        controller or a node's own, and None for a pod that nobody knows.
        """
        owner = self.pods.get((namespace, pod))
        if owner is None:
            return None
        if owner[0] == "Node":
            return "Pod", pod
        for _ in range(4):
            above = self.controllers.get((namespace, *owner))
            if above is None:
                break
            owner = above
        return owner

    def take_objects(self, plural_kind: str, objects: Iterable[Mapping[str, object]]) -> None:
        """Take in objects of a snapshot: pods, and controllers of pods."""
        for entry in objects:
            metadata = entry.get("metadata")
            if not isinstance(metadata, Mapping):
                continue
            namespace, name = str(metadata.get("namespace") or ""), str(metadata.get("name") or "")
            owner = _controller(metadata.get("ownerReferences"))
            if plural_kind == "Pod":
                self.pods[namespace, name] = owner or ("Pod", name)
            elif owner is not None:
                self.controllers[namespace, plural_kind, name] = owner

    def take_pod_owners(self, answer: Answer) -> None:
        """Take in `kube_pod_owner`; what objects said already stays."""
        for series in answer.series:
            namespace, pod, owner = _read(series, "pod")
            if pod:
                self.pods.setdefault((namespace, pod), owner or ("Pod", pod))

    def take_controller_owners(self, kind: str, own_label: str, answer: Answer) -> None:
        """Take in `kube_replicaset_owner` or `kube_job_owner`."""
        for series in answer.series:
            namespace, name, owner = _read(series, own_label)
            if name and owner is not None:
                self.controllers.setdefault((namespace, kind, name), owner)


def _read(series: Series, own_label: str) -> tuple[str, str, Ref | None]:
    labels = series.labels
    kind, name = labels.get("owner_kind", ""), labels.get("owner_name", "")
    owner = None if kind in _NONE or name in _NONE else (kind, name)
    return labels.get("namespace", ""), labels.get(own_label, ""), owner


def _controller(references: object) -> Ref | None:
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, Mapping) and reference.get("controller") is True:
            return str(reference.get("kind") or ""), str(reference.get("name") or "")
    return None
