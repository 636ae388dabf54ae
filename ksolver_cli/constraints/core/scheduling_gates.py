"""SchedulingGates: gated pods are not scheduled at all, whatever the nodes look like."""

from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection


def gated(pod: Pod) -> Rejection | None:
    """Why the pod waits before it ever meets the Filter phase (PreEnqueue of the SchedulingGates plugin).

    Not one of the Filter families: a gated pod may fit every node, so it is said beside the verdicts.
    """
    gates = pod.spec.scheduling_gates
    if not gates:
        return None
    return Rejection(Family.SCHEDULING_GATES, Reason.GATED, gates, Code.UNRESOLVABLE, ObjectRef("Pod", pod.key))
