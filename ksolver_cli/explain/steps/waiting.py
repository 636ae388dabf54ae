"""How to wait until the replacements of evicted pods run."""

from collections import Counter

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod, WorkloadRef
from ksolver_cli.domain.report.actions import Command

TIMEOUT = "--timeout=15m"
_COUNTED = ("StatefulSet", "ReplicaSet", "ReplicationController")
"""Kinds whose ready replicas are counted: `kubectl rollout status` refuses StatefulSets that update on deletion."""


class Waiting:
    """Knows which workloads have all their pods today: only those can be waited for."""

    def __init__(self, cluster: Cluster) -> None:
        self._wanted = {str(w.ref): w.replicas for w in cluster.workloads}
        self._ready = Counter(str(ref) for pod in cluster.pods if _is_up(pod) for ref in _owners(pod))

    def until_back(self, pod: Pod) -> Command | None:
        """Wait for the pod's workload; None for kinds that kubectl cannot wait for and for those that lack pods."""
        for ref in _owners(pod):
            wanted = self._wanted.get(str(ref))
            if not wanted or self._ready[str(ref)] < wanted:
                continue
            target = (f"{ref.kind.lower()}/{ref.name}", "-n", ref.namespace)
            if ref.kind == "Deployment":
                return Command(("kubectl", "rollout", "status", *target, TIMEOUT), "back")
            if ref.kind in _COUNTED:
                ready = f"--for=jsonpath={{.status.readyReplicas}}={wanted}"
                return Command(("kubectl", "wait", *target, ready, TIMEOUT), "back")
        return None


def _is_up(pod: Pod) -> bool:
    return pod.is_bound and pod.ready and not pod.deleting


def _owners(pod: Pod) -> tuple[WorkloadRef, ...]:
    """The top of the chain, then the direct controller where that is another."""
    chain = (pod.workload, pod.controller)
    return tuple(dict.fromkeys(ref for ref in chain if ref is not None))
