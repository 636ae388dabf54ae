"""Who is where at one moment of a replay, as arrays: free room, load, and the counts of every tally."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ksolver_cli.constraints.matching.taints import is_cordon
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.plan.replay.compiling.compiler import LOAD_ROWS, Compiler, allocatable, score_requests
from ksolver_cli.plan.replay.images import Images
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.mover import Mover, Numbers
from ksolver_cli.plan.replay.tallies import Counts


@dataclass(eq=False)
class Occupancy:
    """What changes while pods come and go.

    `cells` has a row for what is free of each resource, then `LOAD_ROWS` rows of what is requested. `tainted` are nodes
    with the taint that the node controller gives to cordoned ones: a snapshot may show a node that lacks it still.
    """

    cells: Numbers
    counts: Counts
    cordoned: BoolArray
    tainted: BoolArray
    alive: BoolArray

    def copy(self) -> "Occupancy":
        """An independent copy."""
        flags = (self.cordoned.copy(), self.tainted.copy(), self.alive.copy())
        return Occupancy(self.cells.copy(), self.counts.copy(), *flags)

    def cordon(self, nodes: Iterable[int]) -> None:
        """Cordon nodes; the taint follows."""
        for node in nodes:
            self.cordoned[node] = self.tainted[node] = True


class Board:
    """A cluster made ready for replays: what never changes, the movers, and today's occupancy."""

    def __init__(
        self, cluster: Cluster, classes: Classes, feasible: BoolArray, waiting: frozenset[str] = frozenset()
    ) -> None:
        """Compile every class that has a pod which could be evicted; `feasible` is [pod class, node class].

        `waiting` are keys of pending pods that a replay places first: they fit today and must keep their room.
        """
        self.cluster = cluster
        self.classes = classes
        compiler = Compiler(cluster, classes, feasible)
        self.shape = compiler.shape
        self.book = compiler.book
        self.node_index = {n.name: i for i, n in enumerate(cluster.nodes)}
        self.pods = tuple(p for p in cluster.pods if p.is_bound and p.node_name in self.node_index)
        self.pod_index = {p.key: i for i, p in enumerate(self.pods)}
        self.pod_class: IntArray = np.array([classes.pod_class_of[p.key] for p in self.pods], dtype=np.intp)
        self.pod_node: IntArray = np.array([self.node_index[p.node_name] for p in self.pods], dtype=np.intp)
        self.residents = self._residents()
        self.allocatable = allocatable(cluster, self.shape)
        self.movers: dict[int, Mover] = {
            c.index: compiler.mover(c.index)
            for c in classes.pods
            if not all(p.is_daemon or p.is_static or p.is_finished for p in c.members)
        }
        self._reborn: dict[int, Pod] = {}
        self.updates = self.book.of_class(len(classes.pods))
        self.node_updates = self.book.of_nodes()
        self.waiting = tuple(p for p in cluster.pods if p.key in waiting)
        self.images = Images(cluster.nodes)
        self.start = self._today()

    def _residents(self) -> list[list[int]]:
        """Per node: pods that vanish with it (daemons, static pods)."""
        rows: list[list[int]] = [[] for _ in self.cluster.nodes]
        for index, pod in enumerate(self.pods):
            if pod.is_daemon or pod.is_static:
                rows[self.pod_node[index]].append(index)
        return rows

    def reborn(self, index: int) -> Pod:
        """The pod as its controller creates it anew: bound to no node."""
        if index not in self._reborn:
            self._reborn[index] = replace(self.pods[index], node_name="", nominated_node="")
        return self._reborn[index]

    def held(self, index: int) -> Numbers:
        """What a bound pod takes from the cells of its node."""
        pod = self.pods[index]
        mover = self.movers.get(int(self.pod_class[index]))
        if mover is not None and pod.requests_bound is None:
            return mover.delta
        return self.shape.vector(pod.held, *score_requests(pod.spec, pod.held))

    def _today(self) -> Occupancy:
        count = len(self.cluster.nodes)
        cells = np.zeros((len(self.shape.resources) + LOAD_ROWS, count), dtype=np.float64)
        cells[: len(self.shape.resources)] = self.allocatable
        for index, node in enumerate(self.pod_node):
            cells[:, node] += self.held(index)
        terminating = np.array([p.deleting for p in self.pods], dtype=bool)
        counts = self.book.initial(self.pod_class, self.pod_node, terminating, len(self.classes.pods))
        cordoned = np.array([n.unschedulable for n in self.cluster.nodes], dtype=bool)
        tainted = np.array([any(map(is_cordon, n.taints)) for n in self.cluster.nodes], dtype=bool)
        return Occupancy(cells, counts, cordoned, tainted, np.ones(count, dtype=bool))

    def count(self, occupancy: Occupancy, pod_class: int, node: int, sign: int) -> None:
        """Count a pod of the class on the node, or no longer."""
        counts = occupancy.counts
        for offset, slots, weight in self.updates[pod_class]:
            slot = slots[node]
            if slot >= 0:
                counts[offset + slot] += weight * sign

    def leave(self, occupancy: Occupancy, index: int, node: int) -> None:
        """Take a pod off the node it was bound to."""
        occupancy.cells[:, node] -= self.held(index)
        self.count(occupancy, int(self.pod_class[index]), node, -1)

    def arrive(self, occupancy: Occupancy, mover: Mover, node: int) -> None:
        """Put a new pod of the class on the node."""
        occupancy.cells[:, node] += mover.delta
        self.count(occupancy, mover.index, node, 1)

    def depart(self, occupancy: Occupancy, mover: Mover, node: int) -> None:
        """Take a pod off the node it had moved to."""
        occupancy.cells[:, node] -= mover.delta
        self.count(occupancy, mover.index, node, -1)

    def back(self, occupancy: Occupancy, index: int, node: int) -> None:
        """Put a pod back where it was bound, as if it had never left."""
        occupancy.cells[:, node] += self.held(index)
        self.count(occupancy, int(self.pod_class[index]), node, 1)

    def remove_node(self, occupancy: Occupancy, node: int, left: list[Pod]) -> None:
        """Take the node out, with the pods still there (daemons, static pods)."""
        occupancy.alive[node] = False
        self._count_node(occupancy, node, left, -1)

    def restore_node(self, occupancy: Occupancy, node: int, left: list[Pod]) -> None:
        """Put the node back, with the pods that were taken out with it."""
        occupancy.alive[node] = True
        self._count_node(occupancy, node, left, 1)

    def _count_node(self, occupancy: Occupancy, node: int, left: list[Pod], sign: int) -> None:
        for pod in left:
            if not pod.deleting:
                self.count(occupancy, self.classes.pod_class_of[pod.key], node, sign)
        for offset, slots in self.node_updates:
            if slots[node] >= 0:
                occupancy.counts[offset + slots[node]] += sign
