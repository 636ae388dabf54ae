"""InterPodAffinity: required affinity and anti-affinity to other pods, in both directions."""

from collections.abc import Iterator
from dataclasses import dataclass

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.matching.holders import Holder, owner_ref
from ksolver_cli.constraints.matching.namespaces import Reach
from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.constraints.matching.tally import Group, Tally
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.pod import Pod, PodAffinityTerm, PodSpec
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Unknown, Verdict

NAMESPACES = "namespaces"


class InterPodAffinity:
    """kube-scheduler's InterPodAffinity plugin.

    The pod's affinity terms must all be met in their domains by pods that match *all* of them; if no such pod is in any
    domain, a pod that matches its own terms may be the first. Its anti-affinity terms, and those of pods already
    there, keep it out. Terminating pods count. matchLabelKeys count as the API server merged them into the selector.
    """

    family = Family.INTER_POD_AFFINITY

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod without terms that no placed pod's anti-affinity counts."""
        fault = parse_fault(pod.spec)
        if fault:
            return Rejection(self.family, Reason.OTHER, (fault,), Code.UNRESOLVABLE, owner_ref(pod))
        terms = terms_at(pod, state)
        return None if terms is None else terms.check


@dataclass(frozen=True, slots=True)
class Terms:
    """What the nodes are asked: tallies of the pod's own terms, and terms of others that count it.

    `held` is false beside terms of which only the missing namespaces could tell whether they count the pod.
    """

    pod: Pod
    anti: tuple[tuple[str, Tally], ...]
    affinity: Tally | None
    starts_group: bool
    held: list[tuple[Holder, bool]]
    unsure_anti: bool
    unsure_affinity: bool

    @property
    def is_unsure(self) -> bool:
        """Whether some verdict could be Unknown."""
        return self.unsure_anti or self.unsure_affinity or not all(sure for _, sure in self.held)

    def check(self, node: NodeState) -> Verdict | None:
        """The first objection in the scheduler's order: own affinity, own anti-affinity, that of others."""
        affinity = self._affinity(node)
        if isinstance(affinity, Rejection):
            return affinity
        return self._anti_affinity(node) or self._existing(node) or affinity

    def _affinity(self, node: NodeState) -> Verdict | None:
        """The first term that is not met; the key of every term must be on the node even for the first of a group."""
        if self.affinity is None:
            return None
        labels, terms = node.node.labels, self.pod.spec.affinity
        for term in terms:
            if term.topology_key not in labels:
                return self._reject(Reason.AFFINITY, Code.UNRESOLVABLE, term.topology_key)
        if self.starts_group and not self.unsure_affinity:
            return None
        for term in terms:
            key = term.topology_key
            if labels[key] not in self.affinity.domains(key):
                return (
                    self._unknown() if self.unsure_affinity else self._reject(Reason.AFFINITY, Code.UNRESOLVABLE, key)
                )
        return None

    def _anti_affinity(self, node: NodeState) -> Verdict | None:
        labels = node.node.labels
        for key, tally in self.anti:
            if key in labels and labels[key] in tally.domains(key):
                return self._reject(Reason.ANTI_AFFINITY, Code.UNSCHEDULABLE, key)
        return None

    def _existing(self, node: NodeState) -> Verdict | None:
        unsure = self.unsure_anti
        for holder, sure in self._holders_at(node):
            if sure:
                params = (holder.term.topology_key,)
                return Rejection(
                    Family.INTER_POD_AFFINITY,
                    Reason.EXISTING_ANTI_AFFINITY,
                    params,
                    Code.UNSCHEDULABLE,
                    holder.source,
                )
            unsure = True
        return self._unknown() if unsure else None

    def _holders_at(self, node: NodeState) -> Iterator[tuple[Holder, bool]]:
        labels = node.node.labels
        for holder, sure in self.held:
            key = holder.term.topology_key
            if key in labels and labels[key] in holder.tally.domains(key):
                yield holder, sure

    def _reject(self, reason: Reason, code: Code, key: str) -> Rejection:
        return Rejection(Family.INTER_POD_AFFINITY, reason, (key,), code, owner_ref(self.pod, key))

    def _unknown(self) -> Unknown:
        return Unknown(Family.INTER_POD_AFFINITY, NAMESPACES, ObjectRef("Pod", self.pod.key))


def terms_at(pod: Pod, state: State) -> Terms | None:
    """The terms that bear on the pod in this state; None when there are none. All of them must parse."""
    own, held = pod.spec, state.holders.against(pod)
    if not held and not own.affinity and not own.anti_affinity:
        return None
    affinity = match_tally(own.affinity, state) if own.affinity else None
    return Terms(
        pod=pod,
        anti=tuple((term.topology_key, match_tally((term,), state)) for term in own.anti_affinity),
        affinity=affinity,
        starts_group=affinity is not None and may_start_group(pod, affinity, state),
        held=held,
        unsure_anti=_is_unsure(own.anti_affinity, state),
        unsure_affinity=_is_unsure(own.affinity, state),
    )


@dataclass(frozen=True, slots=True)
class _MatchesAll:
    terms: tuple[PodAffinityTerm, ...]
    reach: Reach

    def __call__(self, group: Group) -> bool:
        return all(
            pod_matcher(term.selector).matches(group.labels) and self.reach.own(term, group.namespace) is True
            for term in self.terms
        )


def match_tally(terms: tuple[PodAffinityTerm, ...], state: State) -> Tally:
    """Placed pods that match all of the terms."""
    bounds = [term.namespaces for term in terms if term.namespace_selector is None]
    question = _MatchesAll(terms, state.reach)
    return state.groups.tally(("affinity", terms), bounds[0] if bounds else None, terms[0].selector, question)


def may_start_group(pod: Pod, tally: Tally, state: State) -> bool:
    """Whether no matching pod is in any domain of the terms and the pod matches its own terms."""
    terms = pod.spec.affinity
    if any(tally.domains(term.topology_key) for term in terms):
        return False
    return matches_own(pod, terms, state.reach)


def matches_own(pod: Pod, terms: tuple[PodAffinityTerm, ...], reach: Reach) -> bool:
    """Whether the pod is counted by all of these terms of its own."""
    return all(
        pod_matcher(term.selector).matches(pod.labels) and reach.own(term, pod.namespace) is True for term in terms
    )


def parse_fault(spec: PodSpec) -> str:
    """Why the scheduler cannot parse the pod's (anti-)affinity, preferred terms included; empty when it can."""
    kinds = (
        ("requiredAffinityTerms", spec.affinity),
        ("requiredAntiAffinityTerms", spec.anti_affinity),
        ("preferredAffinityTerms", tuple(preferred.term for preferred in spec.preferred_affinity)),
        ("preferredAntiAffinityTerms", tuple(preferred.term for preferred in spec.preferred_anti_affinity)),
    )
    for kind, terms in kinds:
        for term in terms:
            fault = pod_matcher(term.selector).fault or pod_matcher(term.namespace_selector).fault
            if fault:
                return f"parsing pod: {kind}: {fault}"
    return ""


def _is_unsure(terms: tuple[PodAffinityTerm, ...], state: State) -> bool:
    """Whether namespaces that the snapshot lacks could add pods to what the terms count."""
    if state.cluster.knows(NAMESPACES):
        return False
    return any(term.namespace_selector is not None and term.namespace_selector.requirements for term in terms)
