"""Rules while pods move: what each admits now, and whether the state it is in could have been reached.

A rule binds pods that arrive, never pods that stay, so every tracker also counts the arrivals in each domain.
"""

from abc import ABC, abstractmethod

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem, eligible_nodes


class Tracker(ABC):
    """Counts of one rule per domain, updated pod by pod."""

    def __init__(self, problem: Problem, rule: Rule) -> None:
        self.domain = problem.domains_of(rule.key)
        self.size = max(1, int(self.domain.max(initial=-1)) + 1)

    def _zeros(self) -> IntArray:
        return np.zeros(self.size, dtype=np.int64)

    @abstractmethod
    def admits(self, group: int, nodes: IntArray) -> BoolArray:
        """[node] whether a pod of the group may arrive there as things are."""

    @abstractmethod
    def shift(self, group: int, node: int, by: int, arrived: bool) -> None:
        """Count a pod of the group in (`by` 1) or out (−1) of a node; `arrived` when it is not at its home."""

    def holds(self) -> bool:
        """Whether arrivals so far could all have been admitted, given where everything is now."""
        return True

    def watch(self, kept: BoolArray, changes: list[int]) -> None:
        """Given the array of kept nodes once, and a number that goes up whenever it changes."""
        return


class CapTracker(Tracker):
    """At most `limit` members in a domain."""

    def __init__(self, problem: Problem, rule: CapPerDomain) -> None:
        super().__init__(problem, rule)
        self.limit = rule.limit
        self.count = self._zeros()

    def admits(self, group: int, nodes: IntArray) -> BoolArray:
        """A node without the key is in no domain and therefore free."""
        domain = self.domain[nodes]
        return np.asarray((domain < 0) | (self.count[domain] < self.limit))

    def shift(self, group: int, node: int, by: int, arrived: bool) -> None:
        """One count a domain."""
        domain = self.domain[node]
        if domain >= 0:
            self.count[domain] += by


class ExcludeTracker(Tracker):
    """No arrival where the other side is."""

    def __init__(self, problem: Problem, rule: Exclude) -> None:
        super().__init__(problem, rule)
        self.left, self.right = rule.left, rule.right
        self.count = (self._zeros(), self._zeros())

    def admits(self, group: int, nodes: IntArray) -> BoolArray:
        """Both sides at once (a group that excludes itself) must find the domain empty of either."""
        domain = self.domain[nodes]
        free = np.ones(len(nodes), dtype=bool)
        for side, other in ((self.left, 1), (self.right, 0)):
            if group in side:
                free &= (domain < 0) | (self.count[other][domain] == 0)
        return free

    def shift(self, group: int, node: int, by: int, arrived: bool) -> None:
        """A group may count on both sides."""
        domain = self.domain[node]
        if domain < 0:
            return
        for index, side in enumerate((self.left, self.right)):
            if group in side:
                self.count[index][domain] += by


class RequireTracker(Tracker):
    """A dependent arrives only where an anchor is; the first of a self-matching group may start anywhere."""

    def __init__(self, problem: Problem, rule: Require) -> None:
        super().__init__(problem, rule)
        self.rule = rule
        self.anchors, self.firm, self.arrived = self._zeros(), self._zeros(), self._zeros()

    def admits(self, group: int, nodes: IntArray) -> BoolArray:
        """Nodes without the key never satisfy affinity."""
        domain = self.domain[nodes]
        if group not in self.rule.dependents:
            return np.ones(len(nodes), dtype=bool)
        if self.rule.self_start and group in self.rule.anchors and not self.anchors.any():
            return np.asarray(domain >= 0)
        return np.asarray((domain >= 0) & (self.anchors[domain] > 0))

    def shift(self, group: int, node: int, by: int, arrived: bool) -> None:
        """`firm` anchors stay, or depend on nobody: they alone can have been there before the first dependent."""
        domain = self.domain[node]
        if domain < 0:
            return
        dependent = group in self.rule.dependents
        if group in self.rule.anchors:
            self.anchors[domain] += by
            self.firm[domain] += by if not (dependent and arrived) else 0
        if dependent and arrived:
            self.arrived[domain] += by

    def holds(self) -> bool:
        """Each domain with arrivals has a firm anchor, or is the one place where an empty group started anew."""
        loose = (self.arrived > 0) & (self.firm == 0)
        if not loose.any():
            return True
        return self.rule.self_start and not self.firm.any() and int(loose.sum()) == 1


