"""What keeps a pod from being evicted, or a node from being removed, whatever the scheduler would say.

Sources: `kubectl drain`'s own filters, the Eviction API (policy/v1), and the annotations of Karpenter and
cluster-autoscaler. DaemonSet and static pods vanish with their node and never stand in the way.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum

from ksolver_cli.constraints.budgets import Budgets
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, VolumeKind
from ksolver_cli.domain.verdict import ObjectRef

DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
DEFAULT_SCHEDULER = "default-scheduler"

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


class BlockerKind(StrEnum):
    """Things that stand in the way of a drain."""

    BARE_POD = "bare-pod"
    DO_NOT_DISRUPT = "do-not-disrupt"
    NOT_SAFE_TO_EVICT = "not-safe-to-evict"
    BUDGET = "budget"
    TWO_BUDGETS = "two-budgets"
    HOST_PATH = "host-path"
    LOCAL_VOLUME = "local-volume"
    TERMINATING = "terminating"
    FOREIGN_SCHEDULER = "foreign-scheduler"
    CONTROL_PLANE = "control-plane"
    NODE_NOT_READY = "node-not-ready"
    NODE_DELETING = "node-deleting"
    VIRTUAL_NODE = "virtual-node"
    NODE_DO_NOT_DISRUPT = "node-do-not-disrupt"
    SCALE_DOWN_DISABLED = "scale-down-disabled"
    UNREADABLE_POD = "unreadable-pod"
    UNPRICED = "unpriced"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One reason, the object a person would edit to lift it, and what of it (a value, a count, a volume)."""

    kind: BlockerKind
    source: ObjectRef
    detail: str = ""


def must_move(pod: Pod) -> bool:
    """Whether the pod has to find a new home when its node goes (bound, not a daemon, not static)."""
    return pod.is_bound and not pod.is_daemon and not pod.is_static


def eviction_blockers(cluster: Cluster) -> dict[str, tuple[Blocker, ...]]:
    """Pod key → blockers, for every bound pod that must move and has any."""
    budgets = Budgets(cluster)
    now = parse_time(cluster.collected_at)
    silent = frozenset(node.name for node in cluster.nodes if not node.ready and not node.is_virtual)
    found: dict[str, tuple[Blocker, ...]] = {}
    for pod in cluster.pods:
        if must_move(pod):
            blockers = (
                *_own(pod),
                *_where(pod, silent),
                *_disrupt(pod, now),
                *_budget(pod, budgets),
                *_volumes(pod, cluster),
            )
            if blockers:
                found[pod.key] = blockers
    return found


def node_blockers(
    cluster: Cluster, prices_micros: Mapping[str, int | None] | None = None
) -> dict[str, tuple[Blocker, ...]]:
    """Node name → blockers of the node itself; with prices, nodes without one are blocked as unpriced."""
    found: dict[str, tuple[Blocker, ...]] = {}
    for node in cluster.nodes:
        kinds = [kind for kind, holds in _NODE_RULES if holds(node)]
        if node.name in cluster.unreadable_nodes:
            kinds.append(BlockerKind.UNREADABLE_POD)
        if prices_micros is not None and prices_micros.get(node.name) is None:
            kinds.append(BlockerKind.UNPRICED)
        if kinds:
            found[node.name] = tuple(Blocker(kind, ObjectRef("Node", node.name)) for kind in kinds)
    return found


def loses_local_data(pod: Pod) -> tuple[str, ...]:
    """Names of emptyDir volumes on disk whose content an eviction deletes: a warning, no blocker.

    Memory-backed ones and those named in `safe-to-evict-local-volumes` are left out, as cluster-autoscaler does.
    """
    exempt = _exempt_volumes(pod.annotations)
    return tuple(v.name for v in pod.spec.volumes if v.kind is VolumeKind.EMPTY_DIR and v.name not in exempt)


def owner_of(pod: Pod, detail: str = "") -> ObjectRef:
    """The top controller of a pod, or the pod itself where it has none."""
    if pod.workload is None:
        return ObjectRef("Pod", pod.key, detail)
    return ObjectRef(pod.workload.kind, f"{pod.workload.namespace}/{pod.workload.name}", detail)


