"""Workloads in manifests, lists and snapshots: pods, and whatever has a pod template inside.

Kinds are not listed one by one: a pod template is found by its `containers`, wherever a kind keeps it (`spec.template`,
`spec.pytorchReplicaSpecs.Worker.template`, `spec.tasks[].template`, `spec.replicatedJobs[].template.spec.template`, …).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu, gpu_count
from ksolver_cli.domain.gpu_workload.hints import Hints, sniff, sniff_line
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, at, items, mapping, mappings, text
from ksolver_cli.snapshot.kinds import by_plural
from ksolver_cli.snapshot.migrate import is_snapshot, migrate
from ksolver_cli.vram.inputs import documents
from ksolver_cli.vram.join.source import controller_of

_MAX_DEPTH = 14
_STRUCTURE = frozenset({"spec", "template", "jobTemplate", "predictor", "leaderWorkerTemplate"})
_SKIPPED = frozenset({"status", "metadata"})
_COUNTS = ("replicas", "parallelism", "size", "numNodes")
# Replicas of these serve or run alone; of every other kind they are ranks of one program.
_INDEPENDENT = frozenset(
    {"Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "InferenceService"}
)
_ENDS = frozenset({"Complete", "Succeeded", "Failed"})
_FINISHED = _ENDS | {"Completed", "Aborted", "Terminated"}
_SCALARS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("spec", "nprocPerNode"), "processes_per_node"),
    (("spec", "slotsPerWorker"), "processes_per_node"),
    (("spec", "trainer", "numProcPerNode"), "processes_per_node"),
    (("spec", "trainer", "numNodes"), "nodes"),
)


_Key = tuple[str, str, str]


@dataclass(frozen=True)
class Workload:
    """One pod, or one role of a workload: its pod object or template, and what is around it."""

    kind: str
    namespace: str
    name: str
    pod: RawObject
    role: str = ""
    replicas: int = 1
    processes: int = 1
    annotations: Mapping[str, str] = field(default_factory=dict)
    beside: Hints = field(default_factory=Hints)

    @property
    def asks_for_gpu(self) -> bool:
        """Whether any container asks for a GPU."""
        return asks_for_gpu(self.pod)

    @property
    def runs(self) -> bool:
        """Whether a cluster has this pod, rather than someone's manifest."""
        return at(self.pod, "status", "phase") is not None


@dataclass(frozen=True)
class _Found:
    role: str
    replicas: int
    pod: RawObject


def read_workloads(path: str | Path) -> tuple[list[Workload], list[RawObject]]:
    """Return the workloads of an input (see `inputs.documents`) and the nodes beside them; raises SnapshotError.

    An object whose pods are there too, and one made by another that is there, is not repeated. Finished pods and jobs
    are left out; what makes further ones answers for the next.
    """
    objects = [obj for where, document in documents(path) for obj in _objects(where, document)]
    by_key = {_key(obj): obj for obj in objects}
    answered = {key for obj in objects if _is_living_pod(obj) for key in _above(obj, by_key)}
    found: list[Workload] = []
    for obj in objects:
        told_above = obj.get("kind") != "Pod" and _owner_key(obj) in by_key
        if obj.get("kind") != "Node" and _key(obj) not in answered and not told_above and not _is_finished(obj):
            found.extend(workloads_of(obj))
    return found, [obj for obj in objects if obj.get("kind") == "Node"]


def _is_living_pod(obj: RawObject) -> bool:
    return obj.get("kind") == "Pod" and not _is_finished(obj)


def _is_finished(obj: RawObject) -> bool:
    """Tell whether a pod or job has come to its end (Job, Kubeflow; Volcano's `state.phase`; RayJob)."""
    status = mapping(obj.get("status"))
    ended = {text(condition.get("type")) for condition in mappings(status.get("conditions")) if _is_true(condition)}
    phases = (status.get("phase"), at(status, "state", "phase"), status.get("jobDeploymentStatus"))
    return bool(ended & _ENDS) or any(phase in _FINISHED for phase in phases)


def _is_true(condition: RawObject) -> bool:
    return condition.get("status") == "True"


def _above(obj: RawObject, by_key: Mapping[_Key, RawObject]) -> Iterator[_Key]:
    """The controllers of an object, and theirs, as far as they are there."""
    seen: set[_Key] = set()
    key = _owner_key(obj)
    while key is not None and key not in seen:
        seen.add(key)
        yield key
        key = _owner_key(by_key.get(key, {}))


def _objects(where: str, document: object) -> Iterator[RawObject]:
    if isinstance(document, dict) and is_snapshot(document):
        for plural, held in mapping(migrate(where, document).get("objects")).items():
            yield from _listed(held, _kind_of(plural))
    elif isinstance(document, list):
        yield from _listed(document, None)
    elif isinstance(document, dict) and isinstance(document.get("items"), list):
        stated = str(document.get("kind", ""))
        kind = stated.removesuffix("List") or None
        yield from _listed(document["items"], kind)
    elif isinstance(document, dict) and "kind" in document:
        yield document
    else:
        for plural, held in mapping(document).items():
            yield from _listed(at(held, "items") or held, _kind_of(plural))


