"""Rules of required pod affinity and anti-affinity."""

from collections.abc import Callable, Iterator

from ksolver_cli.constraints.core.inter_pod_affinity import matches_own, parse_fault
from ksolver_cli.constraints.matching.holders import owner_ref
from ksolver_cli.constraints.matching.index import LabelIndex
from ksolver_cli.constraints.matching.namespaces import Reach
from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.domain.classes import Classes, PodClass
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import PodAffinityTerm
from ksolver_cli.domain.rules import CapPerDomain, Exclude, Require, Rule, RuleSource
from ksolver_cli.domain.verdict import Family, ObjectRef

Members = frozenset[int]


def affinity_rules(cluster: Cluster, classes: Classes) -> Iterator[Rule]:
    """CapPerDomain and Exclude for each anti-affinity term of each owner, Require for its affinity."""
    matches = _Matches(cluster, classes)
    for (owner, term), holders in _by_owner(classes, lambda cls: cls.sample.spec.anti_affinity).items():
        yield from _anti_rules(owner, term, holders, matches.of((term,)))
    for (owner, term), dependents in _by_owner(classes, lambda cls: cls.sample.spec.affinity).items():
        yield from _requirements(owner, term, dependents, matches)


class _Matches:
    """Which classes a set of terms counts; classes are looked up by label first."""

    def __init__(self, cluster: Cluster, classes: Classes) -> None:
        self.reach = Reach(cluster)
        self._by_label: LabelIndex[PodClass] = LabelIndex()
        for cls in classes.pods:
            self._by_label.add(cls.sample.namespace, cls.sample.labels, cls)
        self._known: dict[tuple[PodAffinityTerm, ...], Members] = {}

    def of(self, terms: tuple[PodAffinityTerm, ...]) -> Members:
        """Classes that all of the terms count; one that only the missing namespaces could tell of is not among them."""
        if terms not in self._known:
            self._known[terms] = frozenset(
                cls.index for cls in self._by_label.candidates(None, terms[0].selector) if self._is_counted(cls, terms)
            )
        return self._known[terms]

    def _is_counted(self, cls: PodClass, terms: tuple[PodAffinityTerm, ...]) -> bool:
        namespace, labels = cls.sample.namespace, cls.sample.labels
        return all(
            pod_matcher(term.selector).matches(labels) and self.reach.own(term, namespace) is True for term in terms
        )


def _by_owner(
    classes: Classes, terms: Callable[[PodClass], tuple[PodAffinityTerm, ...]]
) -> dict[tuple[ObjectRef, PodAffinityTerm], list[PodClass]]:
    """Classes by the term they hold and the object it is written in; a pod that does not parse is never placed."""
    found: dict[tuple[ObjectRef, PodAffinityTerm], list[PodClass]] = {}
    for cls in classes.pods:
        if parse_fault(cls.sample.spec):
            continue
        for term in terms(cls):
            found.setdefault((owner_ref(cls.sample, term.topology_key), term), []).append(cls)
    return found


def _anti_rules(owner: ObjectRef, term: PodAffinityTerm, holders: list[PodClass], counted: Members) -> Iterator[Rule]:
    """No pod that holds the term shares a domain with another that the term counts."""
    source = RuleSource(Family.INTER_POD_AFFINITY, owner)
    held = frozenset(cls.index for cls in holders)
    both = held & counted
    if both:
        yield CapPerDomain(source, term.topology_key, both)
    if both and counted - both:
        yield Exclude(source, term.topology_key, both, counted - both)
    if held - both and counted:
        yield Exclude(source, term.topology_key, held - both, counted)


def _requirements(
    owner: ObjectRef, term: PodAffinityTerm, dependents: list[PodClass], matches: _Matches
) -> Iterator[Rule]:
    """Pods that match all terms of a dependent anchor it, in the domain of each term's key."""
    source = RuleSource(Family.INTER_POD_AFFINITY, owner)
    groups: dict[tuple[Members, bool], set[int]] = {}
    for cls in dependents:
        terms = cls.sample.spec.affinity
        starts = matches_own(cls.sample, terms, matches.reach)
        groups.setdefault((matches.of(terms), starts), set()).add(cls.index)
    for (anchors, starts), members in groups.items():
        yield Require(source, term.topology_key, frozenset(members), anchors, self_start=starts)
