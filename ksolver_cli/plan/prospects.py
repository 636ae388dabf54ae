"""What a drain may take: nodes that could go, the pods on them, what they cost and how much moving them disturbs."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ksolver_cli.constraints.eviction import eviction_blockers, must_move, node_blockers
from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Phase, Pod
from ksolver_cli.domain.verdict import Family
from ksolver_cli.plan.disruption import move_weights
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.replay.run import Drain, Replayer

Micros = npt.NDArray[np.int64]


class Prospects:
    """A board with prices: which nodes may be removed, and the pods that would have to move."""

    def __init__(self, cluster: Cluster, classes: Classes, prices_micros: Mapping[str, int | None]) -> None:
        feasible = static_feasibility(cluster, classes, ignore=(Family.NODE_UNSCHEDULABLE,))
        waiting = waiting_that_fit(cluster, classes, feasible)
        self.feasible = feasible
        self.board = Board(cluster, classes, feasible, waiting)
        self.replayer = Replayer(self.board)
        self.price: Micros = np.array([prices_micros.get(n.name) or 0 for n in cluster.nodes], dtype=np.int64)
        """Micro-dollars an hour; 0 where unpriced."""
        self.pods_on = self._pods_on()
        self.weight = move_weights(cluster, self.board.pods)
        """What moving each pod counts against a move budget; 1 for an ordinary pod."""
        self.removable = self._removable(prices_micros)

    def _pods_on(self) -> tuple[IntArray, ...]:
        rows: list[list[int]] = [[] for _ in self.board.cluster.nodes]
        for index, pod in enumerate(self.board.pods):
            if must_move(pod):
                rows[self.board.pod_node[index]].append(index)
        return tuple(np.array(row, dtype=np.intp) for row in rows)

    def _removable(self, prices_micros: Mapping[str, int | None]) -> BoolArray:
        """Nodes with a price above 0, nothing that keeps them, and no pod on them that may not be evicted.

        Budgets are asked for one pod at a time: evictions go one by one, and each replacement pays its budget back.
        """
        cluster = self.board.cluster
        seats = self.board.pod_index
        pinned = {self.board.pods[seats[key]].node_name for key in eviction_blockers(cluster) if key in seats}
        kept = pinned | set(node_blockers(cluster, prices_micros))
        free = [n.name not in kept for n in cluster.nodes]
        return np.array(free, dtype=bool) & (self.price > 0)

    def pods_of(self, nodes: Iterable[int]) -> IntArray:
        """Pods that must move when these nodes go."""
        rows = [self.pods_on[n] for n in nodes]
        return np.concatenate(rows) if rows else np.zeros(0, dtype=np.intp)

    def saving(self, nodes: Sequence[int]) -> int:
        """Micro-dollars an hour that these nodes cost."""
        return int(self.price[list(nodes)].sum())


def waiting_that_fit(cluster: Cluster, classes: Classes, feasible: BoolArray) -> frozenset[str]:
    """Keys of pending pods that the scheduler would place today, with nothing evicted."""
    waiting = frozenset(p.key for p in cluster.pods if _is_waiting(p))
    if not waiting:
        return waiting
    board = Board(cluster, classes, feasible, waiting)
    run = Replayer(board).run(Drain((), np.zeros(0, dtype=np.intp), ()), seed=0)
    return frozenset(run.newcomers)


def _is_waiting(pod: Pod) -> bool:
    if pod.phase is not Phase.PENDING or pod.node_name or pod.deleting or pod.is_daemon or pod.is_static:
        return False
    return not pod.spec.scheduling_gates and pod.spec.scheduler_name == "default-scheduler"
