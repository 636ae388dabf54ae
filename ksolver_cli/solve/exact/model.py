"""A CP-SAT model of one small component: pods of a group on a node as integers, nodes kept as booleans.

Rules bind every pod here, not only arrivals: stricter than the scheduler, so what it finds is a plan, and what it
proves is a bound only where no rule needs more than capacity, caps and exclusion.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from math import gcd

import numpy as np
from ortools.sat.python import cp_model

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Gang, Require, Rule, Spread
from ksolver_cli.solve.problem import BoolArray, IntArray, Problem, eligible_nodes
from ksolver_cli.solve.solution import Run

DETERMINISTIC_TIME = 2.0
SHARE = 0.3
"""Of the seconds left, what the guard grants."""
SUBSOLVERS = (
    "core",
    "default_lp",
    "max_lp",
    "no_lp",
    "pseudo_costs",
    "quick_restart",
    "quick_restart_no_lp",
    "reduced_costs",
)
"""Eight ways to search taken in turn by one thread: they beat one way on two cores, and taking turns is repeatable.

With several threads CP-SAT 9.15 ends the whole process (`Check failed: heuristics.fixed_search`) when one of them
solves the problem while another still loads it. Tasks are therefore handed out one at a time.
"""


@dataclass(frozen=True, eq=False)
class ExactResult:
    """Pods per group and node, nodes kept, and the proven bound of this model (micro-dollars an hour)."""

    count: IntArray | None
    kept: BoolArray | None
    bound: int
    infeasible: bool


def repeatable_solver(seed: int, deterministic_time: float) -> cp_model.CpSolver:
    """A solver that does the same work on every run, and never brings the process down."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.interleave_search = True
    solver.parameters.interleave_batch_size = 1
    solver.parameters.subsolvers.extend(SUBSOLVERS)
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = deterministic_time
    return solver


def solve_exactly(problem: Problem, floor: int, below: int, hint: IntArray, run: Run) -> ExactResult:
    """Search for a plan that costs less than `below` and, as is known, not less than `floor`.

    `hint` is the node of each pod in the best plan so far.
    """
    return _Exact(problem, floor, below).solve(hint, run)


def is_bound(problem: Problem) -> bool:
    """Whether what the model proves holds for every reachable state: nothing broken today, no order-dependent rule."""
    if any(isinstance(rule, Spread | Require | Gang) for rule in problem.rules):
        return False
    stuck = (~problem.feasible & (problem.now_class > 0))[~problem.resident].any()
    over = (problem.load_now > problem.capacity).any()
    same = np.array_equal(problem.request, problem.request_floor)
    return bool(same and not stuck and not over and not problem.resident.any() and not _doubled(problem))


def _doubled(problem: Problem) -> bool:
    return any(_broken(problem, rule) for rule in problem.rules)


def _broken(problem: Problem, rule: Rule) -> bool:
    domain = problem.domains_of(rule.key)

    def count(groups: frozenset[int]) -> IntArray:
        nodes = problem.pod_node[problem.pods_in(groups)]
        where = domain[nodes[nodes >= 0]]
        return np.bincount(where[where >= 0], minlength=int(domain.max(initial=0)) + 1)

    if isinstance(rule, CapPerDomain):
        return bool((count(rule.members) > rule.limit).any())
    if isinstance(rule, Exclude):
        return bool(((count(rule.left) > 0) & (count(rule.right) > 0)).any())
    return True


