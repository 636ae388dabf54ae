"""Pod objects: metadata, status and the shared spec."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ksolver_cli.domain.pod import Phase, Pod, Resources
from ksolver_cli.normalise.fields import Field, condition_status, raw_key
from ksolver_cli.normalise.pods import requests, resize
from ksolver_cli.normalise.pods.owners import Owners
from ksolver_cli.normalise.pods.spec import SpecOf, Specs

MIRROR = "kubernetes.io/config.mirror"
_PHASES = frozenset(Phase)


@dataclass
class PodReader:
    """Reads pods; specs, owners and resize states that were seen before are shared."""

    specs: Specs = field(default_factory=Specs)
    owners: Owners = field(default_factory=Owners)
    version: tuple[int, int] = (1, 36)
    """Kubernetes version by whose rule bound pods are counted."""
    _held: dict[tuple[int, bytes], Resources | None] = field(default_factory=dict)

    def read(self, raw: Field) -> Pod:
        """A pod. Raises FieldError when anything that placement looks at cannot be read."""
        metadata, spec, status = raw["metadata"], raw["spec"], raw["status"]
        name, namespace = metadata["name"].some_text(), metadata["namespace"].text() or "default"
        if spec.absent:
            raise spec.bad("a pod spec")
        read = self.specs.read(spec, namespace, name)
        labels, annotations = metadata["labels"].text_map(), metadata["annotations"].text_map()
        controller = self.owners.controller(metadata, namespace)
        node_name = spec["nodeName"].text()
        phase = _phase(status, node_name)
        return Pod(
            namespace=namespace,
            name=name,
            spec=read.spec,
            uid=metadata["uid"].text(),
            labels=labels,
            annotations=annotations,
            node_name=node_name,
            nominated_node=status["nominatedNodeName"].text(),
            phase=phase,
            deleting=not metadata["deletionTimestamp"].absent,
            controller=controller,
            workload=None if controller is None else self.owners.top(controller, labels),
            is_static=MIRROR in annotations or (controller is not None and controller.kind == "Node"),
            requests_bound=self._bound(read, status) if node_name else None,
            ready=_ready(status, phase),
            created=metadata["creationTimestamp"].text(),
            claim_names=claim_names(status),
        )

    def _bound(self, read: SpecOf, status: Field) -> Resources | None:
        """What the pod counts for on its node, None when that is what it asks for."""
        reports = _reports(status.mapping())
        if not reports:
            return None
        raw = raw_key(reports)
        if raw is None:
            return self._compute_bound(read, status)
        key = (id(read.resources), raw)
        if key not in self._held:
            self._held[key] = self._compute_bound(read, status)
        return self._held[key]

    def _compute_bound(self, read: SpecOf, status: Field) -> Resources | None:
        held = resize.held_requests(read.resources, resize.read_reports(status), self.version)
        amounts = requests.bounded(held)
        return None if amounts == read.spec.requests else amounts


def claim_names(status: Field) -> tuple[tuple[str, str | None], ...]:
    """`status.resourceClaimStatuses`: the ResourceClaim made for each claim that the pod takes from a template."""
    made = status["resourceClaimStatuses"].items()
    return tuple((entry["name"].text(), entry["resourceClaimName"].text() or None) for entry in made)


def _reports(status: Mapping[str, object]) -> list[object]:
    """The raw parts of a status that a resize may change."""
    parts: list[object] = [
        [c.get("name"), c.get("resources"), c.get("allocatedResources")] if isinstance(c, dict) else [c]
        for key in ("containerStatuses", "initContainerStatuses")
        if isinstance(statuses := status.get(key), list)
        for c in statuses
        if not isinstance(c, dict) or c.get("resources") is not None or c.get("allocatedResources") is not None
    ]
    if status.get("resources") is not None or status.get("allocatedResources") is not None:
        parts.append([status.get("resources"), status.get("allocatedResources")])
    if parts and (conditions := status.get("conditions")) is not None:
        parts.append([c for c in conditions if _about_resize(c)] if isinstance(conditions, list) else conditions)
    return parts


def _about_resize(condition: object) -> bool:
    return not isinstance(condition, dict) or condition.get("type") == "PodResizePending"


def _phase(status: Field, node_name: str) -> Phase:
    """The phase as served, Unknown for one that the API does not have.

    Without one a pod counts as running where it has a node, and as pending where not.
    """
    served = status["phase"].text()
    if not served:
        return Phase.RUNNING if node_name else Phase.PENDING
    return Phase(served) if served in _PHASES else Phase.UNKNOWN


def _ready(status: Field, phase: Phase) -> bool:
    """The Ready condition; without one a pod counts as ready while it runs."""
    served = condition_status(status, "Ready")
    return phase is Phase.RUNNING if served is None else served == "True"
