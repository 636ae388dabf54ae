"""TaintToleration: NoSchedule and NoExecute taints keep out pods that do not tolerate them."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.matching.taints import first_untolerated
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.node import Taint
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Verdict


class TaintToleration:
    """kube-scheduler's TaintToleration plugin; PreferNoSchedule only scores."""

    family = Family.TAINT_TOLERATION

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Ready the check; it asks once for each distinct list of taints."""
        tolerations = pod.spec.tolerations
        known: dict[tuple[Taint, ...], Taint | None] = {}

        def check(node: NodeState) -> Verdict | None:
            if not node.taints:
                return None
            if node.taints not in known:
                known[node.taints] = first_untolerated(node.taints, tolerations)
            taint = known[node.taints]
            return None if taint is None else self._rejection(node, taint)

        return check

    def _rejection(self, node: NodeState, taint: Taint) -> Rejection:
        text = taint_text(taint)
        return Rejection(
            self.family, Reason.UNTOLERATED_TAINT, (text,), Code.UNRESOLVABLE, ObjectRef("Node", node.node.name, text)
        )


def taint_text(taint: Taint) -> str:
    """The taint as `kubectl taint` writes it: `key=value:Effect`."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
