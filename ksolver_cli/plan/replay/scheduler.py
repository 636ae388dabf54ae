"""One scheduling cycle, in many trials at once: filter, sample, score, choose."""

from collections.abc import Sequence
from random import Random

import numpy as np

from ksolver_cli.domain.pod import Pod
from ksolver_cli.plan.replay.exotic import Checker
from ksolver_cli.plan.replay.filters import open_nodes
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.mover import Crew
from ksolver_cli.plan.replay.occupancy import EVERY, Board, Occupancy
from ksolver_cli.plan.replay.sampling import Sampler
from ksolver_cli.plan.scores.candidates import candidates
from ksolver_cli.plan.scores.profile import total

NO_NODE = -1
"""Chosen for a pod that no node admits."""


class Scheduler:
    """Places pods one after the other, as kube-scheduler's default profile does, in several trials side by side.

    Ties are broken at random by the trial's seed, which also says where the search for nodes starts; the real
    scheduler's start is unknown and its parallel search finds slightly different nodes, so that a plan must hold under
    many seeds. Trials know nothing of one another: each goes as it would alone.
    """

    def __init__(self, board: Board, now: Occupancy, seeds: Sequence[int], checkers: Sequence[Checker] = ()) -> None:
        """`checkers` has one for each trial, or none where no pod needs any."""
        self._board = board
        self._randoms = [Random(seed) for seed in seeds]  # noqa: S311 - a tie-break, no secret
        self.checkers = checkers
        self.now = now
        self.reorder()

    def reorder(self) -> None:
        """List the nodes anew, after some were removed."""
        order = self._board.tree.of(self.now.alive)
        self._sampler = Sampler(order, [r.randrange(len(order)) if len(order) else 0 for r in self._randoms])

    def choose(self, crew: Crew, pods: Sequence[Pod], trials: IntArray) -> IntArray:
        """The node for a pod of the crew in each of these trials, `NO_NODE` where none passes the Filter phase.

        Nothing is placed yet.
        """
        every = len(trials) == len(self._randoms)
        feasible = open_nodes(crew, self.now, EVERY if every else trials)
        if crew.lead.needs_check and self.checkers:
            for trial, pod, row in zip(trials.tolist(), pods, feasible, strict=True):
                self.checkers[trial].restrict(pod, row)
        nodes, sizes = self._sampler.take(feasible, trials)
        if sizes.all():
            return self._best(crew, nodes, sizes, trials)
        chosen = np.full(len(trials), NO_NODE, dtype=np.intp)
        some = sizes.nonzero()[0]
        if len(some):
            chosen[some] = self._best(crew.only(some), nodes, sizes[some], trials[some])
        return chosen

    def _best(self, crew: Crew, nodes: IntArray, sizes: IntArray, trials: IntArray) -> IntArray:
        """One node a trial: the best, drawn by lot where there are more."""
        if len(nodes) == len(trials):
            return nodes
        asked = candidates(self._board, self.now, crew, nodes, sizes, trials)
        scores = total(asked)
        best = (scores == asked.spread(asked.most(scores))).nonzero()[0]
        if len(best) == len(trials):
            only: IntArray = nodes.take(best)
            return only
        begins = best.searchsorted(asked.begins)
        ends = [*begins[1:].tolist(), len(best)]
        randoms = self._randoms
        drawn = [
            begin + randoms[t].randrange(end - begin) if end - begin > 1 else begin
            for t, begin, end in zip(trials.tolist(), begins.tolist(), ends, strict=True)
        ]
        chosen: IntArray = nodes.take(best.take(drawn))
        return chosen

    def leave(self, trials: IntArray, pods: IntArray) -> None:
        """Take pods off the nodes they are bound to, one in each of these trials."""
        board = self._board
        board.leave(self.now, trials, pods, board.pod_node[pods])
        if self.checkers:
            for trial, index in zip(trials.tolist(), pods.tolist(), strict=True):
                self.checkers[trial].remove(board.pods[index])

    def arrive(self, crew: Crew, pods: Sequence[Pod], trials: IntArray, nodes: IntArray) -> None:
        """Put a new pod on each of these nodes that is one; `pods` are wanted only where they are to be checked."""
        placed = (nodes >= 0).nonzero()[0]
        if len(placed) == len(nodes):
            self._board.arrive(self.now, crew.classes, trials, nodes)
        elif len(placed):
            self._board.arrive(self.now, crew.only(placed).classes, trials[placed], nodes[placed])
        if self.checkers and crew.lead.needs_check:
            for trial, pod, node in zip(trials.tolist(), pods, nodes.tolist(), strict=True):
                if node >= 0:
                    self.checkers[trial].add(pod, self._board.cluster.nodes[node].name)

    def remove(self, nodes: Sequence[int]) -> None:
        """Remove nodes in every trial."""
        for node in nodes:
            self._board.remove_node(self.now, node)
            for checker in self.checkers:
                checker.remove_node(self._board.cluster.nodes[node].name)
        if nodes:
            self.reorder()
