"""NodePorts: a host port is free or taken on each node."""

from ksolver_cli.constraints.base import Check
from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.pod import HostPort, Pod
from ksolver_cli.domain.verdict import Code, Family, ObjectRef, Reason, Rejection, Verdict

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the API's own word for every address; nothing is bound


class NodePorts:
    """kube-scheduler's NodePorts plugin: protocol and port equal, and addresses equal or one of them 0.0.0.0."""

    family = Family.NODE_PORTS

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Nothing to check for a pod without host ports."""
        wanted = pod.spec.host_ports
        if not wanted:
            return None

        def check(node: NodeState) -> Verdict | None:
            for port in wanted:
                for used in node.ports:
                    if conflicts(port, used):
                        return self._rejection(node, port, used)
            return None

        return check

    def _rejection(self, node: NodeState, port: HostPort, used: HostPort) -> Rejection:
        holder = next(pod for pod in node.pods.values() if used in pod.spec.host_ports)
        text = f"{port.port}/{port.protocol}"
        return Rejection(
            self.family, Reason.PORT_CONFLICT, (text,), Code.UNSCHEDULABLE, ObjectRef("Pod", holder.key, text)
        )


def conflicts(one: HostPort, other: HostPort) -> bool:
    """Whether both ports cannot be held on one node. An absent address means all of them, an absent protocol TCP."""
    if one.port != other.port or one.port <= 0 or (one.protocol or "TCP") != (other.protocol or "TCP"):
        return False
    mine, theirs = one.host_ip or ANY_ADDRESS, other.host_ip or ANY_ADDRESS
    return mine == theirs or ANY_ADDRESS in (mine, theirs)
