"""Candidate sets from the drain MIP, whose reserves are learned from what replays leave unused.

The MIP mixes pods on a node as it likes: those that want CPU beside those that want memory. The scheduler does not, and
so strands what no waiting pod can use: a third of the CPU of nodes whose memory is full. How much, and of what, depends
on the cluster. So a set is proposed, replayed, and what was stranded in each node class is held back the next time.
"""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ksolver_cli.domain.plan import Limits
from ksolver_cli.plan.prospects import Prospects
from ksolver_cli.plan.replay.lanes import IntArray
from ksolver_cli.plan.replay.occupancy import Occupancy
from ksolver_cli.plan.replay.run import Run as ReplayRun
from ksolver_cli.plan.sequence import EvictionSequence
from ksolver_cli.plan.sets import Candidate
from ksolver_cli.plan.settle import PROBES, Trials
from ksolver_cli.solve.drain import DrainModel
from ksolver_cli.solve.problem import Problem
from ksolver_cli.solve.solution import Run

FIRST = 0.0
"""Share of everything held back before anything is known: the boldest set comes first."""
TRUST = 0.5
"""Weight of the latest replay in a reserve."""
EASE = 0.85
"""What becomes of all reserves after a replay in which nothing pended."""
ROUNDS, ROUNDS_LARGE, FEWEST = 14, 8, 3
"""Sets proposed at effort 1, in clusters up to `LARGE` nodes and above; and at any effort."""
LARGE = 300
CALM = 3
"""Sets in a row without a pod pending and without any gain, after which no other is proposed."""
MOVE_PRICE_MICROS = 2000
"""What moving one pod costs, micro-dollars an hour: it trades saving against moves."""

Shares = npt.NDArray[np.float64]


class LearnedSets:
    """Proposes sets one after the other. Counts work, no clock: equal input, equal sets."""

    def __init__(self, prospects: Prospects, problem: Problem, trials: Trials) -> None:
        self._prospects, self._problem, self._trials = prospects, problem, trials
        board = prospects.board
        self._model = DrainModel(problem)
        self._reserve: Shares = np.full((problem.num_classes, len(problem.resources)), FIRST)
        self._node: IntArray = np.array([board.node_index[name] for name in problem.node_names], dtype=np.intp)
        rows = {name: row for row, name in enumerate(board.shape.resources)}
        self._row = [rows.get(name) for name in problem.resources]

    def run(
        self, limits: Limits, interrupted: Callable[[], bool], on_time: Callable[[], None] = lambda: None
    ) -> Iterator[Candidate]:
        """Sets as they are found, as many as the effort allows; `on_time` is called where the clock cut them short."""
        run = Run(limits, interrupted)
        most = ROUNDS if self._problem.num_nodes <= LARGE else ROUNDS_LARGE
        calm, best = 0, 0
        for number in range(max(FEWEST, round(most * limits.effort))):
            if run.stopped():
                if run.left() <= 0:
                    run.note_time()
                break
            found = self._model.solve(self._reserve, MOVE_PRICE_MICROS, run)
            if found is None:
                break
            index, removable = self._prospects.board.node_index, self._prospects.removable
            nodes = tuple(n for n in (index[name] for name in found.removed) if removable[n])
            pended = self._replay(nodes)
            yield Candidate(f"drain MIP, round {number + 1}", nodes, pended)
            saved = self._prospects.saving(nodes)
            calm = calm + 1 if not pended and saved <= best else 0
            best = max(best, saved) if not pended else best
            if calm >= CALM:
                break
        if run.cut_short:
            on_time()

    def _replay(self, nodes: tuple[int, ...]) -> float:
        """How many pods pend, on average, when these nodes are drained; the reserves know more after it."""
        drain = EvictionSequence(self._prospects, nodes).drain(self._trials.waves)
        replayer = self._prospects.replayer
        trials = self._trials.all()[: min(PROBES, replayer.most)]
        runs, scheduler = replayer.plays(drain, trials)
        stranded = [np.zeros_like(self._reserve) for _ in range(2)]
        for trial, run in enumerate(runs):
            self._add_stranded(stranded, run, trial, scheduler.now)
        pended = sum(len(run.pended) + len(run.homeless) for run in runs)
        left, offered = stranded
        known = offered > 0
        share = np.clip(left / np.where(known, offered, 1), 0.0, 1.0)
        latest = np.where(known, share, self._reserve)
        self._reserve = (1 - TRUST) * self._reserve + TRUST * latest if pended else self._reserve * EASE
        return pended / len(trials)

    def _add_stranded(self, stranded: list[Shares], run: ReplayRun, trial: int, now: Occupancy) -> None:
        """Add what is left of kept nodes that pods which pended may go to and did not fit on, and what they offer."""
        board, problem = self._prospects.board, self._problem
        waiting = {int(board.pod_class[pod]) for pod in run.pended}
        waiting |= {board.classes.pod_class_of[key] for key in run.homeless}
        if not waiting:
            return
        wanted = np.logical_or.reduce([board.movers[c].allowed for c in sorted(waiting)]) & now.alive & ~now.cordoned
        here = np.flatnonzero(wanted[self._node])
        left, offered = stranded
        for k, row in enumerate(self._row):
            if row is not None:
                np.add.at(left[:, k], problem.node_class[here], now.cells[trial, row, self._node[here]])
            np.add.at(offered[:, k], problem.node_class[here], problem.capacity[here, k])
