"""Pod classes by namespace and label, so that a selector finds the classes it counts without asking each."""

from collections.abc import Iterable, Sequence

from ksolver_cli.constraints.matching.namespaces import Reach
from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.domain.classes import PodClass
from ksolver_cli.domain.labels import LabelSelector, Operator
from ksolver_cli.domain.pod import PodAffinityTerm


class Roster:
    """The pod classes of a cluster, found by what selectors look at."""

    def __init__(self, classes: Sequence[PodClass], reach: Reach) -> None:
        self._samples = tuple(c.sample for c in classes)
        self._reach = reach
        self._by_label: dict[tuple[str, str], list[int]] = {}
        self._by_namespace: dict[str, list[int]] = {}
        for index, pod in enumerate(self._samples):
            self._by_namespace.setdefault(pod.namespace, []).append(index)
            for label in pod.labels.items():
                self._by_label.setdefault(label, []).append(index)
        self._found: dict[tuple[LabelSelector | None, tuple[str, ...]], tuple[int, ...]] = {}

    def in_namespace(self, selector: LabelSelector | None, namespace: str) -> tuple[int, ...]:
        """Classes of one namespace that the selector matches."""
        key = (selector, (namespace,))
        if key not in self._found:
            matches = pod_matcher(selector).matches
            near = self._near(selector, (namespace,))
            found = (i for i in near if self._samples[i].namespace == namespace and matches(self._samples[i].labels))
            self._found[key] = tuple(found)
        return self._found[key]

    def counted(self, term: PodAffinityTerm) -> tuple[int, ...]:
        """Classes that a term of the pod to place counts; where the namespaces are unknown, those too."""
        return tuple(i for i in self._selected(term) if self._reach.own(term, self._samples[i].namespace) is not False)

    def reached(self, term: PodAffinityTerm) -> tuple[int, ...]:
        """Classes that a term held by a placed pod speaks of; where the namespaces are unknown, those too."""
        return tuple(
            i for i in self._selected(term) if self._reach.existing(term, self._samples[i].namespace) is not False
        )

    def _selected(self, term: PodAffinityTerm) -> list[int]:
        matches = pod_matcher(term.selector).matches
        near = self._near(term.selector, None if term.namespace_selector is not None else term.namespaces)
        return [i for i in near if matches(self._samples[i].labels)]

    def _near(self, selector: LabelSelector | None, namespaces: Iterable[str] | None) -> Iterable[int]:
        """A superset of the classes the selector can match, small where it names a value."""
        for requirement in selector.requirements if selector is not None else ():
            if requirement.operator is Operator.IN and len(requirement.values) == 1:
                return self._by_label.get((requirement.key, requirement.values[0]), ())
        if namespaces is None:
            return range(len(self._samples))
        return [i for n in dict.fromkeys(namespaces) for i in self._by_namespace.get(n, ())]
