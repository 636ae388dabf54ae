"""Who is where at one moment of a replay, as arrays: free room, load, and the counts of every tally."""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ksolver_cli.constraints.matching.taints import is_cordon
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.plan.replay.compiling.compiler import LOAD_ROWS, Compiler, allocatable, score_requests
from ksolver_cli.plan.replay.images import Images
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.mover import Crew, Kind, Mover, Numbers, kind_of
from ksolver_cli.plan.replay.sampling import NodeOrder
from ksolver_cli.plan.replay.tallies import NOWHERE, Book, Counts

EVERY = slice(None)
KEPT = 4_000_000
"""Numbers in tables kept for the classes that came and went last."""


@dataclass(eq=False)
class Occupancy:
    """What changes while pods come and go, in one or more trials of the same drain.

    `state` is [trial, cell], so that a pod comes and goes with one update: it holds `cells`, [trial, row, node] with a
    row for what is free of each resource, then `LOAD_ROWS` rows of what is requested; and `counts`, [trial, tally].
    Nodes are cordoned and removed in all trials together. `tainted` are nodes with the taint that the node controller
    gives to cordoned ones: a snapshot may show a node that lacks it still.
    """

    state: Numbers
    rows: int
    cordoned: BoolArray
    tainted: BoolArray
    alive: BoolArray

    def __post_init__(self) -> None:
        nodes = len(self.alive)
        self.ids: IntArray = np.arange(len(self.state), dtype=np.intp)
        self.flat: Numbers = self.state.reshape(-1)
        self.width: int = self.state.shape[1]
        self.cells: Numbers = self.state[:, : self.rows * nodes].reshape(len(self.state), self.rows, nodes)
        self.counts: Counts = self.state[:, self.rows * nodes :]

    def copy(self, trials: int = 1) -> "Occupancy":
        """An independent copy of the first trial, so many times."""
        flags = (self.cordoned.copy(), self.tainted.copy(), self.alive.copy())
        return Occupancy(self.state[:1].repeat(trials, axis=0), self.rows, *flags)

    def cordon(self, nodes: Iterable[int]) -> None:
        """Cordon nodes; the taint follows."""
        for node in nodes:
            self.cordoned[node] = self.tainted[node] = True


