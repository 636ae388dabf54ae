"""What every score plugin is given: the pod, the nodes that passed the Filter phase, and the moment."""

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ksolver_cli.plan.replay.compiling.compiler import LOAD_ROWS
from ksolver_cli.plan.replay.lanes import BoolArray, IntArray
from ksolver_cli.plan.replay.mover import Crew, Ints, Numbers
from ksolver_cli.plan.replay.occupancy import Board, Occupancy
from ksolver_cli.plan.replay.tallies import Counts

T = TypeVar("T", bound=np.generic)
Scores = npt.NDArray[np.float64]
"""0 … 100 for each candidate: whole numbers, held as floats because those divide faster, and exactly so below 2⁵³."""

MAX_SCORE = 100
_LOAD = np.arange(LOAD_ROWS)[:, None]


@dataclass(slots=True, eq=False)
class Candidates:
    """Nodes to score for one pod in several trials, those of one trial after those of the other.

    `load` has the four load rows of these nodes, `offered` their CPU and memory (1 where `offers` says they have none).
    `begins` and `sizes` say where the candidates of each trial are; every trial has some.
    """

    board: Board
    now: Occupancy
    crew: Crew
    nodes: IntArray
    begins: IntArray
    sizes: IntArray
    load: Numbers
    offered: Numbers
    offers: BoolArray | None
    """None where every candidate offers both."""
    cells: IntArray = field(repr=False)
    """Where the counts of the candidate's trial begin."""

    def most(self, values: Numbers | Ints) -> Numbers:
        """The largest of each trial."""
        return np.maximum.reduceat(values, self.begins)

    def least(self, values: Numbers) -> Numbers:
        """The smallest of each trial."""
        return np.minimum.reduceat(values, self.begins)

    def spread(self, values: npt.NDArray[T]) -> npt.NDArray[T]:
        """A value for each trial as one for each candidate; a single one stays what it is."""
        return values if len(values) == 1 else values.repeat(self.sizes)

    def counts(self, offsets: IntArray, domains: IntArray) -> Counts:
        """What tallies (at one offset for each pod of the crew) count in these domains, one for each candidate."""
        found: Counts = self.now.flat.take(self.cells + domains + self.spread(offsets))
        return found


def candidates(
    board: Board, now: Occupancy, crew: Crew, nodes: IntArray, sizes: IntArray, trials: IntArray
) -> Candidates:
    """Candidates of these trials, so many each and those of one trial after those of the other."""
    count = len(now.alive)
    cells = trials * now.width if len(trials) == 1 else (trials * now.width).repeat(sizes)
    load = now.flat.take(_LOAD * count + (cells + nodes + (now.rows - LOAD_ROWS) * count))
    offered = board.offered.take(nodes, axis=1)
    offers = None if board.offers_all else board.offers[:, nodes]
    begins = sizes.cumsum() - sizes
    return Candidates(board, now, crew, nodes, begins, sizes, load, offered, offers, cells + now.rows * count)


def normalised(candidates: Candidates, raw: Numbers | Ints, *, reverse: bool) -> Scores:
    """Scores scaled so that the largest of the trial becomes 100, turned around if asked (`DefaultNormalizeScore`)."""
    top = np.maximum(candidates.most(raw), 1)
    scaled: Scores = np.floor(MAX_SCORE * raw / candidates.spread(top))
    return MAX_SCORE - scaled if reverse else scaled
