"""Judge a whole placement against a problem afresh, sharing nothing with the incremental bookkeeping."""

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem, eligible_nodes


def faults(problem: Problem, kept: BoolArray, node_of: IntArray) -> list[str]:
    """Everything wrong with the placement as an end state; empty when it is sound. Words for tests and logs only."""
    resident = problem.resident[problem.pod_group]
    live = ~resident | kept[np.maximum(problem.pod_node, 0)]
    node = np.where(resident, problem.pod_node, node_of)
    found: list[str] = []
    if (node[~resident] < 0).any():
        return ["a pod has no node"]
    if not kept[node[live]].all():
        found.append("a pod is on a removed node")
    if (problem.must_keep & ~kept).any():
        found.append("a node that must stay is removed")
    moved = live & (node != problem.pod_node)
    if (moved & problem.pod_pinned).any():
        found.append("a pinned pod is moved")
    arrivals = np.flatnonzero(moved)
    if not problem.feasible[problem.pod_group[arrivals], problem.node_class[node[arrivals]]].all():
        found.append("a pod is moved to a class that rejects it")
    load = problem.load(np.where(live, node, -1))
    over: BoolArray = np.asarray((load > problem.capacity).any(axis=1))
    if over[node[arrivals]].any() or (load[kept] > np.maximum(problem.capacity, problem.load_now)[kept]).any():
        found.append("a node is overloaded")
    for index, rule in enumerate(problem.rules):
        if not _holds(problem, rule, np.where(live, node, -1), moved, kept):
            found.append(f"rule {index} is broken: {rule}")
    return found


def _count(
    problem: Problem, rule: Rule, groups: frozenset[int], node: IntArray, only: BoolArray | None = None
) -> IntArray:
    domain = problem.domains_of(rule.key)
    pods = problem.pods_in(groups)
    if only is not None:
        pods = pods[only[pods]]
    where = node[pods]
    where = domain[where[where >= 0]]
    return np.bincount(where[where >= 0], minlength=int(domain.max(initial=-1)) + 1)


def _holds(problem: Problem, rule: Rule, node: IntArray, moved: BoolArray, kept: BoolArray) -> bool:
    match rule:
        case CapPerDomain():
            total = _count(problem, rule, rule.members, node)
            return bool((total[_count(problem, rule, rule.members, node, moved) > 0] <= rule.limit).all())
        case Exclude():
            left, right = (_count(problem, rule, side, node) for side in (rule.left, rule.right))
            arrived = _count(problem, rule, rule.left | rule.right, node, moved)
            return _apart(problem, rule, node, left, right, arrived)
        case Require():
            return _accompanied(problem, rule, node, moved)
        case Spread():
            return _even(problem, rule, node, moved, kept)
        case Gang():
            together = _count(problem, rule, rule.members, node)
            return not _count(problem, rule, rule.members, node, moved).any() or int((together > 0).sum()) <= 1


def _apart(problem: Problem, rule: Exclude, node: IntArray, left: IntArray, right: IntArray, arrived: IntArray) -> bool:
    both = rule.left & rule.right
    clash = (left > 0) & (right > 0) & (arrived > 0)
    if not both:
        return not clash.any()
    # A group on both sides excludes its own pods: a lone pod of it clashes with nobody.
    total = _count(problem, rule, rule.left | rule.right, node)
    return not (clash & (total > 1)).any()


def _accompanied(problem: Problem, rule: Require, node: IntArray, moved: BoolArray) -> bool:
    arrived = _count(problem, rule, rule.dependents, node, moved)
    firm = _count(problem, rule, rule.anchors, node, ~moved)
    firm = firm + _count(problem, rule, rule.anchors - rule.dependents, node, moved)
    alone = (arrived > 0) & (firm == 0)
    on_key = problem.domains_of(rule.key)[node[problem.pods_in(rule.dependents)]] >= 0
    if not on_key[moved[problem.pods_in(rule.dependents)]].all():
        return False
    return not alone.any() or (rule.self_start and not firm.any() and int(alone.sum()) == 1)


def _even(problem: Problem, rule: Spread, node: IntArray, moved: BoolArray, kept: BoolArray) -> bool:
    domain, eligible = problem.domains_of(rule.key), eligible_nodes(problem, rule) & kept
    inside = np.where((node >= 0) & eligible[np.maximum(node, 0)], node, -1)
    total = _count(problem, rule, rule.counted, inside)
    arrived = _count(problem, rule, rule.movers, inside, moved)
    present = np.flatnonzero(np.bincount(domain[eligible]))
    movers = problem.pods_in(rule.movers)
    if (domain[node[movers[moved[movers]]]] < 0).any():
        return False
    few = rule.min_domains is not None and len(present) < rule.min_domains
    least = 0 if few or not len(present) else int(total[present].min())
    full = total[arrived > 0]
    return not len(full) or int(full.max()) <= least + rule.max_skew
