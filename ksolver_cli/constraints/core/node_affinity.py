"""NodeAffinity: node selector and required node affinity."""

from collections.abc import Callable

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.matching.holders import owner_ref
from ksolver_cli.constraints.matching.selectors import NAME_FIELD, node_matcher
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.labels import Labels, NodeSelector, NodeSelectorTerm, Operator
from ksolver_cli.domain.pod import Pod, PodSpec
from ksolver_cli.domain.verdict import Code, Family, Reason, Rejection, Verdict

CONFLICT = "conflict"
"""Parameter of `NODE_AFFINITY_PRE` when the terms name no node that could satisfy them all."""


class NodeAffinity:
    """kube-scheduler's NodeAffinity plugin: `spec.nodeSelector` and, beside it, one of the required terms.

    Terms that all name nodes by the field metadata.name leave every other node out before any Filter runs.
    """

    family = Family.NODE_AFFINITY

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod that selects no nodes."""
        spec = pod.spec
        if not spec.node_selector and spec.node_affinity is None:
            return None
        names = named_nodes(spec.node_affinity)
        source = owner_ref(pod, "nodeSelector" if spec.node_affinity is None else "nodeAffinity")
        if names is not None and not names:
            return Rejection(self.family, Reason.NODE_AFFINITY_PRE, (CONFLICT,), Code.UNRESOLVABLE, source)
        fits = spec_matcher(spec)
        left_out = Rejection(self.family, Reason.NODE_AFFINITY_PRE, (), Code.UNRESOLVABLE, source)
        rejection = Rejection(self.family, Reason.NODE_AFFINITY, (), Code.UNRESOLVABLE, source)

        def check(node: NodeState) -> Verdict | None:
            name = node.node.name
            if names is not None and name not in names:
                return left_out
            return None if fits(node.node.labels, name) else rejection

        return check


def spec_matcher(spec: PodSpec) -> Callable[[Labels, str], bool]:
    """Whether a node of these labels and this name satisfies nodeSelector and required node affinity."""
    pairs = spec.node_selector
    affinity = None if spec.node_affinity is None else node_matcher(spec.node_affinity)

    def fits(labels: Labels, name: str) -> bool:
        if any(labels.get(key) != value for key, value in pairs):
            return False
        return affinity is None or affinity(labels, name)

    return fits


def named_nodes(affinity: NodeSelector | None) -> frozenset[str] | None:
    """The node names to which metadata.name requirements narrow the choice; None when some term names none."""
    if affinity is None or not affinity.terms:
        return None
    names: set[str] = set()
    for term in affinity.terms:
        of_term = _names_of_term(term)
        if of_term is None:
            return None
        names |= of_term
    return frozenset(names)


def _names_of_term(term: NodeSelectorTerm) -> set[str] | None:
    names: set[str] | None = None
    for requirement in term.fields:
        if requirement.key == NAME_FIELD and requirement.operator is Operator.IN:
            values = set(requirement.values)
            names = values if names is None else names & values
    return names
