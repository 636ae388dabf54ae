"""NodeName: a pod that names its node goes nowhere else."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Verdict

_NARROWS_SINCE = (1, 37)
"""Since this version the plugin leaves other nodes out before Filter."""


class NodeName:
    """kube-scheduler's NodeName plugin: `spec.nodeName`, where set, must equal the node's name."""

    family = Family.NODE_NAME

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod that names no node."""
        if not pod.node_name:
            return None
        wanted = pod.node_name
        source = ObjectRef("Pod", pod.key, "nodeName")
        rejection = Rejection(self.family, Reason.NODE_NAME, (wanted,), Code.UNRESOLVABLE, source)
        if state.cluster.kubernetes_version >= _NARROWS_SINCE:
            rejection = Rejection(self.family, Reason.NODE_AFFINITY_PRE, (), Code.UNRESOLVABLE, source)

        def check(node: NodeState) -> Verdict | None:
            return None if node.node.name == wanted else rejection

        return check
