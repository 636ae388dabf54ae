"""PodDisruptionBudgets: which pods they cover, and how many of these may be away at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter

from ksolver_cli.constraints.matching.index import LabelIndex, SelectorIndex
from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.pod import Phase, Pod, WorkloadRef


@dataclass(eq=False)
class BudgetState:
    """A budget and its counts: from its status where it has one, else as the disruption controller works them out.

    `allowed` is how many healthy pods may be evicted now; a replay lowers it with each eviction and raises it again
    when the replacement is ready.
    """

    budget: DisruptionBudget
    allowed: int
    healthy: int
    desired: int
    expected: int

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.budget.namespace}/{self.budget.name}"

    @property
    def why(self) -> str:
        """The counts as facts, for a blocker."""
        return f"allowed={self.allowed} healthy={self.healthy} desired={self.desired} expected={self.expected}"

    def is_free(self, pod: Pod) -> bool:
        """Whether evicting this pod costs the budget nothing: it is not ready, and the policy lets such pods go.

        Eviction API: with IfHealthyBudget a running pod that is not ready may go while as many as desired are healthy,
        with AlwaysAllow at any time; pods that are still pending always may.
        """
        if pod.phase is Phase.PENDING:
            return True
        if pod.ready:
            return False
        if self.budget.always_allow_unhealthy:
            return True
        return self.desired > 0 and self.healthy >= self.desired

    def lets_go(self, pod: Pod) -> bool:
        """Whether the Eviction API would let this pod go now."""
        return self.allowed > 0 or self.is_free(pod)


class Budgets:
    """Budgets of a cluster, and which cover a pod."""

    def __init__(self, cluster: Cluster) -> None:
        sizes = {w.ref: w.replicas for w in cluster.workloads if w.replicas is not None}
        self._index: SelectorIndex[tuple[int, BudgetState]] = SelectorIndex()
        for rank, state in enumerate(_states(cluster, sizes)):
            self._index.add(state.budget.namespace, state.budget.selector, (rank, state))

    def of(self, pod: Pod) -> tuple[BudgetState, ...]:
        """Every budget that covers the pod, in the cluster's order."""
        near = sorted(self._index.candidates(pod.namespace, pod.labels), key=itemgetter(0))
        return tuple(s for _, s in near if pod_matcher(s.budget.selector).matches(pod.labels))


def _states(cluster: Cluster, sizes: dict[WorkloadRef, int]) -> Iterator[BudgetState]:
    pods: LabelIndex[Pod] = LabelIndex()
    if any(budget.disruptions_allowed is None for budget in cluster.budgets):
        for pod in cluster.pods:
            if not pod.is_finished:
                pods.add(pod.namespace, pod.labels, pod)
    for budget in cluster.budgets:
        matches = pod_matcher(budget.selector).matches
        yield _state(
            budget, [p for p in pods.candidates(budget.namespace, budget.selector) if matches(p.labels)], sizes
        )


def _state(budget: DisruptionBudget, pods: list[Pod], sizes: dict[WorkloadRef, int]) -> BudgetState:
    if budget.disruptions_allowed is not None:
        return BudgetState(
            budget,
            budget.disruptions_allowed,
            budget.current_healthy or 0,
            budget.desired_healthy or 0,
            budget.expected_pods or 0,
        )
    healthy = sum(p.is_bound and p.ready and not p.deleting for p in pods)
    expected = _expected(budget, pods, sizes)
    desired = _desired(budget, expected)
    allowed = max(healthy - desired, 0) if expected > 0 else 0
    return BudgetState(budget, allowed, healthy, desired, expected)


def _expected(budget: DisruptionBudget, pods: list[Pod], sizes: dict[WorkloadRef, int]) -> int:
    """Pods the budget reckons with: those there are for a count in minAvailable, else the controllers' replicas."""
    if budget.max_unavailable is None and not (budget.min_available or "").endswith("%"):
        return len(pods)
    owners = {p.controller for p in pods if p.controller is not None}
    bare = sum(p.controller is None for p in pods)
    counted: Callable[[WorkloadRef], int] = lambda owner: sum(p.controller == owner for p in pods)  # noqa: E731
    return bare + sum(sizes.get(owner, 0) or counted(owner) for owner in owners)


def _desired(budget: DisruptionBudget, expected: int) -> int:
    """Healthy pods that must stay; percentages are rounded up, as the disruption controller does."""
    if budget.max_unavailable is not None:
        return max(expected - _share(budget.max_unavailable, expected), 0)
    return _share(budget.min_available or "1", expected)


def _share(value: str, whole: int) -> int:
    if value.endswith("%"):
        return -(-int(value[:-1]) * whole // 100)
    return int(value)
