"""Candidate sets of nodes to remove: from the drain MIP, and from draining one node after the other."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.domain.plan import Limits
from ksolver_cli.plan.greedy import Greedy, by_price_per_move, by_utilisation
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.solve.build import Model, Pins, build
from ksolver_cli.solve.drain import DrainSettings, drain_sets
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Run

SETTINGS = (
    DrainSettings(0.0, 2000, polish=False),
    DrainSettings(0.01, 2000, polish=False),
    DrainSettings(0.0, 2000),
    DrainSettings(0.01, 6000),
    DrainSettings(0.02, 2000, polish=False),
    DrainSettings(0.01, 2000),
    DrainSettings(0.0, 6000, polish=False),
    DrainSettings(0.02, 6000, polish=False),
    DrainSettings(0.02, 2000),
    DrainSettings(0.01, 1000),
)
"""Reserves and prices of a move that are tried, the most fruitful first; how many of them is a matter of effort."""
WIDE = tuple(DrainSettings(epsilon, 2000, polish=False) for epsilon in (0.05, 0.08, 0.12, 0.16))
"""More reserve, where pods are large beside what room is left: a scheduler that spreads fills no node to the brim."""
AT_EFFORT_ONE = 8
POLISHED_NODES = 300
"""Clusters above this size get no polished sets and no wide reserves: there, replays use the time better."""
WIDE_EFFORT = 0.3
"""Effort from which wide reserves are tried."""

Found = tuple[str, tuple[int, ...]]
"""Where a set comes from, and its nodes."""


def greedy_sets(prospects: Prospects, seed: int, interrupted: Callable[[], bool]) -> Iterator[Found]:
    """Sets emptied one node after the other, in two orders."""
    for order in (by_utilisation, by_price_per_move):
        yield order.__name__, tuple(Greedy(prospects, seed).run(order(prospects), interrupted))


def problem_of(prospects: Prospects, model: Model, prices_micros: Mapping[str, int | None]) -> Problem:
    """The solver's instance with this board's pins, weights and waiting pods."""
    board = prospects.board
    kept = frozenset(n.name for i, n in enumerate(board.cluster.nodes) if not prospects.removable[i])
    weights = {p.key: int(w) for p, w in zip(board.pods, prospects.weight, strict=True)}
    pinned = frozenset(p.key for p in board.pods if must_move(p) and p.node_name in kept)
    waiting = frozenset(p.key for p in board.waiting)
    return build(model, prices_micros, Pins(pinned, kept, weights, waiting))


def nobody() -> None:
    """Told of time that ran out, and tells nobody."""


def mip_sets(
    prospects: Prospects,
    problem: Problem,
    limits: Limits,
    interrupted: Callable[[], bool],
    on_time: Callable[[], None] = nobody,
) -> Iterator[Found]:
    """Sets of the drain MIP, as many as the effort allows; `on_time` is called where the clock cut them short."""
    count = max(2, round(AT_EFFORT_ONE * limits.effort))
    index = prospects.board.node_index
    settings = SETTINGS[:count]
    if len(index) > POLISHED_NODES:
        settings = tuple(dict.fromkeys(replace(s, polish=False) for s in SETTINGS))[:count]
    elif limits.effort >= WIDE_EFFORT:
        settings += WIDE
    run = Run(limits, interrupted)
    for found in drain_sets(problem, settings, run):
        nodes = tuple(n for n in (index[name] for name in found.removed) if prospects.removable[n])
        yield f"drain MIP ε={found.settings.epsilon} λ={found.settings.move_price_micros}", nodes
    if run.cut_short:
        on_time()


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