def _kind_of(plural: str) -> str | None:
    kind = by_plural(plural)
    return kind.kind if kind is not None else None


def _listed(held: object, kind: str | None) -> Iterator[RawObject]:
    for entry in mappings(held):
        if isinstance(entry.get("items"), list):
            yield from _objects("", entry)
        elif "kind" in entry:
            yield entry
        elif kind:
            yield {**entry, "kind": kind}


def _key(obj: RawObject) -> _Key:
    return str(obj.get("kind", "")), _namespace(obj), text(at(obj, "metadata", "name")) or ""


def _owner_key(obj: RawObject) -> _Key | None:
    controller = controller_of(obj)
    return (controller[0], _namespace(obj), controller[1]) if controller is not None else None


def _namespace(obj: RawObject) -> str:
    return text(at(obj, "metadata", "namespace")) or "default"


def workloads_of(obj: RawObject) -> list[Workload]:
    """Return the roles of an object; those with a GPU where there are any, since launchers and heads use none.

    What a role without GPU says on its command line (an MPI launcher's `python train.py --batch-size 8`, a RayJob's
    entrypoint) is kept as a weaker hint for the others.
    """
    kind, namespace, name = _key(obj)
    if kind == "Pod":
        if _is_finished(obj):
            return []
        return [Workload(kind, namespace, name, obj, processes=max(1, gpu_count(obj)))]
    roles = [found for found in (*_templates(obj), *_synthesised(obj)) if found.replicas > 0]
    with_gpu = [found for found in roles if asks_for_gpu(found.pod)]
    # Without any GPU (a resource of unknown name, DRA by template) every role is answered for.
    told = with_gpu or roles
    beside = _beside(obj, roles)
    gang = kind not in _INDEPENDENT and not _independent_job(obj)
    world = sum(max(1, gpu_count(found.pod)) * found.replicas for found in told)
    return [
        Workload(
            kind=kind,
            namespace=namespace,
            name=name,
            pod=found.pod,
            role=found.role,
            replicas=found.replicas,
            processes=world if gang else max(1, gpu_count(found.pod)),
            annotations=annotations_of(obj),
            beside=beside,
        )
        for found in told
    ]


def _independent_job(obj: RawObject) -> bool:
    """A plain Job's pods work on their own; only an indexed one's know of each other."""
    plain = obj.get("kind") in {"Job", "CronJob"} and str(obj.get("apiVersion", "batch/v1")).startswith("batch/")
    spec = at(obj, "spec", "jobTemplate", "spec") or obj.get("spec")
    return plain and at(spec, "completionMode") != "Indexed"


def _beside(obj: RawObject, roles: Iterable[_Found]) -> Hints:
    numbers = {name: float(value) for path, name in _SCALARS if type(value := at(obj, *path)) is int and value > 0}
    hints = Hints(numbers)
    entrypoint = text(at(obj, "spec", "entrypoint"))
    if entrypoint is not None:
        hints = hints.over(sniff_line(entrypoint))
    for found in roles:
        if not asks_for_gpu(found.pod):
            hints = hints.over(sniff(found.pod))
    return hints


def _templates(obj: RawObject) -> list[_Found]:
    return list(_walk(obj.get("spec"), _Found("", 1, {}), 0))


def _walk(value: object, around: _Found, depth: int) -> Iterator[_Found]:
    """Yield pod templates below a value; `around` carries role, replicas so far, and the template's metadata."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for entry in mappings(value):
            name = text(entry.get("name")) or text(entry.get("groupName")) or around.role
            yield from _walk(entry, _Found(name, around.replicas, around.pod), depth + 1)
        return
    here = mapping(value)
    if items(here.get("containers")):
        yield _Found(around.role, around.replicas, {"metadata": mapping(around.pod), "spec": here})
        return
    # Nested counts multiply: a JobSet has replicas of Jobs with a parallelism each.
    replicas = around.replicas * _count(here)
    metadata = mapping(here.get("metadata")) or around.pod
    for key, child in here.items():
        if key not in _SKIPPED and isinstance(child, dict | list):
            role = around.role if key in _STRUCTURE else key
            yield from _walk(child, _Found(role, replicas, metadata), depth + 1)


def _count(here: RawObject) -> int:
    product = 1
    for name in _COUNTS:
        value = here.get(name)
        if type(value) is int and value >= 0:
            product *= value
    return product


def _synthesised(obj: RawObject) -> Iterator[_Found]:
    """Pods of kinds that describe one container without a template: TrainJob's trainer, InferenceService's model."""
    for path, resources, count in (
        (("spec", "trainer"), "resourcesPerNode", "numNodes"),
        (("spec", "predictor", "model"), "resources", "minReplicas"),
    ):
        told = mapping(at(obj, *path))
        if told and not items(told.get("containers")):
            container = {key: told[key] for key in ("image", "command", "args", "env") if key in told}
            container["resources"] = mapping(told.get(resources))
            number = told.get(count)
            replicas = number if type(number) is int and number > 0 else 1
            yield _Found(path[-1], replicas, {"metadata": {}, "spec": {"containers": [container]}})
