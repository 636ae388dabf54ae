"""Candidate sets of nodes to remove, and those that come from draining one node after the other."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.plan.greedy import Greedy, by_price_per_move, by_utilisation
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.solve.build import Model, Pins, build
from ksolver_cli.solve.problem import Problem


@dataclass(frozen=True, slots=True)
class Candidate:
    """A set of nodes that might be removed, where it comes from, and how many pods pended in a replay of it so far."""

    origin: str
    nodes: tuple[int, ...]
    pended: float = 0.0


def greedy_sets(prospects: Prospects, seed: int, interrupted: Callable[[], bool]) -> Iterator[Candidate]:
    """Sets emptied one node after the other, in two orders."""
    for order in (by_utilisation, by_price_per_move):
        yield Candidate(order.__name__, tuple(Greedy(prospects, seed).run(order(prospects), interrupted)))


def problem_of(prospects: Prospects, model: Model, prices_micros: Mapping[str, int | None]) -> Problem:
    """The solver's instance with this board's pins, weights and waiting pods."""
    board = prospects.board
    kept = frozenset(n.name for i, n in enumerate(board.cluster.nodes) if not prospects.removable[i])
    weights = {p.key: int(w) for p, w in zip(board.pods, prospects.weight, strict=True)}
    pinned = frozenset(p.key for p in board.pods if must_move(p) and p.node_name in kept)
    waiting = frozenset(p.key for p in board.waiting)
    return build(model, prices_micros, Pins(pinned, kept, weights, waiting))


def within_budget(prospects: Prospects, nodes: tuple[int, ...], budget: int) -> tuple[int, ...]:
    """Nodes of the set with no more pods than the budget, those first that save most for each move (weighted)."""
    ranked = sorted(nodes, key=lambda n: (-_rate(prospects, n), n))
    taken: list[int] = []
    for node in ranked:
        if len(prospects.pods_on[node]) <= budget:
            budget -= len(prospects.pods_on[node])
            taken.append(node)
    return tuple(sorted(taken))


def _rate(prospects: Prospects, node: int) -> float:
    return float(prospects.price[node]) / (0.01 + float(prospects.weight[prospects.pods_on[node]].sum()))
