"""Families that the arrays do not hold (volumes, device claims), asked node by node."""

from ksolver_cli.constraints.base import FamilyRule
from ksolver_cli.constraints.registry import families
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Family, Rejection, Unknown
from ksolver_cli.plan.replay.lanes import BoolArray

ASKED = frozenset(
    {
        Family.VOLUME_RESTRICTIONS,
        Family.NODE_VOLUME_LIMITS,
        Family.VOLUME_BINDING,
        Family.VOLUME_ZONE,
        Family.DYNAMIC_RESOURCES,
    }
)


class Checker:
    """Narrows feasible nodes down to those where volumes and device claims allow the pod too.

    Where a family cannot tell, the node is taken to be closed: a plan may not rest on it.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._families: tuple[FamilyRule, ...] = tuple(
            f for f in families(state.cluster.kubernetes_version) if f.family in ASKED
        )

    def restrict(self, pod: Pod, feasible: BoolArray) -> None:
        """Clear the nodes that one of the families rejects."""
        nodes = self.state.cluster.nodes
        for family in self._families:
            check = family.prepare(pod, self.state)
            if check is None:
                continue
            if isinstance(check, Rejection | Unknown):
                feasible[:] = False
                return
            for index in feasible.nonzero()[0]:
                if check(self.state.nodes[nodes[index].name]) is not None:
                    feasible[index] = False
