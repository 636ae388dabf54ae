"""Pods that do not exist yet: manifests, and the pods that a DaemonSet would start."""

from collections.abc import Mapping
from dataclasses import replace

from ksolver_cli.domain.pod import Pod, PodSpec, Toleration
from ksolver_cli.normalise.fields import Field, Raw
from ksolver_cli.normalise.pods.admission import Admission, admission_of
from ksolver_cli.normalise.pods.pod import PodReader
from ksolver_cli.normalise.pods.spec import Specs

_TEMPLATES = {
    "Deployment": ("spec", "template"),
    "StatefulSet": ("spec", "template"),
    "DaemonSet": ("spec", "template"),
    "ReplicaSet": ("spec", "template"),
    "ReplicationController": ("spec", "template"),
    "Job": ("spec", "template"),
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    "PodTemplate": ("template",),
}

_ALWAYS_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_NETWORK_UNAVAILABLE = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def normalise_pod(
    raw: object, objects: Mapping[str, tuple[Raw, ...]] | None = None, *, specs: Specs | None = None
) -> Pod:
    """A pod from a manifest: of a Pod, or of a controller, one of whose pods it then is.

    What the API server would fill in is filled in from `objects` (a snapshot's, for LimitRanges, RuntimeClasses and
    PriorityClasses), unless the manifest has a uid: then it was served by one. Raises FieldError, which names the field
    and what was expected there.
    """
    admission = admission_of(objects or {})
    manifest = Field(raw)
    kind = manifest["kind"].text("Pod")
    pod = manifest
    for step in _TEMPLATES.get(kind, ()):
        pod = pod[step]
    metadata = manifest["metadata"]
    namespace = metadata["namespace"].text() or "default"
    labels = pod["metadata"]["labels"].text_map()
    served = bool(pod["metadata"]["uid"].text())
    spec = pod["spec"].value if served else admission.admit(pod["spec"], labels, namespace)
    name = metadata["name"].text() or metadata["generateName"].text() or "manifest"
    described = dict(pod["metadata"].mapping()) | {"name": name, "namespace": namespace}
    # A new pod is pending, whatever node it names.
    status = {"phase": "Pending", **pod["status"].mapping()}
    made = PodReader(specs or Specs(admission.priorities)).read(
        Field({"metadata": described, "spec": spec, "status": status})
    )
    return replace(made, spec=_as_daemon(made.spec)) if kind == "DaemonSet" else made


def daemon_template(template: Field, namespace: str, name: str, specs: Specs, admission: Admission) -> PodSpec | None:
    """The spec of a pod that a DaemonSet would start; None when it has no template."""
    spec = template["spec"]
    if spec.absent:
        return None
    labels = template["metadata"]["labels"].text_map()
    return _as_daemon(specs.read(Field(admission.admit(spec, labels, namespace)), namespace, name).spec)


def _as_daemon(spec: PodSpec) -> PodSpec:
    """The spec with what the DaemonSet controller tolerates for its pods (AddOrUpdateDaemonPodTolerations)."""
    tolerated = (*_ALWAYS_TOLERATED, *((_NETWORK_UNAVAILABLE,) if spec.host_network else ()))
    added = tuple(Toleration(key=key, operator="Exists", effect=effect) for key, effect in tolerated)
    return replace(spec, tolerations=tuple(dict.fromkeys((*spec.tolerations, *added))))
