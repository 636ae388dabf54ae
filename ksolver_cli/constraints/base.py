"""What every constraint family offers: a check of one pod against nodes, as PreFilter and Filter do it."""

from collections.abc import Callable
from typing import Protocol

from ksolver_cli.constraints.state import NodeState, State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Family, Verdict

Check = Callable[[NodeState], Verdict | None]
"""Judges one node for the pod that the check was prepared for; None is no objection."""


class FamilyRule(Protocol):
    """One constraint family.

    `prepare` does what does not depend on the node (PreFilter): it returns the check to call for each node, a verdict
    that holds on every node, or None when the family has nothing to say of this pod anywhere (Skip). The state must
    not change while a check is in use. The pod is judged as not yet placed: callers take it out of the state first.
    """

    family: Family

    def prepare(self, pod: Pod, state: State) -> Check | Verdict | None:
        """Ready a check of `pod` against the nodes of `state`."""
        ...