class _Exact:
    def __init__(self, problem: Problem, floor: int, below: int) -> None:
        self.problem, self.floor, self.below = problem, floor, below
        self.model = cp_model.CpModel()
        self.keep = [self.model.new_bool_var("") for _ in range(problem.num_nodes)]
        self.count: dict[tuple[int, int], cp_model.IntVar] = {}
        self.step = gcd(*(int(p) for p in problem.price)) or 1
        self._variables()
        self._capacities()
        self._symmetry()
        for rule in problem.rules:
            self._post(rule)
        self.cost = sum(int(p) // self.step * k for p, k in zip(problem.price.tolist(), self.keep, strict=True))
        self.model.add(self.cost >= -(-self.floor // self.step))
        self.model.add(self.cost <= (self.below - 1) // self.step)
        self.model.minimize(self.cost)

    def _variables(self) -> None:
        problem = self.problem
        pinned = np.zeros((problem.num_groups, problem.num_nodes), dtype=np.int64)
        held = np.flatnonzero(problem.pod_pinned & (problem.pod_node >= 0))
        np.add.at(pinned, (problem.pod_group[held], problem.pod_node[held]), 1)
        self.pinned = pinned
        for g in np.flatnonzero(problem.demand > 0).tolist():
            row = []
            for n in range(problem.num_nodes):
                if problem.feasible[g, problem.node_class[n]] or pinned[g, n]:
                    most = int(problem.demand[g]) if problem.feasible[g, problem.node_class[n]] else int(pinned[g, n])
                    self.count[g, n] = self.model.new_int_var(int(pinned[g, n]), max(most, int(pinned[g, n])), "")
                    row.append(self.count[g, n])
            self.model.add(sum(row) == int(problem.demand[g]))
        for n in np.flatnonzero(problem.must_keep).tolist():
            self.model.add(self.keep[n] == 1)

    def _capacities(self) -> None:
        problem = self.problem
        load = problem.load(np.where(problem.pod_pinned, problem.pod_node, -1))
        limit = np.maximum(problem.capacity, load)
        for n in range(problem.num_nodes):
            present = [g for g in range(problem.num_groups) if (g, n) in self.count]
            for k in range(len(problem.resources)):
                unit = gcd(*(int(problem.request[g, k]) for g in present)) if present else 0
                if not unit:
                    continue
                terms = [(self.count[g, n], int(problem.request[g, k]) // unit) for g in present]
                used = sum(v * a for v, a in terms if a)
                self.model.add(used <= int(limit[n, k]) // unit * self.keep[n])

    def _symmetry(self) -> None:
        """Nodes of a class with equal capacity and nothing pinned are alike: keep them in order of who sits there."""
        problem = self.problem
        weight = np.bincount(problem.pod_node[problem.pod_node >= 0], minlength=problem.num_nodes)
        resident_nodes = set(problem.pod_node[problem.resident[problem.pod_group]].tolist())
        alike: dict[tuple[int, bytes], list[int]] = {}
        for n in np.argsort(-weight, kind="stable").tolist():
            if not problem.must_keep[n] and n not in resident_nodes:
                alike.setdefault((int(problem.node_class[n]), problem.capacity[n].tobytes()), []).append(n)
        for nodes in alike.values():
            for first, second in pairwise(nodes):
                self.model.add_implication(self.keep[second], self.keep[first])

    def _sum(self, groups: Iterable[int], nodes: Iterable[int]) -> "tuple[cp_model.LinearExprT, int]":
        """Pods of the groups on the nodes, residents of kept nodes included, and the pinned part of it."""
        problem, fixed = self.problem, 0
        total: list[cp_model.LinearExprT] = []
        nodes = list(nodes)
        for g in sorted(groups):
            for n in nodes:
                if (g, n) in self.count:
                    total.append(self.count[g, n])
                    fixed += int(self.pinned[g, n])
                elif problem.resident[g]:
                    here = int((problem.pod_node[problem.group_pods[g]] == n).sum())
                    total.append(here * self.keep[n])
        return sum(total), fixed

    def _domains(self, key: str) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for n, d in enumerate(self.problem.domains_of(key).tolist()):
            if d >= 0:
                found.setdefault(d, []).append(n)
        return found

    def _post(self, rule: Rule) -> None:
        match rule:
            case CapPerDomain():
                for nodes in self._domains(rule.key).values():
                    total, fixed = self._sum(rule.members, nodes)
                    self.model.add(total <= max(rule.limit, fixed))
            case Exclude():
                for nodes in self._domains(rule.key).values():
                    self._exclude(rule, nodes)
            case Require():
                self._require(rule)
            case Spread():
                self._spread(rule)
            case Gang():
                places = [self._present(rule.members, nodes) for nodes in self._domains(rule.key).values()]
                self.model.add_at_most_one(places)

    def _present(self, groups: frozenset[int], nodes: list[int]) -> cp_model.IntVar:
        """A boolean that is 1 wherever any pod of the groups is."""
        here = self.model.new_bool_var("")
        total, _ = self._sum(groups, nodes)
        self.model.add(total == 0).only_enforce_if(~here)
        return here

    def _exclude(self, rule: Exclude, nodes: list[int]) -> None:
        _, fixed_left = self._sum(rule.left, nodes)
        _, fixed_right = self._sum(rule.right, nodes)
        if not (fixed_left and fixed_right):
            self.model.add_at_most_one([self._present(rule.left, nodes), self._present(rule.right, nodes)])

    def _require(self, rule: Require) -> None:
        """Dependents only where an anchor is that needs none itself; where all anchors do, where some are today."""
        firm = rule.anchors - rule.dependents
        nodes_now = self.problem.pod_node[self.problem.pods_in(rule.anchors)]
        row = self.problem.domains_of(rule.key)
        today = {int(row[n]) for n in nodes_now.tolist() if n >= 0}
        for domain, nodes in self._domains(rule.key).items():
            dependents = self._present(rule.dependents, nodes)
            if firm:
                total, _ = self._sum(firm, nodes)
                self.model.add(total >= 1).only_enforce_if(dependents)
            elif domain not in today:
                self.model.add(dependents == 0)
        off = [n for n, d in enumerate(row.tolist()) if d < 0]
        total, fixed = self._sum(rule.dependents, off)
        self.model.add(total <= fixed)

    def _spread(self, rule: Spread) -> None:
        """Domains count while they keep an eligible node; with fewer than `min_domains` the least count is 0."""
        problem = self.problem
        row, eligible = problem.domains_of(rule.key), eligible_nodes(problem, rule)
        domains: dict[int, list[int]] = {}
        for n in np.flatnonzero(eligible).tolist():
            domains.setdefault(int(row[n]), []).append(n)
        least = self.model.new_int_var(0, problem.num_pods, "")
        alive = {d: self._alive(nodes) for d, nodes in domains.items()}
        if rule.min_domains is not None:
            enough = self.model.new_bool_var("")
            self.model.add(sum(alive.values()) >= rule.min_domains).only_enforce_if(enough)
            self.model.add(least == 0).only_enforce_if(~enough)
        for d, nodes in domains.items():
            total, _ = self._sum(rule.counted, nodes)
            self.model.add(total >= least).only_enforce_if(alive[d])
            _, fixed = self._sum(rule.movers, nodes)
            if not fixed:
                self.model.add(total <= least + rule.max_skew)
        off = [n for n, d in enumerate(row.tolist()) if d < 0]
        total, fixed = self._sum(rule.movers, off)
        self.model.add(total <= fixed)

    def _alive(self, nodes: list[int]) -> cp_model.IntVar:
        if len(nodes) == 1:
            return self.keep[nodes[0]]
        alive = self.model.new_bool_var("")
        self.model.add_max_equality(alive, [self.keep[n] for n in nodes])
        return alive

    def solve(self, hint: IntArray, run: Run) -> ExactResult:
        """Run within a deterministic limit; the clock and the interrupt only guard."""
        problem = self.problem
        used = np.bincount(hint[hint >= 0], minlength=problem.num_nodes) > 0
        for n, keep in enumerate(self.keep):
            self.model.add_hint(keep, bool(used[n]))
        solver = repeatable_solver(run.limits.seed, DETERMINISTIC_TIME * run.limits.effort)
        solver.parameters.max_time_in_seconds = max(run.left() * SHARE, 0.01)
        status = solver.solve(self.model)
        proven = status in (cp_model.INFEASIBLE, cp_model.OPTIMAL)
        if not proven and solver.wall_time >= solver.parameters.max_time_in_seconds:
            run.note_time()
        if status == cp_model.INFEASIBLE:
            return ExactResult(None, None, self.below, infeasible=True)
        bound = max(self.floor, int(np.ceil(solver.best_objective_bound - 1e-6)) * self.step)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return ExactResult(None, None, bound, infeasible=False)
        count = np.zeros((problem.num_groups, problem.num_nodes), dtype=np.int64)
        for (g, n), variable in self.count.items():
            count[g, n] = solver.value(variable)
        kept = np.array([bool(solver.value(k)) for k in self.keep], dtype=bool)
        return ExactResult(count, kept, bound, infeasible=False)
