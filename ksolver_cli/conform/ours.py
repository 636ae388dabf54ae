"""Our verdict on one question: every family on the empty node's raw allocatable."""

from dataclasses import dataclass

from ksolver_cli.collect.schedulers.exchange import Question
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.verdict import Rejection, Verdict
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot


@dataclass(frozen=True, slots=True)
class Judged:
    """What our families say: all objections, in the scheduler's order; none is a pass."""

    objections: tuple[Verdict, ...]

    @property
    def rejects(self) -> bool:
        """Whether some family says no."""
        return any(isinstance(verdict, Rejection) for verdict in self.objections)

    @property
    def unsure(self) -> bool:
        """Whether nobody says no but some family cannot decide."""
        return bool(self.objections) and not self.rejects


def judge(question: Question, version: str) -> Judged:
    """Judge the pod on the node as the Kubernetes version does; what the question lacks does not exist.

    Raises KeyError when the pod or the node cannot be read.
    """
    objects = {**question.beside, "nodes": (question.node,), "pods": (question.pod,)}
    cluster = normalise(Snapshot(objects), complete=True, kubernetes_version=version)
    if not cluster.pods:
        raise KeyError(question.pod_name)
    return Judged(prepare(cluster.pods[0], State(cluster)).objections(question.node_name))
