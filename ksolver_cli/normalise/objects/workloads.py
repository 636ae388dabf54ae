"""Controller objects: what they want, what they select, and who owns them."""

from collections.abc import Mapping
from dataclasses import dataclass

from ksolver_cli.domain.cluster import Workload
from ksolver_cli.domain.labels import LabelSelector
from ksolver_cli.domain.pod import WorkloadRef
from ksolver_cli.normalise.fields import Field, Problems, Raw, read_each
from ksolver_cli.normalise.pods.admission import Admission, admission_of
from ksolver_cli.normalise.pods.manifest import daemon_template
from ksolver_cli.normalise.pods.owners import controller_of
from ksolver_cli.normalise.pods.spec import Specs
from ksolver_cli.normalise.selectors import read_equality_selector, read_selector


@dataclass(frozen=True, slots=True)
class _Kind:
    plural: str
    kind: str
    api_version: str
    replicas: tuple[str, ...] = ("spec", "replicas")


_KINDS = (
    _Kind("deployments", "Deployment", "apps/v1"),
    _Kind("statefulsets", "StatefulSet", "apps/v1"),
    _Kind("daemonsets", "DaemonSet", "apps/v1", ("status", "desiredNumberScheduled")),
    _Kind("replicasets", "ReplicaSet", "apps/v1"),
    _Kind("replicationcontrollers", "ReplicationController", "v1"),
    _Kind("jobs", "Job", "batch/v1", ("spec", "parallelism")),
    _Kind("cronjobs", "CronJob", "batch/v1", ()),
)


def read_workloads(objects: Mapping[str, tuple[Raw, ...]], specs: Specs, problems: Problems) -> tuple[Workload, ...]:
    """Every controller object of the kinds that Kubernetes itself has; templates are read for DaemonSets alone."""
    admission = admission_of(objects)
    found: list[Workload] = []
    for kind in _KINDS:

        def read(raw: Field, kind: _Kind = kind) -> Workload:
            return _workload(raw, kind, specs, admission)

        found.extend(read_each(kind.kind, objects.get(kind.plural, ()), problems, read))
    return tuple(found)


def _workload(raw: Field, kind: _Kind, specs: Specs, admission: Admission) -> Workload:
    metadata, spec = raw["metadata"], raw["spec"]
    namespace, name = metadata["namespace"].text() or "default", metadata["name"].some_text()
    template = spec["template"]
    is_daemon = kind.kind == "DaemonSet"
    return Workload(
        ref=WorkloadRef(kind.kind, namespace, name, raw["apiVersion"].text(kind.api_version), metadata["uid"].text()),
        replicas=_replicas(raw, kind),
        selector=_selector(spec["selector"], kind),
        owner=controller_of(metadata, namespace),
        template=daemon_template(template, namespace, name, specs, admission) if is_daemon else None,
        template_labels=template["metadata"]["labels"].text_map() if is_daemon else {},
    )


def _replicas(raw: Field, kind: _Kind) -> int | None:
    field = raw
    for step in kind.replicas:
        field = field[step]
    return None if field is raw or field.absent else field.natural()


def _selector(selector: Field, kind: _Kind) -> LabelSelector | None:
    if kind.kind == "ReplicationController":
        return read_equality_selector(selector)
    return read_selector(selector) if kind.kind != "CronJob" else None
