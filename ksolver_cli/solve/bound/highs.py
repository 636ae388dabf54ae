"""A thin, typed door to HiGHS: linear programmes that grow rows and change bounds, solved warm by simplex."""

import os
import sys
from dataclasses import dataclass
from enum import StrEnum
from itertools import count
from typing import Any

import highspy
import numpy as np

from ksolver_cli.solve.bound.sparse import Rows
from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray
from ksolver_cli.solve.solution import Run

NO_LIMIT = 2**31 - 1


class Ended(StrEnum):
    """How a run ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    STOPPED = "stopped"


@dataclass(frozen=True, eq=False)
class LpResult:
    """A solved linear programme; the vectors are meaningless unless `ended` is optimal."""

    ended: Ended
    objective: float
    x: FloatArray
    duals: FloatArray


@dataclass(frozen=True, eq=False)
class MipResult:
    """A mixed-integer result. `bound` is HiGHS' dual bound (floating point), `x` None where nothing was found."""

    ended: Ended
    objective: float
    bound: float
    x: FloatArray | None


@dataclass(frozen=True, slots=True)
class MipBudget:
    """Work limits, and the relative gap that is good enough. The clock of the run only guards.

    `steps` counts how often HiGHS asks whether to go on (after dives, cut rounds, nodes and within sub-problems), which
    one thread does in the same order each time. A step's price grows with the matrix, hence `work`: steps × entries.
    """

    nodes: int
    steps: int
    gap: float = 1e-7
    work: int | None = None

    def steps_for(self, entries: int) -> int:
        """Steps allowed with a matrix of so many entries."""
        return self.steps if self.work is None else min(self.steps, self.work // max(entries, 1))


def _silent_highs() -> Any:
    """A HiGHS instance. Its constructor prints a banner to the process's stdout, which belongs to the result alone."""
    sys.stdout.flush()
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        return highspy.Highs()  # type: ignore[no-untyped-call]  # the wheel has no types for it
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


class Lp:
    """One HiGHS instance. Rows are scaled by their largest coefficient, since bytes and slots share a matrix."""

    def __init__(self, cost: FloatArray, lower: FloatArray, upper: FloatArray, rows: Rows, seed: int = 0) -> None:
        self._highs: Any = _silent_highs()
        self._highs.silent()
        self._option("threads", 1)
        self._option("random_seed", seed)
        self._option("solver", "simplex")
        self._scales: list[FloatArray] = []
        model = highspy.HighsLp()
        model.num_col_ = len(cost)
        model.num_row_ = rows.count
        model.col_cost_ = cost / 1e6
        model.col_lower_ = lower
        model.col_upper_ = upper
        scale = self._scale(rows)
        model.row_lower_ = rows.lower / scale
        model.row_upper_ = rows.upper / scale
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = rows.start
        model.a_matrix_.index_ = rows.column
        model.a_matrix_.value_ = rows.value / np.repeat(scale, np.diff(rows.start))
        self._highs.passModel(model)

    def _option(self, name: str, value: float | str) -> None:
        self._highs.setOptionValue(name, value)

    def _scale(self, rows: Rows) -> FloatArray:
        scale = np.ones(rows.count)
        if len(rows.value):
            sizes = np.diff(rows.start)
            filled = sizes > 0
            scale[filled] = np.maximum.reduceat(np.abs(rows.value), rows.start[:-1][filled])
        scale = np.where(scale > 1e3, scale, 1.0)
        self._scales.append(scale)
        return scale

    def add_rows(self, rows: Rows) -> None:
        """Append rows; the basis stays."""
        if not rows.count:
            return
        scale = self._scale(rows)
        value = rows.value / np.repeat(scale, np.diff(rows.start))
        inf = highspy.kHighsInf
        lower, upper = np.maximum(rows.lower / scale, -inf), np.minimum(rows.upper / scale, inf)
        start, column = rows.start[:-1].astype(np.int32), rows.column.astype(np.int32)
        self._highs.addRows(rows.count, lower, upper, len(value), start, column, value)

    def set_bounds(self, columns: IntArray, lower: FloatArray, upper: FloatArray) -> None:
        """Change column bounds; the basis stays."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper)

    def set_row_upper(self, rows: IntArray, upper: FloatArray) -> None:
        """Change the upper sides of rows that have no lower one; the basis stays dual feasible."""
        scaled = upper / np.concatenate(self._scales)[rows]
        lower = np.full(len(rows), -highspy.kHighsInf)
        self._highs.changeRowsBounds(len(rows), rows.astype(np.int32), lower, scaled)

    def add_columns(self, cost: FloatArray, upper: FloatArray, like: IntArray, rows: Rows) -> None:
        """Append columns with lower bound 0 and the coefficients of the columns `like` in `rows` (all rows so far)."""
        order = np.argsort(rows.column, kind="stable")
        starts = np.searchsorted(rows.column[order], like)
        ends = np.searchsorted(rows.column[order], like, side="right")
        entries = np.concatenate([order[a:b] for a, b in zip(starts, ends, strict=True)] or [order[:0]])
        row = rows.row_of_entry()[entries]
        value = rows.value[entries] / np.concatenate(self._scales)[row]
        start = np.concatenate([[0], np.cumsum(ends - starts)[:-1]]) if len(like) else np.zeros(0)
        count = len(like)
        self._highs.addCols(
            count, cost / 1e6, np.zeros(count), upper, len(value), start.astype(np.int32), row.astype(np.int32), value
        )

    def drop_columns(self, first: int) -> None:
        """Remove every column from `first` on."""
        last = self._highs.getNumCol()
        if last > first:
            columns = np.arange(first, last, dtype=np.int32)
            self._highs.deleteCols(len(columns), columns)

    def start_cold(self) -> None:
        """Forget the basis: after a change of all costs presolve and a cold start are far quicker than a warm one."""
        self._highs.clearSolver()

    def remember(self) -> None:
        """Keep the present basis for `restore`."""
        self._remembered = self._highs.getBasis()

    def restore(self) -> None:
        """Go back to the remembered basis; rows added since then become basic. The columns must be the same."""
        basis = self._remembered
        added = self._highs.getNumRow() - len(basis.row_status)
        basis.row_status = [*basis.row_status, *([highspy.HighsBasisStatus.kBasic] * added)]
        self._highs.setBasis(basis)

    def set_cost(self, cost: FloatArray) -> None:
        """Change the whole objective (micro-dollars)."""
        self._highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost / 1e6)

    def solve(self, run: Run, *, primal: bool = False, iterations: int = NO_LIMIT) -> LpResult:
        """Run simplex for at most so many iterations; the clock of the run guards.

        `primal` where only costs changed since the last run; the dual method suits changed sides, bounds and new rows.
        """
        self._option("simplex_strategy", 4 if primal else 1)
        self._option("simplex_iteration_limit", iterations)
        self._guard(run)
        self._run_interruptibly(run)
        status = self._status(run)
        ended = {
            highspy.HighsModelStatus.kOptimal: Ended.OPTIMAL,
            highspy.HighsModelStatus.kInfeasible: Ended.INFEASIBLE,
        }.get(status, Ended.STOPPED)
        solution = self._highs.getSolution()
        duals = np.array(solution.row_dual) * 1e6 / np.concatenate(self._scales)
        return LpResult(
            ended, self._highs.getInfo().objective_function_value * 1e6, np.array(solution.col_value), duals
        )

    def _run_interruptibly(self, run: Run) -> None:
        def ask(event: Any) -> None:
            event.interrupt(run.interrupted())

        self._highs.cbSimplexInterrupt += ask
        self._highs.run()
        self._highs.cbSimplexInterrupt -= ask

    def _guard(self, run: Run) -> None:
        """HiGHS counts seconds over all runs of an object."""
        self._option("time_limit", self._highs.getRunTime() + run.left())

    def _status(self, run: Run) -> Any:
        status = self._highs.getModelStatus()
        if status == highspy.HighsModelStatus.kTimeLimit:
            run.note_time()
        return status

    def ray(self) -> FloatArray | None:
        """A dual ray proving infeasibility, if HiGHS has one."""
        _, found, ray = self._highs.getDualRay()
        return np.asarray(ray) / np.concatenate(self._scales) if found else None

    def solve_integer(self, integral: BoolArray, budget: MipBudget, run: Run) -> MipResult:
        """Branch and bound with these columns integral; an interrupt ends it early."""
        columns = np.flatnonzero(integral).astype(np.int32)
        kinds = np.full(len(columns), int(highspy.HighsVarType.kInteger), dtype=np.uint8)
        self._highs.changeColsIntegrality(len(columns), columns, kinds)
        self._option("solver", "choose")
        self._option("mip_max_nodes", budget.nodes)
        self._option("mip_rel_gap", budget.gap)
        self._option("mip_abs_gap", 1e-7)
        self._guard(run)
        asked, steps = count(1), budget.steps_for(self._highs.getNumNz())
        self._highs.cbMipInterrupt += lambda event: event.interrupt(next(asked) > steps or run.interrupted())
        self._highs.run()
        status, info = self._status(run), self._highs.getInfo()
        if status == highspy.HighsModelStatus.kInfeasible:
            return MipResult(Ended.INFEASIBLE, np.inf, np.inf, None)
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        x = np.array(self._highs.getSolution().col_value) if found else None
        ended = Ended.OPTIMAL if status == highspy.HighsModelStatus.kOptimal else Ended.STOPPED
        return MipResult(ended, info.objective_function_value * 1e6, info.mip_dual_bound * 1e6, x)
