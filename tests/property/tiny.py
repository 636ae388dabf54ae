"""Tiny instances with every kind of rule, and two oracles that try everything."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, RuleSource, Spread
from ksolver_cli.domain.verdict import Family, ObjectRef
from ksolver_cli.solve.demand import split_waiting
from ksolver_cli.solve.problem import Problem

SOURCE = RuleSource(Family.POD_TOPOLOGY_SPREAD, ObjectRef("Test", "tiny"))
HOST, ZONE = "host", "zone"


def tiny_problem(random: Random, max_nodes: int = 4, max_pods: int = 7, gangs: bool = True) -> Problem:
    """A random instance; today's state may break rules, overload nodes, hold pinned, resident and pending pods."""
    classes = random.randint(1, 3)
    nodes = random.randint(1, max_nodes)
    groups = random.randint(1, 3)
    pods = random.randint(1, max_pods)
    zone_of_class = [random.choice((0, 0, 1, 1, 2, -1)) for _ in range(classes)]
    price_of_class = [random.choice((0, 3, 5, 5, 7)) for _ in range(classes)]
    size_of_class = [(random.randint(3, 8), random.randint(2, 5)) for _ in range(classes)]
    node_class = [random.randrange(classes) for _ in range(nodes)]
    used = sorted(set(node_class))
    node_class = [used.index(c) for c in node_class]
    capacity = [[size_of_class[used[c]][0] - (random.random() < 0.1), size_of_class[used[c]][1]] for c in node_class]
    request = [[random.choice((0, 1, 2, 3, 4)), 1] for _ in range(groups)]
    resident = [groups > 1 and random.random() < 0.1 for _ in range(groups)]
    if all(resident):
        resident[0] = False
    feasible = [[random.random() < 0.8 for _ in used] for _ in range(groups)]
    pod_group = [random.randrange(groups) for _ in range(pods)]
    pod_node = [random.choice([*range(nodes), *range(nodes), -1]) for _ in range(pods)]
    pod_node = [
        random.randrange(nodes) if resident[g] and n < 0 else n for g, n in zip(pod_group, pod_node, strict=True)
    ]
    pinned = [n >= 0 and not resident[g] and random.random() < 0.1 for g, n in zip(pod_group, pod_node, strict=True)]
    price = [price_of_class[used[c]] for c in node_class]
    keep = [random.random() < 0.05 or p == 0 for p in price]
    for node, pin in zip(pod_node, pinned, strict=True):
        keep[node] = keep[node] or (pin and node >= 0)
    domain = [list(range(nodes)), [zone_of_class[used[c]] for c in node_class]]
    rules = tuple(_rule(random, groups, feasible, gangs) for _ in range(random.randint(0, 3)))
    amounts = np.array([[0, 0] if r else q for r, q in zip(resident, request, strict=True)], dtype=np.int64)
    problem = Problem(
        resources=("cpu", "pods"),
        node_names=tuple(f"n{i}" for i in range(nodes)),
        price=np.array(price, dtype=np.int64),
        priced=np.array(price, dtype=np.int64) > 0,
        node_class=np.array(node_class, dtype=np.int64),
        capacity=np.array(capacity, dtype=np.int64),
        must_keep=np.array(keep, dtype=bool),
        request=amounts,
        request_floor=amounts,
        feasible=np.array(feasible, dtype=bool).reshape(groups, len(used)),
        resident=np.array(resident, dtype=bool),
        left_out=np.zeros(groups, dtype=np.int64),
        pod_keys=tuple(f"a/p{i}" for i in range(pods)),
        pod_group=np.array(pod_group, dtype=np.int64),
        pod_node=np.array(pod_node, dtype=np.int64),
        pod_seat=np.array(pod_node, dtype=np.int64),
        pod_pinned=np.array(pinned, dtype=bool),
        pod_weight=np.ones(pods, dtype=np.int64),
        keys=(HOST, ZONE),
        domain=np.array(domain, dtype=np.int64),
        rules=rules,
    )
    return split_waiting(problem, np.zeros(pods, dtype=np.int64))


def _rule(random: Random, groups: int, feasible: list[list[bool]], gangs: bool) -> Rule:
    key = random.choice((HOST, ZONE))
    first = frozenset(random.sample(range(groups), random.randint(1, groups)))
    second = frozenset(random.sample(range(groups), random.randint(1, groups)))
    kind = random.randrange(6 if gangs else 5)
    if kind == 0:
        return CapPerDomain(SOURCE, key, first, random.choice((1, 1, 2)))
    if kind == 1 and first.isdisjoint(second):
        return Exclude(SOURCE, key, first, second)
    if kind == 2:
        return Require(SOURCE, key, first, second, self_start=first <= second)
    if kind == 5:
        return Gang(SOURCE, HOST, frozenset([min(first)]))
    entered = {c for g in first | second for c, ok in enumerate(feasible[g]) if ok}
    others = {c for c in range(len(feasible[0])) if random.random() < 0.7}
    counted = first if random.random() < 0.7 else second
    movers = first if first <= counted else first - counted
    skew, least = random.choice((1, 1, 2, 3)), random.choice((None, None, None, 2))
    return Spread(SOURCE, key, movers, counted, skew, least, frozenset(entered | others), movers <= counted)


