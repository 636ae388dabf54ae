"""The instance a solver works on: counts, integer vectors and rules; no Kubernetes object is left in it."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, eq=False)
class Problem:
    """Nodes n in classes c, pods p in groups g, resources k, topology keys t.

    `rules` are the domain's, with members as group indices and `eligible` as node *class* indices of this problem.
    All numbers are exact integers: money in micro-dollars an hour, resources in the domain's units.
    """

    resources: tuple[str, ...]
    node_names: tuple[str, ...]
    price: IntArray
    """[n], micro-dollars an hour; 0 where unpriced."""
    priced: BoolArray
    """[n]; unpriced nodes carry no dollars and are always kept, since removing one proves no saving."""
    node_class: IntArray
    """[n] → class: same price, capacity, pod feasibility and domains of every key that is not host-like."""
    capacity: IntArray
    """[n, k] allocatable minus what daemons hold, after headroom and overcommit; below today's load where the node is
    overloaded.
    """
    must_keep: BoolArray
    """[n] nodes that may not be removed: unpriced, control plane, or holding a pod that may not move."""
    request: IntArray
    """[g, k] what a pod takes where it is placed; the larger of bound and fresh requests where they differ."""
    request_floor: IntArray
    """[g, k] the smaller of the two: what the bound may count on."""
    feasible: BoolArray
    """[g, c] whether the Filter phase admits a pod of g on an otherwise empty node of c."""
    resident: BoolArray
    """[g] daemons that some rule sees: they vanish with their node and need no other home."""
    left_out: IntArray
    """[g] pending pods that fit nowhere today: no demand, but spread counts them should they ever come."""
    pod_keys: tuple[str, ...]
    pod_group: IntArray
    pod_node: IntArray
    """[p] node today, −1 for pending pods that fit today and therefore are demand."""
    pod_seat: IntArray
    """[p] a node that each pod has or can have today without any other moving: `pod_node`, or where it fits."""
    pod_pinned: BoolArray
    pod_weight: IntArray
    """[p] disruption weight of one move, ≥ 1."""
    keys: tuple[str, ...] = ()
    domain: IntArray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    """[t, n] index of the node's domain of key t, −1 where the node lacks the label."""
    rules: tuple[Rule, ...] = ()

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.node_names)

    @property
    def num_groups(self) -> int:
        """Number of pod groups."""
        return int(self.request.shape[0])

    @property
    def num_pods(self) -> int:
        """Number of pods, pinned and resident ones included."""
        return len(self.pod_keys)

    @cached_property
    def num_classes(self) -> int:
        """Number of node classes."""
        return int(self.feasible.shape[1])

    @cached_property
    def class_nodes(self) -> tuple[IntArray, ...]:
        """Node indices of each class."""
        return tuple(np.flatnonzero(self.node_class == c) for c in range(self.num_classes))

    @cached_property
    def class_price(self) -> IntArray:
        """[c] price of one node of the class."""
        return np.array([self.price[n[0]] if len(n) else 0 for n in self.class_nodes], dtype=np.int64)

    @cached_property
    def class_capacity(self) -> IntArray:
        """[c, k] the largest capacity in the class (daemon overhead at its least), which keeps bounds valid."""
        rows = [self.capacity[n].max(axis=0) for n in self.class_nodes]
        return np.array(rows, dtype=np.int64).reshape(self.num_classes, len(self.resources))

    @cached_property
    def now_class(self) -> IntArray:
        """[g, c] pods per group and node class today."""
        table = np.zeros((self.num_groups, self.num_classes), dtype=np.int64)
        bound = self.pod_node >= 0
        np.add.at(table, (self.pod_group[bound], self.node_class[self.pod_node[bound]]), 1)
        return table

    @cached_property
    def group_pods(self) -> tuple[IntArray, ...]:
        """Pod indices of each group."""
        order = np.argsort(self.pod_group, kind="stable")
        sizes = np.bincount(self.pod_group, minlength=self.num_groups)
        return tuple(np.split(order, np.cumsum(sizes)[:-1])) if self.num_groups else ()

    def pods_in(self, groups: frozenset[int]) -> IntArray:
        """Indices of all pods of the groups."""
        parts = [self.group_pods[g] for g in sorted(groups)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)

    @cached_property
    def demand(self) -> IntArray:
        """[g] pods that need a place; residents need none."""
        counts = np.bincount(self.pod_group, minlength=self.num_groups).astype(np.int64)
        return np.where(self.resident, 0, counts)

    @cached_property
    def load_now(self) -> IntArray:
        """[n, k] what today's pods hold, daemons apart."""
        return self.load(self.pod_node)

    @cached_property
    def cost_now(self) -> int:
        """Micro-dollars an hour of all priced nodes today."""
        return int(self.price.sum())

    @cached_property
    def key_index(self) -> dict[str, int]:
        """Topology key → row of `domain`."""
        return {key: index for index, key in enumerate(self.keys)}

    def load(self, node_of: IntArray) -> IntArray:
        """[n, k] what the pods hold when pod p sits on `node_of[p]`."""
        load = np.zeros((self.num_nodes, len(self.resources)), dtype=np.int64)
        placed = node_of >= 0
        np.add.at(load, node_of[placed], self.request[self.pod_group[placed]])
        return load

    def cost(self, kept: BoolArray) -> int:
        """Micro-dollars an hour of the kept nodes."""
        return int(self.price[kept].sum())

    def domains_of(self, key: str) -> IntArray:
        """[n] domain index of each node for the key, −1 without the label."""
        return np.asarray(self.domain[self.key_index[key]])

    @cached_property
    def class_domain(self) -> IntArray:
        """[t, c] the domain that all nodes of the class share; −1 where there is none, −2 where they differ."""
        table = np.full((len(self.keys), self.num_classes), -1, dtype=np.int64)
        for c, nodes in enumerate(self.class_nodes):
            if len(nodes):
                inside = self.domain[:, nodes]
                table[:, c] = np.where((inside == inside[:, :1]).all(axis=1), inside[:, 0], -2)
        return table

    def is_host_key(self, key: str) -> bool:
        """Whether no two nodes share a domain of the key."""
        return key in self.host_keys

    @cached_property
    def host_keys(self) -> frozenset[str]:
        """The keys of which no two nodes share a domain."""
        rows = ((key, row[row >= 0]) for key, row in zip(self.keys, self.domain, strict=True))
        return frozenset(key for key, found in rows if len(np.unique(found)) == len(found))


def rule_groups(rule: Rule) -> frozenset[int]:
    """Every group the rule looks at."""
    match rule:
        case CapPerDomain() | Gang():
            return rule.members
        case Exclude():
            return rule.left | rule.right
        case Require():
            return rule.dependents | rule.anchors
        case Spread():
            return rule.movers | rule.counted


def eligible_nodes(problem: Problem, rule: Spread) -> BoolArray:
    """[n] nodes whose domains count for the spread rule."""
    classes = np.zeros(problem.num_classes, dtype=bool)
    classes[list(rule.eligible)] = True
    return np.asarray(classes[problem.node_class] & (problem.domains_of(rule.key) >= 0))
