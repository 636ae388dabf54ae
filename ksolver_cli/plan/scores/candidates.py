"""What every score plugin is given: the pod, the nodes that passed the Filter phase, and the moment."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.mover import Mover, Numbers
from ksolver_cli.plan.replay.occupancy import Board, Occupancy

Scores = npt.NDArray[np.int64]
"""0 … 100 for each candidate."""

MAX_SCORE = 100


@dataclass(frozen=True, slots=True)
class Candidates:
    """Nodes to score for one pod. `load` has the four load rows of these nodes, `allocatable` their CPU and memory."""

    board: Board
    now: Occupancy
    mover: Mover
    nodes: IntArray
    load: Numbers
    allocatable: Numbers


def normalised(raw: Scores, *, reverse: bool) -> Scores:
    """Scores scaled so that the largest becomes 100, turned around if asked (`DefaultNormalizeScore`)."""
    top = int(raw.max())
    if top == 0:
        return np.full(len(raw), MAX_SCORE if reverse else 0, dtype=np.int64)
    scaled: Scores = MAX_SCORE * raw // top
    return MAX_SCORE - scaled if reverse else scaled