@dataclass(frozen=True)
class Board:
    """A state: kept nodes and the node of each pod (−1: waiting for one). Plain Python; shares nothing with solve."""

    problem: Problem
    kept: tuple[bool, ...]
    at: tuple[int, ...]

    def groups_in(self, key: str, domain: int, groups: frozenset[int], only: frozenset[int] | None = None) -> int:
        """Pods of the groups in the domain, on nodes of `only` if given."""
        row = self.problem.domain[self.problem.keys.index(key)]
        return sum(
            1
            for pod, node in enumerate(self.at)
            if node >= 0
            and row[node] == domain
            and int(self.problem.pod_group[pod]) in groups
            and (only is None or node in only)
        )

    def has_room(self, group: int, node: int) -> bool:
        """Whether one more pod of the group fits by resources; what it does not ask for is not looked at."""
        for k in range(len(self.problem.resources)):
            asked = int(self.problem.request[group][k])
            held = sum(
                int(self.problem.request[self.problem.pod_group[p]][k]) for p, n in enumerate(self.at) if n == node
            )
            if asked and held + asked > int(self.problem.capacity[node][k]):
                return False
        return True

    def admits(self, group: int, node: int) -> bool:
        """The Filter phase for a pod that is not on the board yet."""
        problem = self.problem
        if not self.kept[node] or not problem.feasible[group][problem.node_class[node]]:
            return False
        return self.has_room(group, node) and all(self._allows(rule, group, node) for rule in problem.rules)

    def _allows(self, rule: Rule, group: int, node: int) -> bool:
        domain = int(self.problem.domain[self.problem.keys.index(rule.key)][node])
        match rule:
            case CapPerDomain():
                inside = group in rule.members and domain >= 0
                return not inside or self.groups_in(rule.key, domain, rule.members) < rule.limit
            case Exclude():
                if domain < 0:
                    return True
                clash = [(rule.left, rule.right), (rule.right, rule.left)]
                return not any(group in mine and self.groups_in(rule.key, domain, theirs) for mine, theirs in clash)
            case Require():
                return group not in rule.dependents or self._is_accompanied(rule, group, domain)
            case Spread():
                return group not in rule.movers or self._is_even(rule, domain)
            case Gang():
                return True

    def _is_accompanied(self, rule: Require, group: int, domain: int) -> bool:
        if domain < 0:
            return False
        row = self.problem.domain[self.problem.keys.index(rule.key)]
        anywhere = any(self.groups_in(rule.key, d, rule.anchors) for d in {int(d) for d in row if d >= 0})
        if rule.self_start and group in rule.anchors and not anywhere:
            return True
        return self.groups_in(rule.key, domain, rule.anchors) > 0

    def _is_even(self, rule: Spread, domain: int) -> bool:
        if domain < 0:
            return False
        problem = self.problem
        row = problem.domain[problem.keys.index(rule.key)]
        eligible = frozenset(
            n for n, c in enumerate(problem.node_class.tolist()) if self.kept[n] and c in rule.eligible
        )
        domains = {int(row[n]) for n in eligible if row[n] >= 0}
        counts = {d: self.groups_in(rule.key, d, rule.counted, eligible) for d in domains}
        least = min(counts.values(), default=0)
        if rule.min_domains is not None and len(domains) < rule.min_domains:
            least = 0
        return counts.get(domain, 0) + int(rule.self_match) - least <= rule.max_skew

    @property
    def cost(self) -> int:
        """Price of the kept nodes."""
        return sum(int(p) for p, k in zip(self.problem.price, self.kept, strict=True) if k)


def today(problem: Problem) -> Board:
    """Everything as it is; pending pods wait."""
    return Board(problem, (True,) * problem.num_nodes, tuple(problem.pod_node.tolist()))


def _needs_home(problem: Problem, pod: int) -> bool:
    return not bool(problem.resident[problem.pod_group[pod]])


def kept_sets(problem: Problem) -> Iterator[tuple[bool, ...]]:
    """Every set of nodes that may remain, cheapest first."""
    free = [n for n in range(problem.num_nodes) if not problem.must_keep[n]]
    sets = []
    for size in range(len(free) + 1):
        for gone in combinations(free, size):
            kept = tuple(n not in gone for n in range(problem.num_nodes))
            sets.append((sum(int(problem.price[n]) for n in range(problem.num_nodes) if kept[n]), kept))
    yield from (kept for _, kept in sorted(sets, key=lambda s: (s[0], s[1])))


