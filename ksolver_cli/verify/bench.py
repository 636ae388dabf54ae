"""The referee's bench: one state of the cluster, changed step by step, with every objection written down."""

from dataclasses import dataclass, field, replace

from ksolver_cli.constraints.budgets import Budgets, BudgetState
from ksolver_cli.constraints.eviction import BlockerKind, eviction_blockers, must_move, node_blockers
from ksolver_cli.constraints.registry import judge, prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import Fault, FaultKind
from ksolver_cli.domain.pod import Phase, Pod
from ksolver_cli.domain.verdict import Rejection, Verdict

Waiting = tuple[Pod, str, tuple[BudgetState, ...]]
"""A replacement without a node, the node it is to come to, and the budgets that miss it."""
Likeness = tuple[int, str, frozenset[tuple[str, str]]]

_LIVE_KINDS = frozenset({BlockerKind.BUDGET})
"""Blockers that change while the plan is carried out; the bench follows the budgets itself."""


@dataclass(eq=False)
class Bench:
    """State, budgets and faults of one judgement."""

    cluster: Cluster
    state: State = field(init=False)
    budgets: Budgets = field(init=False)
    faults: list[Fault] = field(default_factory=list)
    step: int = 0

    def __post_init__(self) -> None:
        self.state = State(self.cluster)
        self.budgets = Budgets(self.cluster)
        self.pods = {p.key: p for p in self.cluster.pods if not p.is_finished}
        blockers = eviction_blockers(self.cluster)
        self.fixed = {k for k, found in blockers.items() if any(b.kind not in _LIVE_KINDS for b in found)}
        self.kept_nodes = set(node_blockers(self.cluster))

    def object(self, kind: FaultKind, pod: str = "", node: str = "", detail: str = "") -> None:
        """Write down an objection at this step."""
        self.faults.append(Fault(kind, self.step, pod, node, (), detail))

    def check_nodes(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The nodes among these that exist, each once; objections to unknown, repeated and protected ones."""
        seen: dict[str, None] = {}
        for name in names:
            if name not in self.state.nodes:
                self.object(FaultKind.UNKNOWN_OBJECT, node=name, detail="no such node")
            elif name in seen:
                self.object(FaultKind.UNKNOWN_OBJECT, node=name, detail="named twice")
            else:
                seen[name] = None
                if name in self.kept_nodes:
                    self.object(FaultKind.NOT_EVICTABLE, node=name, detail="the node may not be removed")
        return tuple(seen)

    def evict(self, pod: Pod, node: str) -> tuple[BudgetState, ...]:
        """Take the pod off its node; the budgets that were charged for it, to be paid back once it is ready again."""
        if pod.key in self.fixed or not must_move(pod):
            self.object(FaultKind.NOT_EVICTABLE, pod.key, node)
        charged = []
        for budget in self.budgets.of(pod):
            if not budget.lets_go(pod):
                self.object(FaultKind.BUDGET, pod.key, node, budget.key)
            if not budget.is_free(pod):
                charged.append(budget)
        for budget in charged:
            budget.allowed -= 1
            budget.healthy -= 1
        self.state.remove(pod)
        return tuple(charged)

    def place(self, pod: Pod, node: str, charged: tuple[BudgetState, ...]) -> None:
        """Put the pod's replacement on the node, with the objections of every family at this moment."""
        verdicts = judge(reborn(pod), node, self.state)
        if verdicts:
            kind = FaultKind.REJECTED if any(isinstance(v, Rejection) for v in verdicts) else FaultKind.UNKNOWN
            self.faults.append(Fault(kind, self.step, pod.key, node, verdicts))
        self.settle(pod, node, charged)

    def place_all(self, waiting: list[Waiting]) -> None:
        """Put replacements on their nodes in any order that works; what passes in none comes with its objections."""
        progress = True
        while waiting and progress:
            stuck = []
            for pod, node, charged in waiting:
                if self.objections(pod, node):
                    stuck.append((pod, node, charged))
                else:
                    self.settle(pod, node, charged)
            progress = len(stuck) < len(waiting)
            waiting = stuck
        for pod, node, charged in waiting:
            self.place(pod, node, charged)

    def settle(self, pod: Pod, node: str, charged: tuple[BudgetState, ...]) -> None:
        """Put the replacement on the node, ready, and pay the budgets back."""
        self.state.add(reborn(pod), node)
        for budget in charged:
            budget.allowed += 1
            budget.healthy += 1

    def objections(self, pod: Pod, node: str) -> tuple[Verdict, ...]:
        """What the families say of the pod's replacement on the node at this moment."""
        return judge(reborn(pod), node, self.state)

    def remove(self, node: str) -> None:
        """Remove the node; an objection for every pod on it that needs a home."""
        for pod in self.state.nodes[node].pods.values():
            if not (pod.is_daemon or pod.is_static):
                self.object(FaultKind.NODE_NOT_EMPTY, pod.key, node)
        self.state.remove_node(node)

    def waiting(self) -> list[Pod]:
        """Pending pods that could be scheduled: not gated, not daemons, of the default scheduler."""
        return [p for p in self.pods.values() if is_waiting(p)]

    def waiting_that_fit(self, placed: set[str]) -> dict[Likeness, Pod]:
        """Pending pods, one of each kind, that a node would take at this moment and that the plan gives no place."""
        kinds = {likeness(p): p for p in self.waiting() if p.key not in placed}
        found = {}
        for kind, pod in kinds.items():
            judged = prepare(pod, self.state)
            if any(judged.passes(name) for name in self.state.nodes):
                found[kind] = pod
        return found

    def check_waiting(self, fitted: dict[Likeness, Pod]) -> None:
        """An objection for each of these that fits nowhere any more: the plan took its room away."""
        for pod in fitted.values():
            judged = prepare(pod, self.state)
            if not any(judged.passes(name) for name in self.state.nodes):
                self.object(FaultKind.PENDING, pod.key, detail="fits before the plan, and not after it")


def likeness(pod: Pod) -> Likeness:
    """What two pending pods share that every family answers alike."""
    return id(pod.spec), pod.namespace, frozenset(pod.labels.items())


def is_waiting(pod: Pod) -> bool:
    """Whether the scheduler would take this pending pod up."""
    if pod.phase is not Phase.PENDING or pod.node_name or pod.deleting or pod.is_daemon or pod.is_static:
        return False
    return not pod.spec.scheduling_gates and pod.spec.scheduler_name == "default-scheduler"


def reborn(pod: Pod) -> Pod:
    """The pod as its controller creates it anew: bound to no node, with what its spec asks for."""
    return replace(pod, node_name="", nominated_node="", requests_bound=None)
