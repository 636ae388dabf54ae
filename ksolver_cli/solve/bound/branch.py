"""Branch and bound over node counts on the warm linear programme, every leaf certified from its own duals.

It is for what rounding costs most: few dear nodes (GPUs) whose counts the relaxation leaves fractional.
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

import numpy as np

from ksolver_cli.solve.bound.highs import Ended
from ksolver_cli.solve.bound.lower import Bounded, Box, certify, is_certified_empty, set_box
from ksolver_cli.solve.problem import FloatArray
from ksolver_cli.solve.solution import Run

NEAR = 1e-6
WORTH = 2e-4
"""A count whose rounding can cost less than this share of the bound is not branched on."""


@dataclass(order=True)
class _Node:
    """A box of node counts and what is proven for it; `settled` where branching would add next to nothing."""

    value: float
    number: int
    box: Box = field(compare=False)
    settled: bool = field(compare=False, default=False)


def branch(bounded: Bounded, run: Run, ceiling: int, patience: int) -> float:
    """A bound over all boxes of `bounded`; stops once it meets the ceiling, or has hardly risen over `patience` linear
    programmes.
    """
    numbers = count()
    heap = [_Node(value, next(numbers), box) for value, box in bounded.boxes]
    heap.sort()
    mark, left = heap[0].value, patience
    while heap and not heap[0].settled and heap[0].value < ceiling and left > 0 and not run.stopped():
        left -= 1
        for child in _expand(bounded, heappop(heap), run):
            child.number = next(numbers)
            heappush(heap, child)
        if heap and heap[0].value > mark * (1 + WORTH):
            mark, left = heap[0].value, patience
    set_box(bounded, bounded.guide_box)
    return heap[0].value if heap else float(ceiling)


def _expand(bounded: Bounded, node: _Node, run: Run) -> list[_Node]:
    """The node with a better value and settled, its two halves, or nothing where it is proven empty."""
    set_box(bounded, node.box)
    point = bounded.lp.solve(run)
    bounded.point = point
    if point.ended is Ended.INFEASIBLE and is_certified_empty(bounded, node.box):
        return []
    if point.ended is not Ended.OPTIMAL:
        return [_Node(node.value, 0, node.box, settled=True)]
    value = max(node.value, certify(bounded, node.box))
    split = _choice(bounded, point.x)
    if split is None:
        return [_Node(value, 0, node.box, settled=True)]
    return [_Node(value, 0, box) for box in _halves(node.box, split, float(point.x[split]))]


def _choice(bounded: Bounded, x: FloatArray) -> int | None:
    """The class whose fractional count is dearest to round."""
    relaxation = bounded.relaxation
    y = x[: relaxation.num_classes]
    off = np.abs(y - np.round(y))
    score = np.where(off > NEAR, off * relaxation.problem.class_price, 0.0)
    best = int(np.argmax(score))
    return best if score[best] > WORTH * max(bounded.bound, 1) else None


def _halves(box: Box, split: int, at: float) -> tuple[Box, Box]:
    below, above = box[1].copy(), box[0].copy()
    below[split], above[split] = np.floor(at), np.ceil(at)
    return (box[0], below), (above, box[1])