def end_state_optimum(problem: Problem) -> int:
    """Cheapest end state in which every pod stays or would be admitted as the last to come."""
    for kept in kept_sets(problem):
        at = tuple(-1 if n >= 0 and not kept[n] else n for n in problem.pod_node.tolist())
        base = Board(
            problem,
            kept,
            tuple(n if not _needs_home(problem, p) or problem.pod_pinned[p] else -1 for p, n in enumerate(at)),
        )
        pods = [p for p in range(problem.num_pods) if _needs_home(problem, p) and not problem.pod_pinned[p]]
        if _complete(base, pods):
            return base.cost
    raise AssertionError("today is an end state")


def _complete(board: Board, pods: list[int]) -> bool:
    if not pods:
        return _is_sound(board)
    problem, pod = board.problem, pods[0]
    for node in range(problem.num_nodes):
        stays = node == problem.pod_node[pod]
        if not board.kept[node] or not (stays or problem.feasible[problem.pod_group[pod]][problem.node_class[node]]):
            continue
        at = (*board.at[:pod], node, *board.at[pod + 1 :])
        if _complete(Board(problem, board.kept, at), pods[1:]):
            return True
    return False


def _is_sound(board: Board) -> bool:
    """Each arrival, taken off and put back, is admitted; gangs are together."""
    problem = board.problem
    for pod, node in enumerate(board.at):
        if node == problem.pod_node[pod] or node < 0:
            continue
        without = Board(problem, board.kept, (*board.at[:pod], -1, *board.at[pod + 1 :]))
        if not without.admits(int(problem.pod_group[pod]), node):
            return False
    gangs = [rule for rule in problem.rules if isinstance(rule, Gang)]
    return all(_together(board, rule) for rule in gangs)


def _together(board: Board, rule: Gang) -> bool:
    problem = board.problem
    members = [
        p for p in range(problem.num_pods) if int(problem.pod_group[p]) in rule.members and _needs_home(problem, p)
    ]
    moved = any(board.at[p] != board.problem.pod_node[p] for p in members)
    return not moved or len({board.at[p] for p in members}) <= 1


def reachable_optimum(problem: Problem, limit: int = 60_000) -> int | None:
    """Cheapest state without waiting pods that any order of evictions, arrivals and node removals reaches.

    Pods of a group are alike, so states are counts. None when there are too many states to try.
    """
    start = _canonical(today(problem))
    seen, frontier, best = {start}, [start], today(problem).cost
    while frontier:
        board = _board(problem, frontier.pop())
        if board.cost < best and all(n >= 0 or not _needs_home(problem, p) for p, n in enumerate(board.at)):
            best = board.cost
        for follower in _followers(board):
            mark = _canonical(follower)
            if mark not in seen:
                seen.add(mark)
                frontier.append(mark)
        if len(seen) > limit:
            return None
    return best


Mark = tuple[tuple[bool, ...], tuple[int, ...]]


def _canonical(board: Board) -> Mark:
    """Movable pods of one group sorted among themselves."""
    problem = board.problem
    at = list(board.at)
    for g in range(problem.num_groups):
        pods = [p for p in range(problem.num_pods) if problem.pod_group[p] == g and not problem.pod_pinned[p]]
        if problem.resident[g]:
            continue
        for pod, node in zip(pods, sorted(at[p] for p in pods), strict=True):
            at[pod] = node
    return board.kept, tuple(at)


def _board(problem: Problem, mark: Mark) -> Board:
    return Board(problem, mark[0], mark[1])


def _followers(board: Board) -> Iterator[Board]:
    problem = board.problem
    for pod, node in enumerate(board.at):
        if problem.pod_pinned[pod] or not _needs_home(problem, pod):
            continue
        if node >= 0:
            yield Board(problem, board.kept, (*board.at[:pod], -1, *board.at[pod + 1 :]))
            continue
        for target in range(problem.num_nodes):
            if board.admits(int(problem.pod_group[pod]), target):
                yield Board(problem, board.kept, (*board.at[:pod], target, *board.at[pod + 1 :]))
    yield from _removals(board)


def _removals(board: Board) -> Iterator[Board]:
    problem = board.problem
    for node in range(problem.num_nodes):
        here = [p for p, n in enumerate(board.at) if n == node]
        if problem.must_keep[node] or not board.kept[node] or any(_needs_home(problem, p) for p in here):
            continue
        kept = (*board.kept[:node], False, *board.kept[node + 1 :])
        yield Board(problem, kept, tuple(-1 if n == node else n for n in board.at))
