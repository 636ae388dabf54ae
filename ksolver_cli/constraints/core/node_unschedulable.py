"""NodeUnschedulable: cordoned nodes take only pods that tolerate it."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT, is_tolerated
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Verdict


class NodeUnschedulable:
    """kube-scheduler's NodeUnschedulable plugin: `spec.unschedulable`, unless the pod tolerates its taint."""

    family = Family.NODE_UNSCHEDULABLE

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod that tolerates cordoned nodes."""
        if is_tolerated(UNSCHEDULABLE_TAINT, pod.spec.tolerations):
            return None
        return self._check

    def _check(self, node: NodeState) -> Verdict | None:
        if not node.cordoned:
            return None
        source = ObjectRef("Node", node.node.name, "unschedulable")
        return Rejection(self.family, Reason.CORDONED, (), Code.UNRESOLVABLE, source)
