"""The join: each pod's use of devices with the spec that explains it, or the reason why there is none."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu, gpu_container
from ksolver_cli.domain.gpu_workload.ended import out_of_memory
from ksolver_cli.domain.gpu_workload.raw import RawObject, at, labels_of, text
from ksolver_cli.vram.dcgm.devices import PodUse
from ksolver_cli.vram.join.metadata import PodName, Remembered
from ksolver_cli.vram.join.source import PodSpecSource, controller_of, frozen

_HASH_LABEL = "pod-template-hash"
_EXPORTER_IMAGE = "dcgm-exporter"
_UNIQUE_NAMES = frozenset({"ReplicaSet", "Job"})


@dataclass(frozen=True)
class Joined:
    """A pod's use and the object it is explained by: the pod itself, or the template of its owner."""

    use: PodUse
    spec: RawObject
    uid: str | None
    workload: str
    oom: bool | None
    node: str | None
    created: float | None
    unique_name: bool


@dataclass(frozen=True)
class Unmatched:
    """A pod with a measured peak and without a spec."""

    pod: str
    reason: str


def needing_memory(uses: Iterable[PodUse], source: PodSpecSource) -> list[PodName]:
    """Return the pods that the source does not hold as measured, so that Prometheus' own memory of them is needed."""
    return [
        (use.owner.namespace, use.owner.pod)
        for use in uses
        if not _same_pod(use, source.pod(use.owner.namespace, use.owner.pod))
    ]


def join(
    uses: Iterable[PodUse], source: PodSpecSource, remembered: Mapping[PodName, Remembered]
) -> Iterator[Joined | Unmatched]:
    """Yield each use with its spec; never a guess: no spec, no row."""
    for use in uses:
        pod = source.pod(use.owner.namespace, use.owner.pod)
        if pod is not None and _same_pod(use, pod):
            yield _living(use, pod, source)
        else:
            memory = remembered.get((use.owner.namespace, use.owner.pod))
            yield _gone(use, source, memory, renamed=pod is not None)


def _same_pod(use: PodUse, pod: RawObject | None) -> bool:
    if pod is None:
        return False
    uid = text(at(pod, "metadata", "uid"))
    return use.owner.uid is None or uid is None or use.owner.uid == uid


def _living(use: PodUse, pod: RawObject, source: PodSpecSource) -> Joined | Unmatched:
    controller = controller_of(pod)
    if _is_exporter(use, pod, controller):
        return Unmatched(use.owner.name, "is the exporter itself: the card is idle")
    unique = at(pod, "metadata", "generateName") is not None or (controller or ("",))[0] in _UNIQUE_NAMES
    return Joined(
        use=use,
        spec=pod,
        uid=text(at(pod, "metadata", "uid")) or use.owner.uid,
        workload=top_owner(pod, source),
        oom=out_of_memory(pod),
        node=text(at(pod, "spec", "nodeName")) or use.device.tag.node,
        created=_moment(text(at(pod, "metadata", "creationTimestamp"))),
        unique_name=unique,
    )


def _is_exporter(use: PodUse, pod: RawObject, controller: tuple[str, str] | None) -> bool:
    if use.owner.pod_label != "pod":
        return False
    image = text(at(gpu_container(pod), "image")) or ""
    daemon = controller is not None and controller[0] == "DaemonSet"
    return _EXPORTER_IMAGE in image or (daemon and not asks_for_gpu(pod))


def _gone(use: PodUse, source: PodSpecSource, memory: Remembered | None, *, renamed: bool) -> Joined | Unmatched:
    reason = _why_not(use, memory, renamed=renamed)
    if reason is not None or memory is None or memory.owner is None:
        return Unmatched(use.owner.name, reason or "is gone, and its owner is not known")
    kind, name = memory.owner
    template = source.template(kind, use.owner.namespace, name)
    if template is None:
        why = "is gone too" if frozen(kind) else "may have changed since"
        return Unmatched(use.owner.name, f"is gone, and its owner {kind} {name} {why}")
    # A ReplicaSet of that name may have been deleted and made anew with another image.
    image = text(at(gpu_container(template), "image"))
    if memory.images and image not in memory.images:
        return Unmatched(use.owner.name, f"is gone, and its owner {kind} {name} now runs another image")
    top = source.owner(kind, use.owner.namespace, name)
    workload = f"{top[0]}/{top[2]}" if top is not None else f"{kind}/{name}"
    return Joined(use, template, memory.uid or use.owner.uid, workload, memory.oom, memory.node, None, unique_name=True)


def _why_not(use: PodUse, memory: Remembered | None, *, renamed: bool) -> str | None:
    if memory is None:
        now = "another pod has its name now" if renamed else "is not among the pods given"
        return f"{now}, and kube-state-metrics has no series of it"
    if memory.several:
        return "its name stood for several pods in the window"
    if use.owner.uid is not None and memory.uid is not None and use.owner.uid != memory.uid:
        return "kube-state-metrics knows another pod of that name"
    return None


def top_owner(pod: RawObject, source: PodSpecSource) -> str:
    """Return `Kind/name` of the topmost controller known; a bare pod is its own workload.

    Where the ReplicaSet itself is not at hand, its Deployment's name is its own without the template hash.
    """
    namespace = text(at(pod, "metadata", "namespace")) or "default"
    controller = controller_of(pod)
    if controller is None:
        return f"Pod/{text(at(pod, 'metadata', 'name')) or ''}"
    kind, name = controller
    above = source.owner(kind, namespace, name)
    if above is not None:
        # Two steps up at most: CronJob → Job → pod, Deployment → ReplicaSet → pod, and an operator's object above.
        higher = source.owner(*above)
        kind, _, name = higher or above
        return f"{kind}/{name}"
    suffix = f"-{labels_of(pod).get(_HASH_LABEL, '')}"
    if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
        return f"Deployment/{name.removesuffix(suffix)}"
    return f"{kind}/{name}"


def _moment(timestamp: str | None) -> float | None:
    if timestamp is None:
        return None
    try:
        return datetime.fromisoformat(timestamp).timestamp()
    except ValueError:
        return None