class SpreadTracker(Tracker):
    """Skew at most `max_skew` wherever a mover arrives; domains are those that keep an eligible node.

    On the way there a drained node counts until it is removed, which is for waves and the referee to see to.
    """

    def __init__(self, problem: Problem, rule: Spread) -> None:
        super().__init__(problem, rule)
        self.rule = rule
        self.eligible = eligible_nodes(problem, rule)
        self.count, self.arrived = self._zeros(), self._zeros()
        self._kept: BoolArray = self.eligible
        self._changes, self._seen = [0], -1
        self._present: IntArray = self._zeros()[:0]

    def watch(self, kept: BoolArray, changes: list[int]) -> None:
        """Only domains with an eligible kept node are left; worked out when next asked."""
        self._kept, self._changes, self._seen = kept, changes, -1

    def _least(self) -> int:
        if self._seen != self._changes[0]:
            self._seen = self._changes[0]
            self._present = np.flatnonzero(np.bincount(self.domain[self.eligible & self._kept]))
        few = self.rule.min_domains is not None and len(self._present) < self.rule.min_domains
        return 0 if few or not len(self._present) else int(self.count[self._present].min())

    def admits(self, group: int, nodes: IntArray) -> BoolArray:
        """Nodes without the key are rejected for movers."""
        if group not in self.rule.movers:
            return np.ones(len(nodes), dtype=bool)
        domain = self.domain[nodes]
        room = self._least() + self.rule.max_skew - int(self.rule.self_match)
        return np.asarray((domain >= 0) & (self.count[domain] <= room))

    def shift(self, group: int, node: int, by: int, arrived: bool) -> None:
        """Pods on nodes that are not eligible are not counted."""
        if not self.eligible[node]:
            return
        if group in self.rule.counted:
            self.count[self.domain[node]] += by
        if arrived and group in self.rule.movers:
            self.arrived[self.domain[node]] += by

    def holds(self) -> bool:
        """Held to the end state: stricter than the scheduler, which looks only at the moment of arrival."""
        full = self.count[self.arrived > 0]
        return not len(full) or int(full.max()) <= self._least() + self.rule.max_skew


class GangTracker(Tracker):
    """Members share one domain once any of them moves."""

    def __init__(self, problem: Problem, rule: Gang) -> None:
        super().__init__(problem, rule)
        self.count, self.arrived = self._zeros(), 0

    def admits(self, group: int, nodes: IntArray) -> BoolArray:
        """Where all members are, or anywhere while none is placed; nowhere while they are apart."""
        domain = self.domain[nodes]
        taken = self.count > 0
        if not taken.any():
            return np.asarray(domain >= 0)
        return np.asarray((domain >= 0) & taken[domain] & (int(taken.sum()) == 1))

    def shift(self, group: int, node: int, by: int, arrived: bool) -> None:
        """Count members and arrivals."""
        if self.domain[node] >= 0:
            self.count[self.domain[node]] += by
        self.arrived += by if arrived else 0

    def holds(self) -> bool:
        """One domain, or nobody moved."""
        return self.arrived == 0 or int((self.count > 0).sum()) <= 1


def track(problem: Problem, rule: Rule) -> Tracker:
    """The tracker of a rule, counting nothing yet."""
    match rule:
        case CapPerDomain():
            return CapTracker(problem, rule)
        case Exclude():
            return ExcludeTracker(problem, rule)
        case Require():
            return RequireTracker(problem, rule)
        case Spread():
            return SpreadTracker(problem, rule)
        case Gang():
            return GangTracker(problem, rule)
