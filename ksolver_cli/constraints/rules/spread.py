"""Rules of hard topology spread constraints."""

from collections.abc import Hashable, Iterator

from ksolver_cli.constraints.core.pod_topology_spread import (
    domain_view,
    hard_constraints,
    node_counter,
    spread_selector,
)
from ksolver_cli.constraints.matching.holders import owner_ref
from ksolver_cli.constraints.matching.index import LabelIndex
from ksolver_cli.constraints.matching.selectors import Matcher, pod_matcher
from ksolver_cli.constraints.state import NodeState
from ksolver_cli.domain.classes import Classes, PodClass
from ksolver_cli.domain.pod import PodSpec, SpreadConstraint
from ksolver_cli.domain.rules import RuleSource, Spread
from ksolver_cli.domain.verdict import Family

Members = frozenset[int]


def spread_rules(classes: Classes) -> Iterator[Spread]:
    """One Spread for each constraint of each owner whose selector counts pods.

    Classes of one owner share a rule while it asks the same of them: by matchLabelKeys the pods of two revisions count
    apart. An absent selector and an empty one count nothing and bind nothing. Terminating pods are not counted.
    """
    views = _Views(classes)
    found: dict[Hashable, tuple[SpreadConstraint, PodClass, set[int], Members]] = {}
    for cls in classes.pods:
        for constraint in hard_constraints(cls.sample.spec):
            counted = views.counted(cls, constraint)
            if counted:
                owner = owner_ref(cls.sample, constraint.topology_key)
                key = (owner, constraint, counted, views.eligible(cls.sample.spec, constraint), cls.index in counted)
                found.setdefault(key, (constraint, cls, set(), counted))[2].add(cls.index)
    for constraint, cls, movers, counted in found.values():
        yield Spread(
            source=RuleSource(Family.POD_TOPOLOGY_SPREAD, owner_ref(cls.sample, constraint.topology_key)),
            key=constraint.topology_key,
            movers=frozenset(movers),
            counted=counted,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            eligible=views.eligible(cls.sample.spec, constraint),
            self_match=cls.index in counted,
        )


class _Views:
    """What constraints count, and the node classes that count for them, each worked out once."""

    def __init__(self, classes: Classes) -> None:
        self._nodes = [NodeState(cls.sample) for cls in classes.nodes]
        self._by_label: LabelIndex[PodClass] = LabelIndex()
        for cls in classes.pods:
            self._by_label.add(cls.sample.namespace, cls.sample.labels, cls)
        self._eligible: dict[Hashable, Members] = {}
        self._counted: dict[tuple[str, Matcher], Members] = {}

    def counted(self, cls: PodClass, constraint: SpreadConstraint) -> Members:
        """Classes that the constraint counts for a pod of this class."""
        selector = spread_selector(constraint, cls.sample.labels)
        matcher = pod_matcher(selector)
        if matcher.is_empty or matcher.fault:
            return frozenset()
        namespace = cls.sample.namespace
        if (namespace, matcher) not in self._counted:
            self._counted[namespace, matcher] = frozenset(
                other.index
                for other in self._by_label.candidates(namespace, selector)
                if not other.sample.deleting and matcher.matches(other.sample.labels)
            )
        return self._counted[namespace, matcher]

    def eligible(self, spec: PodSpec, constraint: SpreadConstraint) -> Members:
        """Node classes whose domains count."""
        key = domain_view(spec, constraint)
        if key not in self._eligible:
            counts = node_counter(spec, constraint)
            self._eligible[key] = frozenset(index for index, node in enumerate(self._nodes) if counts(node))
        return self._eligible[key]
