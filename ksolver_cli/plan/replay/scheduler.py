"""One scheduling cycle: filter, sample, score, choose."""

from random import Random

import numpy as np

from ksolver_cli.domain.pod import Pod
from ksolver_cli.plan.replay.exotic import Checker
from ksolver_cli.plan.replay.filters import open_nodes
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.mover import Mover
from ksolver_cli.plan.replay.occupancy import Board, Occupancy
from ksolver_cli.plan.replay.sampling import NodeOrder, Sampler
from ksolver_cli.plan.scores.candidates import Candidates, Scores
from ksolver_cli.plan.scores.profile import total


class Scheduler:
    """Places pods one after the other, as kube-scheduler's default profile does.

    Ties are broken at random by `seed`, which also says where the search for nodes starts; the real scheduler's start
    is unknown and its parallel search finds slightly different nodes, so that a plan must hold under many seeds.
    """

    def __init__(self, board: Board, now: Occupancy, seed: int, checker: Checker | None = None) -> None:
        self._board = board
        self._random = Random(seed)  # noqa: S311 - a tie-break, no secret
        self.checker = checker
        self._tree = NodeOrder(board.cluster.nodes)
        self.now = now
        self.reorder()

    def reorder(self) -> None:
        """List the nodes anew, after some were removed."""
        order = self._tree.of(self.now.alive)
        self._sampler = Sampler(order, self._random.randrange(len(order)) if len(order) else 0)

    def choose(self, mover: Mover, pod: Pod) -> int | None:
        """The node for this pod, None when none passes the Filter phase. Nothing is placed yet."""
        feasible = open_nodes(mover, self.now)
        if mover.needs_check and self.checker is not None:
            self.checker.restrict(pod, feasible)
        nodes = self._sampler.take(feasible)
        if len(nodes) == 0:
            return None
        if len(nodes) == 1:
            return int(nodes[0])
        scores = self.scores(mover, nodes)
        best = np.flatnonzero(scores == scores.max())
        return int(nodes[best[self._random.randrange(len(best))] if len(best) > 1 else best[0]])

    def scores(self, mover: Mover, nodes: IntArray) -> Scores:
        """Total scores of these nodes for the pod."""
        return total(candidates(self._board, self.now, mover, nodes))


def candidates(board: Board, now: Occupancy, mover: Mover, nodes: IntArray) -> Candidates:
    """What score plugins look at."""
    load = now.cells[len(board.shape.resources) :][:, nodes]
    return Candidates(board, now, mover, nodes, load, board.allocatable[:2][:, nodes])
