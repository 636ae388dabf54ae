"""PodTopologySpread: hard topology spread constraints."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.core.node_affinity import spec_matcher
from ksolver_cli.constraints.matching.holders import owner_ref
from ksolver_cli.constraints.matching.selectors import Matcher, pod_matcher
from ksolver_cli.constraints.matching.taints import first_untolerated
from ksolver_cli.constraints.matching.tally import Group, Tally
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.labels import Labels, LabelSelector, Operator, Requirement
from ksolver_cli.domain.pod import Pod, PodSpec, SpreadConstraint
from ksolver_cli.domain.verdict import Code, Family, Reason, Rejection, Verdict


@dataclass(frozen=True, slots=True)
class Domains:
    """The nodes that count for a constraint, the domain of each, and how many domains that makes."""

    of_node: Mapping[str, str]
    size: int


@dataclass(frozen=True, slots=True)
class Skew:
    """One constraint in one state: pods counted by domain, the least of them, and whether the pod counts itself.

    Domains without a counted pod are absent from `counts`.
    """

    constraint: SpreadConstraint
    counts: Mapping[str, int]
    least: int
    self_match: bool

    def admits(self, domain: str) -> bool:
        """Whether one pod more in the domain keeps within maxSkew."""
        return self._keeps(self.counts.get(domain, 0))

    @property
    def admits_empty(self) -> bool:
        """Whether a domain without any counted pod takes one."""
        return self._keeps(0)

    def _keeps(self, count: int) -> bool:
        return count + self.self_match - self.least <= self.constraint.max_skew


class PodTopologySpread:
    """kube-scheduler's PodTopologySpread plugin, DoNotSchedule constraints only.

    Terminating pods are not counted, and nothing is counted by an empty selector. A node is a domain only if it has
    the keys of all hard constraints and passes the constraint's node inclusion policies. Fewer domains than
    minDomains make the least count zero.
    """

    family = Family.POD_TOPOLOGY_SPREAD

    def __init__(self) -> None:
        self._layouts: WeakKeyDictionary[State, _Layout] = WeakKeyDictionary()

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod without hard constraints; a selector that does not parse fails everywhere."""
        if not any(constraint.hard for constraint in pod.spec.spread):
            return None
        for constraint in hard_constraints(pod.spec):
            fault = pod_matcher(constraint.selector).fault
            if fault:
                source = owner_ref(pod, constraint.topology_key)
                return Rejection(self.family, Reason.OTHER, (f"get constraints from pod: {fault}",), Code.ERROR, source)
        return _checker(pod, self.skews(pod, state))

    def skews(self, pod: Pod, state: State) -> tuple[Skew, ...]:
        """The pod's hard constraints as they stand in this state, in the order of the spec."""
        layout = self._layouts.get(state)
        if layout is None or layout.version != state.layout_version:
            layout = self._layouts[state] = _Layout(state.layout_version)
        return tuple(
            _skew(pod, constraint, layout.domains(pod.spec, constraint, state), state)
            for constraint in hard_constraints(pod.spec)
        )


class _Layout:
    """Domains by what decides them. They change only when nodes are cordoned or go, not with every pod."""

    def __init__(self, version: int) -> None:
        self.version = version
        self._known: dict[Hashable, Domains] = {}

    def domains(self, spec: PodSpec, constraint: SpreadConstraint, state: State) -> Domains:
        key = domain_view(spec, constraint)
        if key not in self._known:
            counts = node_counter(spec, constraint)
            of_node = {
                node.node.name: node.node.labels[constraint.topology_key]
                for node in state.node_states()
                if counts(node)
            }
            self._known[key] = Domains(of_node, len(set(of_node.values())))
        return self._known[key]


def hard_constraints(spec: PodSpec) -> tuple[SpreadConstraint, ...]:
    """The constraints that Filter looks at."""
    return tuple(constraint for constraint in spec.spread if constraint.hard)


def domain_view(spec: PodSpec, constraint: SpreadConstraint) -> Hashable:
    """All that decides which nodes are domains of the constraint: equal views have equal domains."""
    keys = frozenset(other.topology_key for other in hard_constraints(spec))
    affinity = (spec.node_selector, spec.node_affinity) if constraint.honor_node_affinity else None
    return (constraint.topology_key, keys, affinity, spec.tolerations if constraint.honor_node_taints else None)


def node_counter(spec: PodSpec, constraint: SpreadConstraint) -> Callable[[NodeState], bool]:
    """Whether a node's domain counts: all hard keys present, and affinity and taints as the policies say."""
    keys = {other.topology_key for other in hard_constraints(spec)}
    selects = spec_matcher(spec)
    fits = selects if constraint.honor_node_affinity and (spec.node_selector or spec.node_affinity) else None
    minds_taints, tolerations = constraint.honor_node_taints, spec.tolerations

    def counts(node: NodeState) -> bool:
        labels = node.node.labels
        if not keys <= labels.keys() or (fits is not None and not fits(labels, node.node.name)):
            return False
        return not minds_taints or first_untolerated(node.taints, tolerations) is None

    return counts


def spread_selector(constraint: SpreadConstraint, labels: Labels) -> LabelSelector | None:
    """The constraint's selector with the pod's own values of matchLabelKeys added; an absent one stays absent."""
    selector = constraint.selector
    own = [Requirement(key, Operator.IN, (labels[key],)) for key in constraint.match_label_keys if key in labels]
    if selector is None or not own:
        return selector
    return replace(selector, requirements=(*own, *selector.requirements))


def _skew(pod: Pod, constraint: SpreadConstraint, domains: Domains, state: State) -> Skew:
    selector = spread_selector(constraint, pod.labels)
    matcher = pod_matcher(selector)
    counts: dict[str, int] = {}
    if not matcher.is_empty:
        for node_name, count in spread_tally(pod.namespace, selector, state).by_node.items():
            domain = domains.of_node.get(node_name)
            if domain is not None:
                counts[domain] = counts.get(domain, 0) + count
    enough = domains.size >= (1 if constraint.min_domains is None else constraint.min_domains)
    least = min(counts.values()) if enough and counts and len(counts) == domains.size else 0
    return Skew(constraint, counts, least, matcher.matches(pod.labels))


def spread_tally(namespace: str, selector: LabelSelector | None, state: State) -> Tally:
    """Pods of the namespace that the selector matches and that are not terminating."""
    matcher = pod_matcher(selector)
    return state.groups.tally(("spread", namespace, selector), (namespace,), selector, _Counted(namespace, matcher))


@dataclass(frozen=True, slots=True)
class _Counted:
    namespace: str
    matcher: Matcher

    def __call__(self, group: Group) -> bool:
        return group.namespace == self.namespace and not group.deleting and self.matcher.matches(group.labels)


def _checker(pod: Pod, skews: tuple[Skew, ...]) -> Check:
    def check(node: NodeState) -> Verdict | None:
        labels = node.node.labels
        for skew in skews:
            key = skew.constraint.topology_key
            if key not in labels:
                return _rejection(pod, Reason.SPREAD_LABEL_MISSING, key, Code.UNRESOLVABLE)
            if not skew.admits(labels[key]):
                return _rejection(pod, Reason.SPREAD_SKEW, key, Code.UNSCHEDULABLE)
        return None

    return check


def _rejection(pod: Pod, reason: Reason, key: str, code: Code) -> Rejection:
    return Rejection(Family.POD_TOPOLOGY_SPREAD, reason, (key,), code, owner_ref(pod, key))
