"""NodeDeclaredFeatures: nodes must declare what the pod's spec needs of them."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.matching.holders import owner_ref
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Code, Family, Reason, Rejection, Verdict


class NodeDeclaredFeatures:
    """kube-scheduler's NodeDeclaredFeatures plugin (KEP-5328): on by default since 1.36."""

    family = Family.NODE_DECLARED_FEATURES

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod that needs no declared feature."""
        needed = frozenset(pod.spec.required_features)
        if not needed:
            return None
        source = owner_ref(pod, ", ".join(sorted(needed)))

        def check(node: NodeState) -> Verdict | None:
            missing = needed.difference(node.node.declared_features)
            if not missing:
                return None
            return Rejection(self.family, Reason.FEATURE_MISSING, tuple(sorted(missing)), Code.UNRESOLVABLE, source)

        return check
