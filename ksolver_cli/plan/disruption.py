"""How much moving a pod disturbs: the second tier after cost, and what a move budget counts."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from ksolver_cli.constraints.budgets import Budgets
from ksolver_cli.constraints.eviction import DO_NOT_DISRUPT, parse_time
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod

Weights = npt.NDArray[np.int64]

ORDINARY = 1
SINGLE_REPLICA = 3
"""Added for a workload of one: it is away while it moves."""
STATEFUL = 2
"""Added for a StatefulSet's pod: it comes back only after it is gone, with its volumes detached."""
TIGHT_BUDGET = 2
"""Added where a budget lets only one pod go at a time."""
LONG_RUNNING = 4
"""Added for a pod of a Job that has run for a day: its work starts over."""
ONCE_PROTECTED = 3
"""Added where a do-not-disrupt duration has run out."""
_DAY = timedelta(days=1)


def move_weights(cluster: Cluster, pods: Sequence[Pod]) -> Weights:
    """Weight of one move of each pod, at least 1."""
    sizes = Counter(str(p.workload) for p in pods if p.workload is not None)
    budgets, now = Budgets(cluster), parse_time(cluster.collected_at)
    return np.array([_weight(p, sizes, budgets, now) for p in pods], dtype=np.int64)


def _weight(pod: Pod, sizes: Counter[str], budgets: Budgets, now: datetime | None) -> int:
    weight = ORDINARY
    if pod.workload is not None and sizes[str(pod.workload)] == 1:
        weight += SINGLE_REPLICA
    if pod.controller is not None and pod.controller.kind == "StatefulSet":
        weight += STATEFUL
    if any(b.allowed <= 1 for b in budgets.of(pod)):
        weight += TIGHT_BUDGET
    if _is_long_job(pod, now):
        weight += LONG_RUNNING
    if DO_NOT_DISRUPT in pod.annotations:
        weight += ONCE_PROTECTED
    return weight


def _is_long_job(pod: Pod, now: datetime | None) -> bool:
    if pod.controller is None or pod.controller.kind != "Job" or now is None:
        return False
    born = parse_time(pod.created)
    return born is not None and now - born > _DAY
