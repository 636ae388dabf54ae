"""Why a pod fits nowhere: the scheduler's first objection on each node, counted."""

from collections import Counter
from dataclasses import replace

from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.report.nodes import ReasonCount
from ksolver_cli.domain.verdict import Verdict


class Reasons:
    """Answers for today's cluster, once a pod class and node: pods of a class get the same answer."""

    def __init__(self, cluster: Cluster, classes: Classes) -> None:
        self._state = State(cluster)
        self._classes = classes
        self._known: dict[tuple[int, str], tuple[ReasonCount, ...]] = {}

    def elsewhere(self, pod: Pod) -> tuple[ReasonCount, ...]:
        """Objections on all nodes but its own, as if the pod had just been evicted; nodes that would take it are not
        counted, so that an empty answer means that it fits everywhere. Most frequent first.
        """
        key = (self._classes.pod_class_of[pod.key], pod.node_name)
        if key not in self._known:
            self._known[key] = self._count(pod)
        return self._known[key]

    def _count(self, pod: Pod) -> tuple[ReasonCount, ...]:
        placed = self._state.node_of(pod)
        if placed is not None:
            self._state.remove(pod)
        judge = prepare(as_new(pod) if pod.is_bound else pod, self._state)
        firsts = Counter(_of_any_node(judge.first(name)) for name in self._state.nodes if name != placed)
        if placed is not None:
            self._state.add(pod, placed)
        counts = [ReasonCount(verdict, nodes) for verdict, nodes in firsts.items() if verdict is not None]
        return tuple(sorted(counts, key=lambda c: (-c.nodes, c.verdict.family, str(c.verdict))))


def _of_any_node(verdict: Verdict | None) -> Verdict | None:
    """The verdict without the node it is about, so that equal objections of many nodes are one."""
    about_node = verdict is not None and verdict.source is not None and verdict.source.kind == "Node"
    return replace(verdict, source=None) if verdict is not None and about_node else verdict