def _own(pod: Pod) -> Iterable[Blocker]:
    if pod.controller is None:
        yield Blocker(BlockerKind.BARE_POD, ObjectRef("Pod", pod.key))
    if pod.deleting:
        yield Blocker(BlockerKind.TERMINATING, ObjectRef("Pod", pod.key))
    if pod.spec.scheduler_name != DEFAULT_SCHEDULER:
        yield Blocker(BlockerKind.FOREIGN_SCHEDULER, owner_of(pod), pod.spec.scheduler_name)
    if pod.annotations.get(SAFE_TO_EVICT, "true") != "true":
        yield Blocker(BlockerKind.NOT_SAFE_TO_EVICT, owner_of(pod), pod.annotations[SAFE_TO_EVICT])


def _where(pod: Pod, silent: frozenset[str]) -> Iterable[Blocker]:
    """A kubelet that is away confirms no eviction: `kubectl drain` waits for the pod until it gives up."""
    if pod.node_name in silent:
        yield Blocker(BlockerKind.NODE_NOT_READY, ObjectRef("Node", pod.node_name))


def _disrupt(pod: Pod, now: datetime | None) -> Iterable[Blocker]:
    value = pod.annotations.get(DO_NOT_DISRUPT)
    if value is not None and _holds(value, pod.created, now):
        yield Blocker(BlockerKind.DO_NOT_DISRUPT, owner_of(pod), value)


def _holds(value: str, created: str, now: datetime | None) -> bool:
    """Whether do-not-disrupt still holds: `true`, or a duration since creation that is not over for certain."""
    if value == "true":
        return True
    seconds = parse_duration(value)
    if seconds is None:
        return False
    born = parse_time(created)
    return born is None or now is None or now < born + timedelta(seconds=seconds)


def _budget(pod: Pod, budgets: Budgets) -> Iterable[Blocker]:
    mine = budgets.of(pod)
    if len(mine) > 1:
        names = ", ".join(sorted(b.budget.name for b in mine))
        yield Blocker(BlockerKind.TWO_BUDGETS, ObjectRef("PodDisruptionBudget", mine[0].key), names)
    for state in mine:
        if not state.lets_go(pod):
            yield Blocker(BlockerKind.BUDGET, ObjectRef("PodDisruptionBudget", state.key), state.why)


def _volumes(pod: Pod, cluster: Cluster) -> Iterable[Blocker]:
    exempt = _exempt_volumes(pod.annotations)
    is_safe = pod.annotations.get(SAFE_TO_EVICT) == "true"
    for volume in pod.spec.volumes:
        if volume.kind is VolumeKind.HOST_PATH and not is_safe and volume.name not in exempt:
            yield Blocker(BlockerKind.HOST_PATH, owner_of(pod), volume.name)
        if volume.kind in (VolumeKind.CLAIM, VolumeKind.EPHEMERAL):
            claim = cluster.storage.claims.get(f"{pod.namespace}/{volume.source}")
            bound = cluster.storage.volumes.get(claim.volume_name) if claim is not None else None
            if bound is not None and bound.is_local:
                source = ObjectRef("PersistentVolumeClaim", f"{pod.namespace}/{volume.source}", bound.name)
                yield Blocker(BlockerKind.LOCAL_VOLUME, source, bound.name)


def _exempt_volumes(annotations: Labels) -> frozenset[str]:
    return frozenset(name.strip() for name in annotations.get(SAFE_LOCAL_VOLUMES, "").split(","))


def parse_time(text: str) -> datetime | None:
    """An RFC 3339 time as served; None where there is none or it cannot be read."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def parse_duration(text: str) -> float | None:
    """Seconds of a Go duration such as `4h` or `1h30m`; None for anything else."""
    parts = _DURATION.findall(text)
    if not parts or "".join(n + u for n, u in parts) != text:
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


_NODE_RULES: tuple[tuple[BlockerKind, Callable[[Node], bool]], ...] = (
    (BlockerKind.CONTROL_PLANE, lambda node: node.is_control_plane),
    (BlockerKind.NODE_DELETING, lambda node: node.deleting),
    (BlockerKind.VIRTUAL_NODE, lambda node: node.is_virtual),
    (BlockerKind.NODE_DO_NOT_DISRUPT, lambda node: node.annotations.get(DO_NOT_DISRUPT) == "true"),
    (BlockerKind.SCALE_DOWN_DISABLED, lambda node: node.annotations.get(SCALE_DOWN_DISABLED) == "true"),
)
