"""Rules on counts say exactly what Filter says, at every step from an empty cluster.

At each state that the scheduler reaches, a pod may go to a node if and only if the class pair is feasible on the empty
node, there is room, and every rule admits it; so Cap and Exclude hold in all reached states.
"""

from collections.abc import Iterable

from hypothesis import event, given, settings
from hypothesis import strategies as st

from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.rules import rules
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread
from ksolver_cli.normalise.classes import classify
from tests.property.clusters import HOST, clusters

Placement = list[tuple[Pod, Node]]


class Counts:
    """An oracle: a placement as counts of classes by domain, and what each kind of rule makes of one pod more."""

    def __init__(self, classes: Classes, placement: Placement, nodes: Iterable[Node]) -> None:
        self.classes = classes
        self.placement = placement
        self.nodes = tuple(nodes)

    def among(self, members: frozenset[int], key: str, domain: str, on: frozenset[int] | None = None) -> int:
        return sum(
            self.classes.pod_class_of[pod.key] in members
            for pod, node in self.placement
            if node.labels.get(key) == domain and (on is None or self.classes.node_class_of[node.name] in on)
        )

    def admits(self, rule: Rule, pod: Pod, node: Node) -> bool:
        cls, domain = self.classes.pod_class_of[pod.key], node.labels.get(rule.key)
        if isinstance(rule, CapPerDomain):
            return cls not in rule.members or domain is None or self.among(rule.members, rule.key, domain) < rule.limit
        if isinstance(rule, Exclude):
            others = (rule.right if cls in rule.left else frozenset()) | (
                rule.left if cls in rule.right else frozenset()
            )
            return domain is None or not self.among(others, rule.key, domain)
        if isinstance(rule, Require):
            return cls not in rule.dependents or self.is_met(rule, domain)
        if isinstance(rule, Spread):
            return cls not in rule.movers or self.keeps_skew(rule, domain)
        return isinstance(rule, Gang)

    def is_met(self, rule: Require, domain: str | None) -> bool:
        return domain is not None and bool(self.among(rule.anchors, rule.key, domain))

    def keeps_skew(self, rule: Spread, domain: str | None) -> bool:
        eligible = {n.labels[rule.key] for n in self.nodes if self.classes.node_class_of[n.name] in rule.eligible}
        counts = {name: self.among(rule.counted, rule.key, name, rule.eligible) for name in eligible}
        least = min(counts.values()) if counts and len(counts) >= (rule.min_domains or 1) else 0
        return domain is not None and counts.get(domain, 0) + rule.self_match - least <= rule.max_skew

    def none_anywhere(self, group: list[Require]) -> bool:
        """A first pod may start its group: no anchor in any domain of any of its terms, and it matches them itself."""
        return all(
            rule.self_start
            and not any(
                self.classes.pod_class_of[pod.key] in rule.anchors and rule.key in node.labels
                for pod, node in self.placement
            )
            for rule in group
        )

    def all_admit(self, posted: tuple[Rule, ...], pod: Pod, node: Node) -> bool:
        cls = self.classes.pod_class_of[pod.key]
        needs = [rule for rule in posted if isinstance(rule, Require) and cls in rule.dependents]
        starts = bool(needs) and self.none_anywhere(needs) and all(rule.key in node.labels for rule in needs)
        return all(self.admits(rule, pod, node) for rule in posted if not (starts and isinstance(rule, Require)))


def has_room(pod: Pod, node: Node, placement: Placement) -> bool:
    here = [other for other, at in placement if at is node]
    if len(here) + 1 > node.allocatable["pods"]:
        return False
    wanted = pod.spec.requests["cpu"]
    return not wanted or wanted + sum(other.spec.requests["cpu"] for other in here) <= node.allocatable["cpu"]


def named_by_host(cluster: Cluster) -> bool:
    """Host ports are the node's own affair; rules can say so only where every node has its own hostname label."""
    return all(node.labels.get(HOST) == node.name for node in cluster.nodes)


@settings(max_examples=250, deadline=None)
@given(clusters().filter(named_by_host), st.randoms(use_true_random=False))
def test_rules_admit_what_filter_admits(cluster: Cluster, random: object) -> None:
    classes = classify(cluster)
    posted, feasible = rules(cluster, classes), static_feasibility(cluster, classes)
    state, placement = State(cluster), Placement()
    waiting = list(cluster.pods)
    random.shuffle(waiting)
    for pod in waiting:
        counts, judge, fits = Counts(classes, placement, cluster.nodes), prepare(pod, state), []
        for node in cluster.nodes:
            static = feasible[classes.pod_class_of[pod.key], classes.node_class_of[node.name]]
            ours = bool(static) and has_room(pod, node, placement) and counts.all_admit(posted, pod, node)
            assert ours == judge.passes(node.name), (pod.key, node.name, judge.objections(node.name))
            fits += [node] if ours else []
        if fits:
            chosen = random.choice(fits)
            state.add(pod, chosen.name)
            placement.append((pod, chosen))
    event("rules of " + ", ".join(sorted({type(rule).__name__ for rule in posted})))
    assert_caps_hold(Counts(classes, placement, cluster.nodes), posted)


def assert_caps_hold(counts: Counts, posted: tuple[Rule, ...]) -> None:
    for rule in posted:
        domains = {node.labels[rule.key] for node in counts.nodes if rule.key in node.labels}
        for domain in domains:
            if isinstance(rule, CapPerDomain):
                assert counts.among(rule.members, rule.key, domain) <= rule.limit
            if isinstance(rule, Exclude):
                sides = [counts.among(side, rule.key, domain) for side in (rule.left, rule.right)]
                assert not all(sides)


@settings(max_examples=100, deadline=None)
@given(clusters())
def test_every_rule_names_the_object_it_came_from(cluster: Cluster) -> None:
    owners = {f"{pod.workload.namespace}/{pod.workload.name}" for pod in cluster.pods if pod.workload}
    for rule in rules(cluster, classify(cluster)):
        assert rule.source.source.name in owners
        assert rule.source.source.detail
