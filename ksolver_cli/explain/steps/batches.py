"""Pods that one `kubectl drain` may evict: the plan's order, cut where evicting together would not be as replayed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.plan import Eviction
from ksolver_cli.domain.pod import Pod, VolumeKind

_ON_DISK = (VolumeKind.EMPTY_DIR, VolumeKind.EMPTY_DIR_MEMORY)


@dataclass(frozen=True)
class Batch:
    """Pods of one class in the plan's order, and the nodes that they leave, each once."""

    pods: tuple[Pod, ...]
    nodes: tuple[str, ...]

    @property
    def sample(self) -> Pod:
        """Any of the pods; all have the same spec and workload."""
        return self.pods[0]

    @property
    def has_local_data(self) -> bool:
        """Whether kubectl wants to be told that emptyDir volumes may go (it asks for those in memory too)."""
        return any(map(has_local_data, self.pods))


def has_local_data(pod: Pod) -> bool:
    """Whether the pod has an emptyDir volume."""
    return any(v.kind in _ON_DISK for v in pod.spec.volumes)


def batches(evictions: Sequence[Eviction], pods: Mapping[str, Pod], classes: Classes) -> Iterator[Batch]:
    """Neighbours of one class leave together.

    `kubectl drain` takes its nodes one after the other, and evicts what it selects on a node at once. Where the class
    counts its own pods, two at once are not the same as one after the other: then a node comes once in a batch.
    """
    held: list[Eviction] = []
    for eviction in evictions:
        if held and not _joins(eviction, held, pods, classes):
            yield _batch(held, pods)
            held = []
        held.append(eviction)
    if held:
        yield _batch(held, pods)


def counts_itself(pod: Pod) -> bool:
    """Whether its hard spread or required affinity looks at pods like itself, so that one that leaves is missed."""
    looks = [c.selector for c in pod.spec.spread if c.hard]
    looks += [t.selector for t in (*pod.spec.affinity, *pod.spec.anti_affinity)]
    return any(pod_matcher(selector).matches(pod.labels) for selector in looks)


def _joins(eviction: Eviction, held: list[Eviction], pods: Mapping[str, Pod], classes: Classes) -> bool:
    if classes.pod_class_of[eviction.pod] != classes.pod_class_of[held[-1].pod]:
        return False
    return not counts_itself(pods[eviction.pod]) or all(eviction.node != other.node for other in held)


def _batch(evictions: list[Eviction], pods: Mapping[str, Pod]) -> Batch:
    return Batch(tuple(pods[e.pod] for e in evictions), tuple(dict.fromkeys(e.node for e in evictions)))