class Updates:
    """What a pod of each class adds to which cells of the state; behind all classes, what a node itself adds."""

    def __init__(self, book: Book, deltas: Sequence[Numbers], width: int) -> None:
        """`deltas` has a row for each class; what counts nowhere goes to the last cell."""
        nodes, rows = book.num_nodes, len(deltas[0])
        tallies = book.rows(len(deltas) - 1)
        own = [np.arange(nodes) + row * nodes for row in range(rows)]
        columns: dict[int, int] = {}
        slots = list(own)
        most = rows + max(map(len, tallies))
        self._columns = np.zeros((len(deltas), most), dtype=np.intp)
        self._offsets = np.full((len(deltas), most), NOWHERE)
        self._amounts = np.zeros((len(deltas), most), dtype=np.float64)
        self._columns[:, :rows] = np.arange(rows)
        self._offsets[:, :rows] = 0
        self._amounts[:, :rows] = deltas
        for index, row in enumerate(tallies):
            for place, (where, offset, weight) in enumerate(row, rows):
                if id(where) not in columns:
                    columns[id(where)] = len(slots)
                    slots.append(where)
                self._columns[index, place] = columns[id(where)]
                self._offsets[index, place] = offset + rows * nodes
                self._amounts[index, place] = weight
        self._slots = np.stack(slots, axis=1)
        self._last = width - 1
        self._tables: dict[int, IntArray] = {}

    def amounts(self, classes: IntArray) -> Numbers:
        """[pod, …] what pods of these classes add."""
        return self._amounts.take(classes, axis=0)

    def add(self, now: Occupancy, classes: IntArray, trials: IntArray, nodes: IntArray, amounts: Numbers) -> None:
        """Add what a pod brings to a node in each of these trials; there is one class for all, or one a trial."""
        if len(classes) == 1:
            cells = self._table(int(classes[0])).take(nodes, axis=0)
        else:
            cells = self._slots[nodes[:, None], self._columns.take(classes, axis=0)]
            cells += self._offsets.take(classes, axis=0)
            np.minimum(cells, self._last, out=cells)
        cells += (trials * now.width)[:, None]
        now.flat[cells] += amounts

    def _table(self, pod_class: int) -> IntArray:
        """[node, …] the cells that a pod of this class adds to; the tables last used are kept."""
        table = self._tables.get(pod_class)
        if table is None:
            if len(self._tables) * self._slots.shape[0] * self._columns.shape[1] > KEPT:
                self._tables.clear()
            cells = self._slots[:, self._columns[pod_class]] + self._offsets[pod_class]
            table = self._tables[pod_class] = np.minimum(cells, self._last)
        return table


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
        self.images = Images(cluster.nodes)
        self.tree = NodeOrder(cluster.nodes)
        self._kind_of = self._kinds()
        self._taken: Numbers = self._all_held()
        self._has_odd = any(p.requests_bound is not None for p in self.pods)
        self._updates = self._all_updates()
        self.log: Numbers = np.array([math.log(size + 2) for size in range(len(cluster.nodes) + 2)])
        """ln(n + 2) by n."""
        self.offers: BoolArray = self.allocatable[:2] > 0
        """[CPU or memory, node] whether the node offers it."""
        self.offers_all = bool(self.offers.all())
        self.offered: Numbers = np.where(self.offers, self.allocatable[:2], 1.0)
        """[CPU or memory, node] what the node offers, 1 where that is nothing."""
        self.waiting = tuple(p for p in cluster.pods if p.key in waiting)
        self.start = self._today()

    def _all_held(self) -> Numbers:
        """[pod, row] what each bound pod takes."""
        rows = [self._held(index) for index in range(len(self.pods))]
        return np.array(rows, dtype=np.float64).reshape(-1, len(self.shape.resources) + LOAD_ROWS)

    def _all_updates(self) -> Updates:
        nothing = np.zeros(len(self.shape.resources) + LOAD_ROWS)
        movers = [self.movers.get(index) for index in range(len(self.classes.pods))]
        deltas = [nothing if mover is None else mover.delta for mover in movers]
        width = len(nothing) * len(self.cluster.nodes) + self.book.size + 1
        return Updates(self.book, [*deltas, nothing], width)

    def _kinds(self) -> dict[int, Kind]:
        """The kind of each pod class that has a mover."""
        found: dict[Hashable, list[Mover]] = {}
        for index, mover in self.movers.items():
            alone = mover.images and not self.images.is_empty
            found.setdefault(index if alone else kind_of(mover), []).append(mover)
        self.kinds: IntArray = np.full(len(self.classes.pods), -1, dtype=np.intp)
        """Per pod class: the number of its kind, −1 for those never evicted."""
        kinds: dict[int, Kind] = {}
        for number, movers in enumerate(found.values()):
            kind = Kind(movers)
            for mover in movers:
                self.kinds[mover.index] = number
                kinds[mover.index] = kind
        return kinds

    def crew(self, classes: Sequence[int]) -> Crew:
        """Pods of these classes, all of one kind and one a trial; a single one stands for all trials."""
        return self._kind_of[classes[0]].crew(classes)

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

    def _held(self, index: int) -> Numbers:
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
        np.add.at(cells.T, self.pod_node, self._taken)
        terminating = np.array([p.deleting for p in self.pods], dtype=bool)
        counts = self.book.initial(self.pod_class, self.pod_node, terminating, len(self.classes.pods))
        cordoned = np.array([n.unschedulable for n in self.cluster.nodes], dtype=bool)
        tainted = np.array([any(map(is_cordon, n.taints)) for n in self.cluster.nodes], dtype=bool)
        state = np.concatenate((cells.reshape(-1), counts))[None]
        return Occupancy(state, len(cells), cordoned, tainted, np.ones(count, dtype=bool))

    def leave(self, now: Occupancy, trials: IntArray, pods: IntArray, nodes: IntArray) -> None:
        """Take a pod off the node it was bound to, one in each of these trials."""
        self._updates.add(now, self.pod_class[pods], trials, nodes, -self._bound(pods))

    def back(self, now: Occupancy, trials: IntArray, pods: IntArray, nodes: IntArray) -> None:
        """Put a pod back where it was bound, as if it had never left."""
        self._updates.add(now, self.pod_class[pods], trials, nodes, self._bound(pods))

    def _bound(self, pods: IntArray) -> Numbers:
        amounts = self._updates.amounts(self.pod_class[pods])
        if self._has_odd:
            amounts[:, : self._taken.shape[1]] = self._taken[pods]
        return amounts

    def arrive(self, now: Occupancy, classes: IntArray, trials: IntArray, nodes: IntArray) -> None:
        """Put a new pod on a node in each of these trials; there is one class for all, or one a trial."""
        self._updates.add(now, classes, trials, nodes, self._updates.amounts(classes))

    def depart(self, now: Occupancy, classes: IntArray, trials: IntArray, nodes: IntArray) -> None:
        """Take a pod off the node it had moved to."""
        self._updates.add(now, classes, trials, nodes, -self._updates.amounts(classes))

    def remove_node(self, now: Occupancy, node: int) -> None:
        """Take the node out, with the pods still there (daemons, static pods)."""
        now.alive[node] = False
        self._count_node(now, node, -1.0)

    def restore_node(self, now: Occupancy, node: int) -> None:
        """Put the node back, with the pods that were taken out with it."""
        now.alive[node] = True
        self._count_node(now, node, 1.0)

    def _count_node(self, now: Occupancy, node: int, sign: float) -> None:
        """Counts follow; what is free on the node is looked at by nobody."""
        left = [int(self.pod_class[i]) for i in self.residents[node] if not self.pods[i].deleting]
        where = np.full(len(now.ids), node, dtype=np.intp)
        for pod_class in (*left, len(self.classes.pods)):
            amounts = self._updates.amounts(np.array([pod_class]))
            amounts[:, : now.rows] = 0.0
            self._updates.add(now, np.array([pod_class]), now.ids, where, amounts * sign)
