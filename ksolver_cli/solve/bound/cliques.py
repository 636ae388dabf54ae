"""Groups of which a host takes one pod in all: capped at one each, and each excluding every other."""

from ksolver_cli.domain.rules import CapPerDomain, Exclude
from ksolver_cli.solve.problem import Problem

Clique = tuple[str, frozenset[int]]
"""Topology key and the groups that share the one place."""


def host_cliques(problem: Problem) -> tuple[Clique, ...]:
    """Every cap of one a host, widened by groups that its members exclude; those that nothing widens are left out.

    No pod of a clique arrives where another one is, so a host holds one of them, or what it holds today. A workload's
    bare pods are the usual case: they are a group of their own, but its anti-affinity sees them.
    """
    found: dict[Clique, None] = {}
    for key in sorted(problem.host_keys):
        foes = _foes(problem, key)
        caps = [r.members for r in problem.rules if isinstance(r, CapPerDomain) and r.key == key and r.limit == 1]
        single = {g for members in caps for g in members} | {g for g in foes if problem.demand[g] <= 1}
        single = {g for g in single if not problem.resident[g]}
        for members in caps:
            wide = _widened(members, foes, single)
            if len(wide) > len(members):
                found[key, wide] = None
    return tuple(found)


def _foes(problem: Problem, key: str) -> dict[int, set[int]]:
    """Group → the groups that it may not share a domain with."""
    sides = [(r.left, r.right) for r in problem.rules if isinstance(r, Exclude) and r.key == key]
    found: dict[int, set[int]] = {}
    for side, other in [*sides, *((right, left) for left, right in sides)]:
        for g in side:
            found.setdefault(g, set()).update(other)
    return found


def _widened(members: frozenset[int], foes: dict[int, set[int]], single: set[int]) -> frozenset[int]:
    clique = set(members)
    for g in sorted((foes.get(min(members), set()) & single) - clique if members else ()):
        if clique <= foes.get(g, set()):
            clique.add(g)
    return frozenset(clique)
