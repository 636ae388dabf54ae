"""Running counts: how many placed pods a selector counts, by node and by topology domain.

Counting again for every pod judged would cost pods × pods. A tally is counted once, over groups of pods with equal
labels, and kept up to date as pods come and go.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping

from ksolver_cli.constraints.matching.index import LabelIndex, SelectorIndex
from ksolver_cli.domain.labels import Labels, LabelSelector
from ksolver_cli.domain.pod import Pod

NodeLabels = Mapping[str, Labels]


class Tally:
    """Counts by node, and by the domains of those topology keys that were asked for."""

    __slots__ = ("_domains", "_labels", "by_node")

    def __init__(self, node_labels: NodeLabels) -> None:
        self._labels = node_labels
        self._domains: dict[str, dict[str, int]] = {}
        self.by_node: dict[str, int] = {}

    def bump(self, node_name: str, delta: int) -> None:
        """Count `delta` pods more on the node; counts that fall to zero are dropped."""
        _bump(self.by_node, node_name, delta)
        labels = self._labels[node_name]
        for key, domains in self._domains.items():
            if key in labels:
                _bump(domains, labels[key], delta)

    def domains(self, key: str) -> Mapping[str, int]:
        """Count by value of the topology key; nodes without the key are in no domain, empty domains are absent."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = {}
            for node_name, count in self.by_node.items():
                labels = self._labels[node_name]
                if key in labels:
                    _bump(found, labels[key], count)
        return found


class Group:
    """Placed pods that no label selector can tell apart, and how many of them are on each node."""

    __slots__ = ("by_node", "deleting", "labels", "namespace", "tallies")

    def __init__(self, pod: Pod) -> None:
        self.namespace = pod.namespace
        self.labels = pod.labels
        self.deleting = pod.deleting
        self.by_node: dict[str, int] = {}
        self.tallies: list[Tally] = []


Question = Callable[[Group], bool]


class Groups:
    """All groups, and the tallies kept over them."""

    def __init__(self, node_labels: NodeLabels) -> None:
        self._node_labels = node_labels
        self._groups: dict[tuple[str, frozenset[tuple[str, str]], bool], Group] = {}
        self._by_label: LabelIndex[Group] = LabelIndex()
        self._tallies: dict[Hashable, Tally] = {}
        self._asked: SelectorIndex[tuple[Question, Tally]] = SelectorIndex()

    def of(self, pod: Pod) -> Group:
        """The group the pod belongs to."""
        key = (pod.namespace, frozenset(pod.labels.items()), pod.deleting)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(pod)
            self._by_label.add(pod.namespace, pod.labels, group)
            asked = self._asked.candidates(pod.namespace, pod.labels)
            group.tallies = [tally for question, tally in asked if question(group)]
        return group

    def bump(self, group: Group, node_name: str, delta: int) -> None:
        """Count `delta` pods of the group more on the node."""
        _bump(group.by_node, node_name, delta)
        for tally in group.tallies:
            tally.bump(node_name, delta)

    def tally(
        self, key: Hashable, namespaces: tuple[str, ...] | None, selector: LabelSelector | None, question: Question
    ) -> Tally:
        """The tally of pods whose group answers yes. Equal keys must mean equal questions.

        `namespaces` (None is all) and `selector` bound where a yes is possible.
        """
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = Tally(self._node_labels)
            for namespace in (None,) if namespaces is None else dict.fromkeys(namespaces):
                self._asked.add(namespace, selector, (question, tally))
                self._count(tally, self._by_label.candidates(namespace, selector), question)
        return tally

    def _count(self, tally: Tally, groups: Iterable[Group], question: Question) -> None:
        for group in groups:
            if question(group):
                group.tallies.append(tally)
                for node_name, count in group.by_node.items():
                    tally.bump(node_name, count)


def _bump(counts: dict[str, int], key: str, delta: int) -> None:
    count = counts.get(key, 0) + delta
    if count:
        counts[key] = count
    else:
        del counts[key]
