"""Sparse rows for a linear programme, kept in integers so that certificates can trust them."""

from dataclasses import dataclass

import numpy as np

from ksolver_cli.solve.problem import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `lower ≤ A x ≤ upper` in compressed form. Coefficients are integers held in floats (exact below 2^53)."""

    start: IntArray
    column: IntArray
    value: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.lower)

    def row_of_entry(self) -> IntArray:
        """[nnz] the row of each entry."""
        return np.repeat(np.arange(self.count), np.diff(self.start))

    def activity(self, x: FloatArray) -> FloatArray:
        """[row] A x."""
        sums = np.bincount(self.row_of_entry(), weights=self.value * x[self.column], minlength=self.count)
        return sums.astype(np.float64)

    def take(self, mask: BoolArray) -> "Rows":
        """The rows of the mask."""
        sizes = np.diff(self.start)
        entries = np.repeat(mask, sizes)
        start = np.concatenate([[0], np.cumsum(sizes[mask])]).astype(np.int64)
        return Rows(start, self.column[entries], self.value[entries], self.lower[mask], self.upper[mask])


@dataclass
class RowBuilder:
    """Collects rows block by block."""

    _columns: list[IntArray]
    _values: list[FloatArray]
    _sizes: list[int]
    _lower: list[float]
    _upper: list[float]

    @classmethod
    def empty(cls) -> "RowBuilder":
        """A builder without rows."""
        return cls([], [], [], [], [])

    def add(self, columns: IntArray, values: FloatArray | IntArray, lower: float, upper: float) -> None:
        """Append one row."""
        self._columns.append(np.asarray(columns, dtype=np.int64))
        self._values.append(np.asarray(values, dtype=np.float64))
        self._sizes.append(len(columns))
        self._lower.append(lower)
        self._upper.append(upper)

    def build(self) -> Rows:
        """All rows so far."""
        start = np.concatenate([[0], np.cumsum(np.array(self._sizes, dtype=np.int64))]).astype(np.int64)
        columns = np.concatenate(self._columns) if self._columns else np.zeros(0, dtype=np.int64)
        values = np.concatenate(self._values) if self._values else np.zeros(0)
        return Rows(start, columns, values, np.array(self._lower, dtype=float), np.array(self._upper, dtype=float))


def stack(first: Rows, second: Rows) -> Rows:
    """The rows of both, in order."""
    return Rows(
        np.concatenate([first.start, second.start[1:] + first.start[-1]]),
        np.concatenate([first.column, second.column]),
        np.concatenate([first.value, second.value]),
        np.concatenate([first.lower, second.lower]),
        np.concatenate([first.upper, second.upper]),
    )


def with_twins(rows: Rows, twins: IntArray, first: int) -> Rows:
    """The rows with each entry of a column `twins[i]` repeated for column `first + i`."""
    twin_of = np.full(max(int(rows.column.max(initial=-1)), int(twins.max(initial=-1))) + 1, -1, dtype=np.int64)
    twin_of[twins] = first + np.arange(len(twins))
    doubled = np.flatnonzero(twin_of[rows.column] >= 0)
    row = np.concatenate([rows.row_of_entry(), rows.row_of_entry()[doubled]])
    order = np.argsort(row, kind="stable")
    column = np.concatenate([rows.column, twin_of[rows.column[doubled]]])[order]
    value = np.concatenate([rows.value, rows.value[doubled]])[order]
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=rows.count))]).astype(np.int64)
    return Rows(start, column, value, rows.lower, rows.upper)
