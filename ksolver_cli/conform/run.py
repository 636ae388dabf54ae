"""The comparison itself: choose, ask both sides, put every pair into its bucket."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ksolver_cli.collect.schedulers.exchange import Answer
from ksolver_cli.conform.choose import Choice, Chosen, choose
from ksolver_cli.conform.dedup import node_groups
from ksolver_cli.conform.divergence import (
    one_node_reasons,
    unmodelled_reasons,
    unreadable_objects,
    unshown_reasons,
    unsure_reasons,
)
from ksolver_cli.conform.facts import Asked, Comparison, Pair
from ksolver_cli.conform.ours import judge
from ksolver_cli.conform.sources import Scheduler
from ksolver_cli.conform.worlds import Worlds
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod
from ksolver_cli.normalise.cluster import DEFAULT_VERSION, normalise
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.snapshot.model import Snapshot


@dataclass(frozen=True, slots=True)
class Options:
    """What to compare, and how strictly."""

    choice: Choice = field(default_factory=Choice)
    dedup: bool = False
    strict_all: bool = False
    min_pairs: int = 1
    kubernetes_version: str | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """How the run tells its progress (pairs done, pairs planned) and learns that it should end."""

    tell: Callable[[int, int], None] = lambda done, planned: None
    stop: Callable[[], bool] = lambda: False


def judged_version(snapshot: Snapshot, scheduler_version: str, asked: str | None) -> str:
    """The Kubernetes version to judge as: the one asked for, else the scheduler's, else the snapshot's."""
    for text in (asked or "", scheduler_version, snapshot.server_version):
        version = parse_version(text)
        if version is not None:
            break
    return ".".join(map(str, version or DEFAULT_VERSION))


def compare(snapshot: Snapshot, scheduler: Scheduler, options: Options, watch: Watch | None = None) -> Comparison:
    """Compare our verdicts with the scheduler's on the chosen pods and nodes of a snapshot.

    When the watch says stop, what is known by then comes back, marked as interrupted.
    """
    version = judged_version(snapshot, scheduler.version, options.kubernetes_version)
    cluster = normalise(snapshot, kubernetes_version=version)
    run = _Run(
        scheduler, cluster, Worlds(snapshot, cluster), replace(options, kubernetes_version=version), watch or Watch()
    )
    return run.through(choose(cluster, options.choice))


@dataclass(frozen=True)
class _Run:
    scheduler: Scheduler
    cluster: Cluster
    worlds: Worlds
    options: Options
    watch: Watch

    def through(self, chosen: Chosen) -> Comparison:
        """Go through the pods, each on all nodes."""
        found = self._empty(chosen)
        planned = len(chosen.pods) * len(chosen.nodes)
        for pod in chosen.pods:
            for members in self._groups(pod, chosen.nodes):
                answer = self._answer(found, pod, members[0])
                if answer is None:
                    found.interrupted = True
                    return found
                found.add(self._pair(pod, node, answer) for node in members)
                self.watch.tell(found.pairs_total, planned)
        return found

    def _empty(self, chosen: Chosen) -> Comparison:
        return Comparison(
            asked=Asked(self.scheduler.source, self.scheduler.version, self._version),
            nodes_total=chosen.nodes_total,
            nodes_chosen=len(chosen.nodes),
            cordoned=chosen.cordoned,
            pods_chosen=len(chosen.pods),
            pods_total=chosen.pods_total,
            min_pairs=self.options.min_pairs,
            unreadable=unreadable_objects(self.cluster),
        )

    @property
    def _version(self) -> str:
        return self.options.kubernetes_version or ""

    @cached_property
    def _unmodelled(self) -> Mapping[str, tuple[str, ...]]:
        return unmodelled_reasons(self.cluster)

    def _groups(self, pod: Pod, nodes: Sequence[Node]) -> Sequence[Sequence[Node]]:
        if self.options.dedup:
            return node_groups(pod, nodes, self.cluster)
        return [[node] for node in nodes]

    def _answer(self, found: Comparison, pod: Pod, node: Node) -> Answer | None:
        """The scheduler's verdict; None when the run was stopped before or meanwhile."""
        if self.watch.stop():
            return None
        answer = self.scheduler.ask(self.worlds.question(pod, node))
        if self.watch.stop():
            return None
        found.probes += 1
        return answer

    def _pair(self, pod: Pod, node: Node, answer: Answer) -> Pair:
        """Ours is judged for each node by itself even where one node answers for several: a check on that."""
        prepared = self.scheduler.prepare(self.worlds.question(pod, node))
        ours = judge(prepared, self._version)
        reasons = (
            *(() if self.options.strict_all else one_node_reasons(pod)),
            *self._unmodelled.get(pod.key, ()),
            *self._unmodelled.get(node.name, ()),
            *unshown_reasons(pod, prepared),
            *(unsure_reasons(ours.objections) if ours.unsure else ()),
        )
        return Pair(pod.key, node.name, ours, answer, tuple(dict.fromkeys(reasons)))
