"""Split a problem into parts that share no pod, node or rule; each is solved alone and the bounds add up."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem, rule_groups


@dataclass(frozen=True, eq=False)
class Component:
    """A part as a problem of its own, and where its pods and nodes stand in the whole."""

    problem: Problem
    pods: IntArray
    nodes: IntArray


def components(problem: Problem) -> tuple[Component, ...]:
    """The connected components, largest first; a class that no pod may enter or is on is a component of its own."""
    label = _labels(problem)
    size = problem.num_classes
    found = sorted(set(label[:size].tolist()), key=lambda i: (-int((label[problem.node_class] == i).sum()), i))
    if len(found) == 1:
        return (Component(problem, np.arange(problem.num_pods), np.arange(problem.num_nodes)),)
    return tuple(_part(problem, label == i) for i in found)


def _labels(problem: Problem) -> IntArray:
    """[class …, group …] → component."""
    size = problem.num_classes
    parent = list(range(size + problem.num_groups))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    def join(items: Iterable[int]) -> None:
        roots = sorted({find(i) for i in items})
        for root in roots[1:]:
            parent[root] = roots[0]

    linked = problem.feasible | (problem.now_class > 0)
    for g in range(problem.num_groups):
        join([size + g, *np.flatnonzero(linked[g]).tolist()])
    for rule in problem.rules:
        eligible = sorted(rule.eligible) if isinstance(rule, Spread) else []
        join([*(size + g for g in sorted(rule_groups(rule))), *eligible])
    return np.array([find(i) for i in range(len(parent))], dtype=np.int64)


def _part(problem: Problem, member: BoolArray) -> Component:
    size = problem.num_classes
    classes, groups = np.flatnonzero(member[:size]), np.flatnonzero(member[size:])
    nodes = np.flatnonzero(member[:size][problem.node_class])
    pods = np.flatnonzero(member[size:][problem.pod_group])
    class_index, group_index, node_index = (
        _inverse(kept, count)
        for kept, count in ((classes, size), (groups, problem.num_groups), (nodes, problem.num_nodes))
    )
    inside = set(groups.tolist())
    rules = tuple(_reindex(r, group_index, class_index) for r in problem.rules if rule_groups(r) <= inside)
    part = replace(
        problem,
        node_names=tuple(problem.node_names[n] for n in nodes.tolist()),
        price=problem.price[nodes],
        priced=problem.priced[nodes],
        node_class=class_index[problem.node_class[nodes]],
        capacity=problem.capacity[nodes],
        must_keep=problem.must_keep[nodes],
        request=problem.request[groups],
        request_floor=problem.request_floor[groups],
        feasible=problem.feasible[np.ix_(groups, classes)],
        resident=problem.resident[groups],
        left_out=problem.left_out[groups],
        pod_keys=tuple(problem.pod_keys[p] for p in pods.tolist()),
        pod_group=group_index[problem.pod_group[pods]],
        pod_node=_moved(problem.pod_node[pods], node_index),
        pod_seat=_moved(problem.pod_seat[pods], node_index),
        pod_pinned=problem.pod_pinned[pods],
        pod_weight=problem.pod_weight[pods],
        domain=problem.domain[:, nodes],
        rules=rules,
    )
    return Component(part, pods, nodes)


def _inverse(kept: IntArray, size: int) -> IntArray:
    index = np.full(size, -1, dtype=np.int64)
    index[kept] = np.arange(len(kept))
    return index


def _moved(nodes: IntArray, index: IntArray) -> IntArray:
    return np.where(nodes >= 0, index[np.maximum(nodes, 0)], -1)


def _reindex(rule: Rule, groups: IntArray, classes: IntArray) -> Rule:
    def to_group(old: frozenset[int]) -> frozenset[int]:
        return frozenset(int(groups[g]) for g in old)

    match rule:
        case CapPerDomain() | Gang():
            return replace(rule, members=to_group(rule.members))
        case Exclude():
            return replace(rule, left=to_group(rule.left), right=to_group(rule.right))
        case Require():
            return replace(rule, dependents=to_group(rule.dependents), anchors=to_group(rule.anchors))
        case Spread():
            eligible = frozenset(int(classes[c]) for c in rule.eligible)
            return replace(rule, movers=to_group(rule.movers), counted=to_group(rule.counted), eligible=eligible)
