"""Which taints a pod tolerates."""

from collections.abc import Iterable

from ksolver_cli.domain.node import Taint
from ksolver_cli.domain.pod import Effect, Toleration

UNSCHEDULABLE_TAINT = Taint("node.kubernetes.io/unschedulable", "", Effect.NO_SCHEDULE)
"""What the node controller puts on a cordoned node."""

HARD_EFFECTS = frozenset({Effect.NO_SCHEDULE, Effect.NO_EXECUTE})


def is_cordon(taint: Taint) -> bool:
    """Whether the node controller put the taint there because the node is cordoned."""
    return (taint.key, taint.effect) == (UNSCHEDULABLE_TAINT.key, UNSCHEDULABLE_TAINT.effect)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers the taint.

    The operators Gt and Lt need the gate TaintTolerationComparisonOperators, which is off by default up to 1.37: they
    cover nothing.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether any toleration covers the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def first_untolerated(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Taint | None:
    """The first NoSchedule or NoExecute taint that no toleration covers."""
    for taint in taints:
        if taint.effect in HARD_EFFECTS and not is_tolerated(taint, tolerations):
            return taint
    return None
