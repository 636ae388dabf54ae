"""Cut an order of evictions into waves: after each, the nodes that it left empty are removed."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from ksolver_cli.domain.plan import DrainPlan, Eviction, Move, Wave
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.run import Drain, Run
from ksolver_cli.plan.tail import NO_TAIL, Tail

PODS_A_WAVE = 12
"""Fewer waves than asked for where they would be smaller than this."""


def in_waves(prospects: Prospects, nodes: Sequence[int], order: IntArray, count: int) -> Drain:
    """The drain in at most `count` waves of about equal size, cut where the pod class changes.

    A node goes at the end of the wave in which its last pod left; nodes without pods go with the first wave.
    """
    board = prospects.board
    ends = _ends(board.pod_class[order], count)
    last = dict.fromkeys(nodes, 0)
    for position, pod in enumerate(order):
        last[int(board.pod_node[pod])] = position
    gone: list[list[int]] = [[] for _ in ends]
    for node, position in last.items():
        gone[min(int(np.searchsorted(ends, position, side="right")), len(ends) - 1)].append(node)
    removals = tuple((end, tuple(row)) for end, row in zip(ends, gone, strict=True))
    return Drain(tuple(nodes), order, removals, tuple(board.pod_node[order].tolist()))


def in_steps(prospects: Prospects, drain: Drain, size: int) -> Drain:
    """The drain with its waves cut into steps of about `size` evictions, never inside a pod class."""
    classes = prospects.board.pod_class[drain.order]
    steps: list[int] = []
    start = 0
    for end, _ in drain.removals:
        count = max(1, round((end - start) / size))
        if end > start:
            steps += [start + cut for cut in _cuts(classes[start:end], count)]
        start = end
    return replace(drain, steps=tuple(steps))


def _ends(classes: IntArray, count: int) -> list[int]:
    return _cuts(classes, max(1, min(count, len(classes) // PODS_A_WAVE)))


def _cuts(classes: IntArray, parts: int) -> list[int]:
    """Ends of about equal parts, each moved on to where the class changes."""
    size = len(classes)
    ends: list[int] = []
    for part in range(1, parts):
        end = max(size * part // parts, ends[-1] + 1 if ends else 1)
        while end < size and classes[end] == classes[end - 1]:
            end += 1
        if end < size:
            ends.append(end)
    return [*ends, size]


def to_plan(prospects: Prospects, drain: Drain, run: Run | None, replays: int, tail: Tail = NO_TAIL) -> DrainPlan:
    """The drain and its tail as a plan, with the moves of the reference replay. Without nodes nothing moves."""
    board = prospects.board
    names = [n.name for n in board.cluster.nodes]
    before = int(prospects.price.sum())
    moves: list[Move] = []
    if run is not None:
        moves = [Move(key, "", names[node]) for key, node in run.newcomers.items()]
        pairs = zip(run.order, run.targets, strict=True)
        moves += [Move(board.pods[p].key, board.pods[p].node_name, names[t]) for p, t in pairs]
    for node, hops in zip(tail.nodes, tail.hops, strict=True):
        moves += [Move(board.pods[p].key, names[node], names[t]) for p, t in hops]
    return DrainPlan(
        waves=_waves(prospects, drain) + _alone(prospects, tail),
        cost_before_micros=before,
        cost_after_micros=before - prospects.saving((*drain.nodes, *tail.nodes)),
        moves=tuple(moves),
        replays=tail.replays or replays,
    )


def _alone(prospects: Prospects, tail: Tail) -> tuple[Wave, ...]:
    board = prospects.board
    names = [n.name for n in board.cluster.nodes]
    return tuple(
        Wave((names[node],), tuple(Eviction(board.pods[p].key, names[node]) for p, _ in hops), alone=True)
        for node, hops in zip(tail.nodes, tail.hops, strict=True)
    )


def _sizes(ends: Sequence[int], start: int) -> tuple[int, ...]:
    return tuple(b - a for a, b in pairwise([start, *ends]))


def _waves(prospects: Prospects, drain: Drain) -> tuple[Wave, ...]:
    board = prospects.board
    waves, start = [], 0
    for end, gone in drain.removals:
        pods = [board.pods[p] for p in drain.order[start:end]]
        evictions = tuple(Eviction(p.key, p.node_name) for p in pods)
        names = tuple(board.cluster.nodes[n].name for n in sorted(gone))
        waves.append(Wave(names, evictions, _sizes([e for e in drain.steps if start < e <= end], start)))
        start = end
    return tuple(w for w in waves if w.nodes or w.evictions)
