"""A placement under construction: where each pod is, what each node holds, and what every rule counts."""

import numpy as np

from ksolver_cli.domain.rules import Gang
from ksolver_cli.solve.place.trackers import Tracker, track
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray, Problem, rule_groups

AWAY = -1


class State:
    """Pods on nodes. Starts as today's placement on the kept nodes; everything else is `AWAY` until placed.

    Overload is allowed on the way; `is_complete` says whether the state is a plan.
    """

    def __init__(self, problem: Problem, kept: BoolArray, staying: BoolArray) -> None:
        self.problem = problem
        self.kept = kept.copy()
        self.home = problem.pod_node
        self.limit = np.maximum(problem.capacity, problem.load_now)
        over: BoolArray = np.asarray((problem.load_now > problem.capacity).any(axis=1))
        self.open: BoolArray = ~over
        """[n] nodes that may receive pods: an overloaded one keeps what it has and takes nothing."""
        self.scale: FloatArray = 1.0 / np.maximum(problem.capacity.max(axis=0), 1).astype(float)
        self.node: IntArray = np.full(problem.num_pods, AWAY, dtype=np.int64)
        self.load: IntArray = np.zeros_like(problem.capacity)
        self.bound_together: frozenset[int] = frozenset(
            g for rule in problem.rules if isinstance(rule, Gang) for g in rule.members
        )
        together = np.zeros(problem.num_groups, dtype=bool)
        together[sorted(self.bound_together)] = True
        fixed = problem.pod_pinned | (problem.resident | together)[problem.pod_group]
        self._movable: list[bool] = (~fixed).tolist()
        self.trackers: tuple[Tracker, ...] = tuple(track(problem, rule) for rule in problem.rules)
        self.trackers_of: dict[int, list[int]] = {}
        self._changes = [0]
        for tracker in self.trackers:
            tracker.watch(self.kept, self._changes)
        for index, rule in enumerate(problem.rules):
            for g in rule_groups(rule):
                self.trackers_of.setdefault(g, []).append(index)
        self.ruled: BoolArray = np.zeros(problem.num_groups, dtype=bool)
        """[g] groups that some rule looks at."""
        self.ruled[list(self.trackers_of)] = True
        self._journal: list[tuple[int, int]] = []
        self.pods_on: list[set[int]] = [set() for _ in range(problem.num_nodes)]
        stay = staying & (self.home >= 0)
        stay = np.asarray(stay & kept[np.maximum(self.home, 0)])
        self._settle(np.flatnonzero(stay))

    def _settle(self, pods: IntArray) -> None:
        problem = self.problem
        self.node[pods] = self.home[pods]
        self.load = problem.load(self.node)
        for p in pods.tolist():
            self.pods_on[self.home[p]].add(p)
            for index in self.trackers_of.get(int(problem.pod_group[p]), ()):
                self.trackers[index].shift(int(problem.pod_group[p]), int(self.home[p]), 1, arrived=False)

    def keep(self, node: int, kept: bool) -> None:
        """Change whether a node is kept; its pods are the caller's to move."""
        self.kept[node] = kept
        self._changes[0] += 1

    def keep_again(self, node: int) -> None:
        """Keep a removed node after all; its residents are back on it."""
        problem = self.problem
        self.keep(node, True)
        for pod in np.flatnonzero((problem.pod_node == node) & problem.resident[problem.pod_group]).tolist():
            self.put(int(pod), node)

    def put(self, pod: int, node: int) -> None:
        """Place an `AWAY` pod."""
        self._journal.append((pod, AWAY))
        self._shift(pod, node, 1)
        self.node[pod] = node
        self.pods_on[node].add(pod)

    def take(self, pod: int) -> int:
        """Make a placed pod `AWAY`; returns the node it was on."""
        node = int(self.node[pod])
        self._journal.append((pod, node))
        self._shift(pod, node, -1)
        self.node[pod] = AWAY
        self.pods_on[node].discard(pod)
        return node

    def mark(self) -> int:
        """A point to roll back to."""
        return len(self._journal)

    def rollback(self, mark: int) -> None:
        """Undo every put and take since the mark."""
        while len(self._journal) > mark:
            pod, node = self._journal[-1]
            if self.node[pod] == AWAY:
                self.put(pod, node)
            else:
                self.take(pod)
            del self._journal[-2:]

    def forget(self) -> None:
        """Drop the journal; marks taken before are void."""
        self._journal.clear()

    def _shift(self, pod: int, node: int, by: int) -> None:
        group = int(self.problem.pod_group[pod])
        self.load[node] += by * self.problem.request[group]
        for index in self.trackers_of.get(group, ()):
            self.trackers[index].shift(group, node, by, arrived=node != self.home[pod])

    def admits(self, pod: int, nodes: IntArray) -> BoolArray:
        """[node] whether feasibility and rules (not room) admit the pod; its home is judged by the rules alone."""
        group = int(self.problem.pod_group[pod])
        allowed: BoolArray = self.problem.feasible[group][self.problem.node_class[nodes]] & self.open[nodes]
        allowed |= nodes == self.home[pod]
        allowed &= self.kept[nodes]
        for index in self.trackers_of.get(group, ()):
            allowed &= self.trackers[index].admits(group, nodes)
        return np.asarray(allowed)

    def rules_hold(self, pods: tuple[int, ...]) -> bool:
        """Whether every rule that looks at these pods still holds."""
        indices = {i for p in pods for i in self.trackers_of.get(int(self.problem.pod_group[p]), ())}
        return all(self.trackers[i].holds() for i in sorted(indices))

    def overload(self) -> FloatArray:
        """[n] how far each kept node is over, summed over resources as shares of the largest node."""
        over = np.maximum(self.load - self.limit, 0) * self.scale
        return np.asarray(over.sum(axis=1) * self.kept)

    def homeless(self) -> IntArray:
        """Pods without a place that need one."""
        need = ~self.problem.resident[self.problem.pod_group]
        return np.flatnonzero(need & (self.node == AWAY))

    def is_complete(self) -> bool:
        """Every pod placed, no node overloaded, every rule held."""
        if len(self.homeless()) or (self.load[self.kept] > self.limit[self.kept]).any():
            return False
        return all(t.holds() for t in self.trackers)

    def movable_on(self, node: int) -> list[int]:
        """Pods on the node that may be moved singly, in index order."""
        movable = self._movable
        return [p for p in sorted(self.pods_on[node]) if movable[p]]

    def moved(self) -> BoolArray:
        """[p] bound pods that are not at home."""
        return np.asarray((self.home >= 0) & (self.node != self.home) & ~self.problem.resident[self.problem.pod_group])
