"""Why a pod does or does not fit each node: every family's verdict, the scheduler's first objection first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ksolver_cli.constraints.core.scheduling_gates import gated
from ksolver_cli.constraints.registry import Judge, is_pre_filter, prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Family, Rejection, Unknown, Verdict
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.normalise.pods.manifest import normalise_pod
from ksolver_cli.snapshot.model import Snapshot

Raw = Mapping[str, object]

_MANIFEST_KINDS = {
    "pods": "Pod",
    "deployments": "Deployment",
    "statefulsets": "StatefulSet",
    "daemonsets": "DaemonSet",
    "replicasets": "ReplicaSet",
    "replicationcontrollers": "ReplicationController",
    "jobs": "Job",
    "cronjobs": "CronJob",
}


class Answer(StrEnum):
    """What the Filter phase says of one node."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    UNKNOWN = "unknown"


class Stage(StrEnum):
    """Where the scheduler meets an objection: before it looks at nodes, when it narrows them by name, or per node."""

    PRE_FILTER = "PreFilter"
    PRE_FILTER_RESULT = "PreFilterResult"
    FILTER = "Filter"


@dataclass(frozen=True, slots=True)
class Objection:
    """A verdict and where the scheduler meets it."""

    stage: Stage
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class NodeAnswer:
    """One node: the answer, and every family that objects or is unsure, in the scheduler's order."""

    node: str
    answer: Answer
    objections: tuple[Objection, ...]


@dataclass(frozen=True, slots=True)
class Why:
    """The verdicts on one pod. `evicted_from` is the node it was taken off to judge it, empty when it is new."""

    pod: str
    kubernetes_version: str
    evicted_from: str
    gated: Rejection | None
    scheduler: str
    nodes: tuple[NodeAnswer, ...]

    def count(self, answer: Answer) -> int:
        """How many nodes have this answer."""
        return sum(node.answer is answer for node in self.nodes)


class PodNotFoundError(LookupError):
    """The pod asked for is not in the input. `near` are pods that could be meant, `fault` why it could not be read."""

    def __init__(self, name: str, near: tuple[str, ...] = (), fault: str = "") -> None:
        super().__init__(name)
        self.name = name
        self.near = near
        self.fault = fault


def why(cluster: Cluster, pod: Pod, *, keeps_node: bool = False) -> Why:
    """Judge one pod against every node.

    A pod that is bound is judged as if it had just been evicted and made anew; with `keeps_node` its node name is what
    it asks for, and NodeName holds it to that.
    """
    state = State(cluster)
    placed = state.node_of(pod)
    if placed is not None:
        state.remove(pod)
    evicted = bool(pod.node_name) and not keeps_node
    judge = prepare(as_new(pod) if evicted else pod, state)
    blind = not cluster.knows("pods")
    return Why(
        pod=pod.key,
        kubernetes_version=".".join(map(str, cluster.kubernetes_version)),
        evicted_from=pod.node_name if evicted else "",
        gated=gated(pod),
        scheduler=pod.spec.scheduler_name,
        nodes=tuple(_answer(judge, node.name, blind) for node in cluster.nodes),
    )


def why_in_snapshot(snapshot: Snapshot, name: str, *, complete: bool = False, version: str | None = None) -> Why:
    """Judge a pod of a snapshot by `namespace/name`, or by a name that only one pod has; raises PodNotFoundError."""
    cluster = normalise(snapshot, complete=complete, kubernetes_version=version)
    pod = find_pod(cluster, name)
    raws = (raw for raw in snapshot.objects.get("pods", ()) if isinstance(raw, Mapping))
    return why(cluster, pod, keeps_node=any(_key(raw) == pod.key and asks_for_node(raw) for raw in raws))


def why_manifest(
    snapshot: Snapshot, manifest: Raw, *, namespace: str = "", complete: bool = False, version: str | None = None
) -> Why:
    """Judge a pod that is not there yet, from the manifest of a pod or of a controller; it keeps its nodeName.

    Where the snapshot has a pod of its name already, it takes that pod's place. Raises FieldError for a manifest that
    the API server would refuse.
    """
    metadata = manifest.get("metadata")
    if namespace and isinstance(metadata, Mapping) and not metadata.get("namespace"):
        manifest = {**manifest, "metadata": {**metadata, "namespace": namespace}}
    pod = normalise_pod(manifest, snapshot.objects)
    return why(normalise(snapshot, complete=complete, kubernetes_version=version), pod, keeps_node=True)


def manifests_in(snapshot: Snapshot) -> tuple[Raw, ...]:
    """The pods and controllers with a pod template among the objects read from a manifest file."""
    return tuple(
        {"kind": kind, **raw} for plural, kind in _MANIFEST_KINDS.items() for raw in snapshot.objects.get(plural, ())
    )


def find_pod(cluster: Cluster, name: str) -> Pod:
    """The pod of this `namespace/name`; a bare name will do where only one pod has it. Raises PodNotFoundError."""
    found = [pod for pod in cluster.pods if name in (pod.key, pod.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise PodNotFoundError(name, tuple(pod.key for pod in found))
    faults = (caveat.detail for caveat in cluster.caveats if name in caveat.objects)
    last = name.rpartition("/")[2]
    near = tuple(pod.key for pod in cluster.pods if last and last in pod.name)
    raise PodNotFoundError(name, near, next(faults, ""))


def asks_for_node(raw: Raw) -> bool:
    """Whether a pod's nodeName is only a wish: it is pending, and no scheduler or kubelet has taken it up."""
    status = raw.get("status")
    if not isinstance(status, Mapping) or status.get("phase") != "Pending" or status.get("startTime"):
        return False
    conditions = status.get("conditions")
    if not isinstance(conditions, (list, tuple)):
        return True
    return not any(
        isinstance(condition, Mapping) and condition.get("type") == "PodScheduled" and condition.get("status") == "True"
        for condition in conditions
    )


def _key(raw: Raw) -> str:
    metadata = raw.get("metadata")
    if not isinstance(metadata, Mapping):
        return ""
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"


def _answer(judge: Judge, node_name: str, blind: bool) -> NodeAnswer:
    found = judge.objections(node_name)
    if blind and not found:
        found = (Unknown(Family.NODE_RESOURCES_FIT, "pods"),)
    objections = tuple(Objection(_stage(verdict, judge.everywhere), verdict) for verdict in found)
    return NodeAnswer(node_name, _word(found), objections)


def _stage(verdict: Verdict, everywhere: Iterable[Verdict]) -> Stage:
    if verdict in everywhere:
        return Stage.PRE_FILTER
    return Stage.PRE_FILTER_RESULT if is_pre_filter(verdict) else Stage.FILTER


def _word(found: tuple[Verdict, ...]) -> Answer:
    if not found:
        return Answer.PASS
    return Answer.FAIL if any(isinstance(verdict, Rejection) for verdict in found) else Answer.UNKNOWN
