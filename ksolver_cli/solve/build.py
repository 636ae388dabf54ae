"""From a cluster to a `Problem`: groups, refined node classes, capacities, and rules on groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.constraints.rules.post import rules
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, Resources
from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread
from ksolver_cli.normalise.classes import classify
from ksolver_cli.solve.demand import split_waiting
from ksolver_cli.solve.options import NO_OPTIONS, Options
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem, rule_groups

SLOTS = "pods"
DEFAULT_SCHEDULER = "default-scheduler"


@dataclass(frozen=True)
class Pins:
    """What may not change. `waiting`: keys of the pending pods that are demand; None to find those that fit today."""

    pods: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()
    weights: Mapping[str, int] = field(default_factory=dict)
    waiting: frozenset[str] | None = None


@dataclass(frozen=True)
class Model:
    """A cluster as classes, which class fits which while empty ([pod class, node class]), and its count rules."""

    cluster: Cluster
    classes: Classes
    feasible: BoolArray
    rules: tuple[Rule, ...]


def build(model: Model, prices: Mapping[str, int | None], pins: Pins, options: Options = NO_OPTIONS) -> Problem:
    """The instance to solve. `prices` are micro-dollars an hour by node name, None or absent where unknown.

    Bound pods keep their place unless moved; DaemonSet and static pods are taken off their node's capacity and vanish
    with it; pods in `pins`, and pods on nodes that no machine stands behind, may not move. Virtual nodes take nothing.
    """
    return _Builder(model, prices, pins, options).problem()


GroupKey = tuple[int, bool, tuple[int, ...]]


def model_of(cluster: Cluster, options: Options = NO_OPTIONS) -> Model:
    """Classify a cluster and ask the constraint families about it."""
    classes = classify(cluster)
    feasible = static_feasibility(cluster, classes, ignore=options.ignored_families())
    return Model(cluster, classes, feasible, rules(cluster, classes))


class _Builder:
    def __init__(self, model: Model, prices: Mapping[str, int | None], pins: Pins, options: Options) -> None:
        self.model, self.prices, self.pins, self.options = model, prices, pins, options
        self.nodes = model.cluster.nodes
        self.index = {node.name: i for i, node in enumerate(self.nodes)}
        self.rules = tuple(rule for rule in model.rules if options.keeps(rule))
        self.ruled = frozenset(c for rule in self.rules for c in rule_groups(rule))
        self.pods = [p for p in model.cluster.pods if self._is_modelled(p)]
        self.resources = _resources(self.pods)

    def _is_modelled(self, pod: Pod) -> bool:
        if pod.key not in self.model.classes.pod_class_of:
            return False
        if pod.is_bound:
            return pod.node_name in self.index
        waiting = not pod.is_finished and not pod.deleting and not pod.is_daemon
        schedulable = pod.spec.scheduler_name == DEFAULT_SCHEDULER and not pod.spec.scheduling_gates
        return waiting and schedulable and (self.pins.waiting is None or pod.key in self.pins.waiting)

    def _vector(self, amounts: Resources) -> list[int]:
        return [1 if name == SLOTS else amounts.get(name, 0) for name in self.resources]

    def _group_of(self, pod: Pod) -> GroupKey:
        held = self._vector(pod.held)
        changed = tuple(held) if held != self._vector(pod.spec.requests) else ()
        return self.model.classes.pod_class_of[pod.key], _is_resident(pod), changed

    def problem(self) -> Problem:
        """Assemble."""
        daemons = self._daemon_load()
        node_class, class_of_domain = self._node_classes(daemons)
        shown = [p for p in self.pods if not _is_resident(p) or self._class(p) in self.ruled]
        groups: dict[GroupKey, int] = {}
        pod_group = np.array([groups.setdefault(self._group_of(p), len(groups)) for p in shown], dtype=np.int64)
        rules = self._group_rules(groups, class_of_domain)
        keys = tuple(sorted({rule.key for rule in rules}))
        request, request_floor = self._requests(groups)
        pod_node = np.array([self.index[p.node_name] if p.is_bound else -1 for p in shown], dtype=np.int64)
        pinned = np.array([self._is_pinned(p) for p in shown], dtype=bool)
        problem = Problem(
            resources=self.resources,
            node_names=tuple(node.name for node in self.nodes),
            price=np.array([self.prices.get(n.name) or 0 for n in self.nodes], dtype=np.int64),
            priced=np.array([self.prices.get(n.name) is not None for n in self.nodes], dtype=bool),
            node_class=node_class,
            capacity=self._capacity() - daemons,
            must_keep=self._must_keep(pod_node[pinned]),
            request=request,
            request_floor=request_floor,
            feasible=self._feasible(groups, class_of_domain),
            resident=np.array([resident for _, resident, _ in groups], dtype=bool),
            left_out=np.zeros(len(groups), dtype=np.int64),
            pod_keys=tuple(p.key for p in shown),
            pod_group=pod_group,
            pod_node=pod_node,
            pod_seat=pod_node,
            pod_pinned=pinned,
            pod_weight=np.array([max(1, self.pins.weights.get(p.key, 1)) for p in shown], dtype=np.int64),
            keys=keys,
            domain=_domains(self.nodes, keys),
            rules=rules,
        )
        return split_waiting(problem, np.array([p.spec.priority for p in shown], dtype=np.int64))

    def _class(self, pod: Pod) -> int:
        return self.model.classes.pod_class_of[pod.key]

    def _is_pinned(self, pod: Pod) -> bool:
        if not pod.is_bound or _is_resident(pod):
            return False
        return pod.key in self.pins.pods or self.nodes[self.index[pod.node_name]].is_virtual

    def _must_keep(self, pinned_nodes: IntArray) -> BoolArray:
        free = [n.name not in self.pins.nodes and not n.is_virtual for n in self.nodes]
        priced = [self.prices.get(n.name) is not None for n in self.nodes]
        keep: BoolArray = ~np.array(free, dtype=bool) | ~np.array(priced, dtype=bool)
        keep[pinned_nodes] = True
        return keep

    def _daemon_load(self) -> IntArray:
        load = np.zeros((len(self.nodes), len(self.resources)), dtype=np.int64)
        for pod in self.pods:
            if _is_resident(pod) and pod.is_bound:
                load[self.index[pod.node_name]] += self._vector(pod.held)
        return load

    def _capacity(self) -> IntArray:
        factors = [(name, self.options.factor(name)) for name in self.resources]
        rows = [[int(node.allocatable.get(name, 0) * factor) for name, factor in factors] for node in self.nodes]
        return np.array(rows, dtype=np.int64).reshape(len(self.nodes), len(self.resources))

    def _node_classes(self, daemons: IntArray) -> tuple[IntArray, list[int]]:
        """[n] refined class, and for each the domain's class: equal price and daemon overhead within the class.

        Where daemons differ on too many nodes (a rollout caught midway) overhead no longer splits classes; bounds then
        take the least of each class.
        """
        base = [self.model.classes.node_class_of[node.name] for node in self.nodes]
        prices = [self.prices.get(node.name) for node in self.nodes]
        fine = [(b, p, d.tobytes()) for b, p, d in zip(base, prices, daemons, strict=True)]
        coarse = [(b, p, b"") for b, p in zip(base, prices, strict=True)]
        chosen = fine if len(set(fine)) <= 2 * len(set(coarse)) + 8 else coarse
        known: dict[tuple[int, int | None, bytes], int] = {}
        index = np.array([known.setdefault(key, len(known)) for key in chosen], dtype=np.int64)
        return index, [b for b, _, _ in known]

    def _requests(self, groups: Mapping[GroupKey, int]) -> tuple[IntArray, IntArray]:
        shape = (len(groups), len(self.resources))
        most, least = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        for (pod_class, resident, changed), g in groups.items():
            if resident:
                continue
            fresh = np.array(self._vector(self.model.classes.pods[pod_class].sample.spec.requests), dtype=np.int64)
            held = np.array(changed, dtype=np.int64) if changed else fresh
            most[g], least[g] = np.maximum(fresh, held), np.minimum(fresh, held)
        return most, least

    def _feasible(self, groups: Mapping[GroupKey, int], class_of_domain: list[int]) -> BoolArray:
        rows = np.array([pod_class for pod_class, _, _ in groups], dtype=np.int64)
        table = self.model.feasible[np.ix_(rows, np.array(class_of_domain, dtype=np.int64))]
        virtual = np.array([self.model.classes.nodes[c].sample.is_virtual for c in class_of_domain], dtype=bool)
        open_to: BoolArray = np.asarray(table & ~virtual[None, :], dtype=np.bool_)
        return open_to.reshape(len(groups), len(class_of_domain))

    def _group_rules(self, groups: Mapping[GroupKey, int], class_of_domain: list[int]) -> tuple[Rule, ...]:
        by_class: dict[int, list[int]] = {}
        for (pod_class, _, _), g in groups.items():
            by_class.setdefault(pod_class, []).append(g)
        refined: dict[int, list[int]] = {}
        for c, b in enumerate(class_of_domain):
            refined.setdefault(b, []).append(c)
        mapped = [_on_groups(rule, by_class, refined) for rule in self.rules]
        return tuple(rule for rule in mapped if rule_groups(rule))


def _is_resident(pod: Pod) -> bool:
    return pod.is_daemon or pod.is_static


def _resources(pods: Sequence[Pod]) -> tuple[str, ...]:
    asked = {name for p in pods for amounts in (p.spec.requests, p.held) for name, v in amounts.items() if v > 0}
    return ("cpu", "memory", SLOTS, *sorted(asked - {"cpu", "memory", SLOTS}))


def _domains(nodes: Sequence[Node], keys: tuple[str, ...]) -> IntArray:
    table = np.full((len(keys), len(nodes)), -1, dtype=np.int64)
    for row, key in enumerate(keys):
        known: dict[str, int] = {}
        for n, node in enumerate(nodes):
            value = node.labels.get(key)
            if value is not None:
                table[row, n] = known.setdefault(value, len(known))
    return table


def _mapper(index: Mapping[int, Sequence[int]]) -> Callable[[frozenset[int]], frozenset[int]]:
    return lambda members: frozenset(new for old in members for new in index.get(old, ()))


def _on_groups(rule: Rule, by_class: Mapping[int, Sequence[int]], refined: Mapping[int, Sequence[int]]) -> Rule:
    groups, classes = _mapper(by_class), _mapper(refined)
    match rule:
        case CapPerDomain() | Gang():
            return replace(rule, members=groups(rule.members))
        case Exclude():
            return replace(rule, left=groups(rule.left), right=groups(rule.right))
        case Require():
            return replace(rule, dependents=groups(rule.dependents), anchors=groups(rule.anchors))
        case Spread():
            eligible = classes(rule.eligible)
            return replace(rule, movers=groups(rule.movers), counted=groups(rule.counted), eligible=eligible)
