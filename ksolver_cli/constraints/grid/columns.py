"""Node labels as columns: a selector is tested once for each distinct value instead of once for each node."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ksolver_cli.constraints.matching.selectors import NAME_FIELD, Test, field_test, label_test, usable_terms
from ksolver_cli.domain.labels import NodeSelectorTerm, Requirement
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import PodSpec

Mask = NDArray[np.bool_]


class Column:
    """One label key over all nodes: `codes` point into `values`; None stands for nodes without the key."""

    __slots__ = ("_positions", "codes", "values")

    def __init__(self, cells: Iterable[str | None]) -> None:
        positions: dict[str | None, int] = {}
        self.codes = np.array([positions.setdefault(cell, len(positions)) for cell in cells], dtype=np.intp)
        self.values: tuple[str | None, ...] = tuple(positions)
        self._positions = positions

    def where(self, test: Callable[[str | None], bool]) -> Mask:
        """Nodes whose value (None when absent) passes the test."""
        return np.fromiter(map(test, self.values), dtype=np.bool_, count=len(self.values))[self.codes]

    def among(self, chosen: Iterable[str]) -> Mask:
        """Nodes whose value is one of the chosen; quicker than `where` when few values are."""
        flags = np.zeros(len(self.values), dtype=np.bool_)
        for value in chosen:
            position = self._positions.get(value)
            if position is not None:
                flags[position] = True
        return flags[self.codes]


class Columns:
    """Columns of the keys asked for, and which nodes a pod spec selects."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._columns: dict[str, Column] = {}
        self._names: Column | None = None
        self._requirements: dict[tuple[bool, Requirement], Mask] = {}
        self._selected: dict[int, tuple[PodSpec, Mask]] = {}

    def label(self, key: str) -> Column:
        """The column of a label key."""
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = Column(node.labels.get(key) for node in self._nodes)
        return column

    def names(self) -> Column:
        """The column of node names."""
        if self._names is None:
            self._names = Column(node.name for node in self._nodes)
        return self._names

    def has_keys(self, keys: Iterable[str]) -> Mask:
        """Nodes that carry every one of the label keys."""
        mask = np.ones(len(self._nodes), dtype=np.bool_)
        for key in keys:
            mask &= self.label(key).where(lambda value: value is not None)
        return mask

    def selected(self, spec: PodSpec) -> Mask:
        """Nodes that satisfy nodeSelector and required node affinity."""
        known = self._selected.get(id(spec))
        if known is None:
            known = self._selected[id(spec)] = (spec, self._select(spec))
        return known[1]

    def _select(self, spec: PodSpec) -> Mask:
        mask = np.ones(len(self._nodes), dtype=np.bool_)
        for key, value in spec.node_selector:
            mask &= self.label(key).where(_equals(value))
        if spec.node_affinity is not None:
            any_term = np.zeros(len(self._nodes), dtype=np.bool_)
            for term in usable_terms(spec.node_affinity):
                any_term |= self._term(term)
            mask &= any_term
        return mask

    def _term(self, term: NodeSelectorTerm) -> Mask:
        mask = np.ones(len(self._nodes), dtype=np.bool_)
        for requirement in term.expressions:
            mask &= self._requirement(requirement, in_fields=False)
        for requirement in term.fields:
            mask &= self._requirement(requirement, in_fields=True)
        return mask

    def _requirement(self, requirement: Requirement, *, in_fields: bool) -> Mask:
        known = self._requirements.get((in_fields, requirement))
        if known is None:
            if in_fields:
                known = self.names().where(_on_cell(field_test(requirement), NAME_FIELD))
            else:
                known = self.label(requirement.key).where(_on_cell(label_test(requirement), requirement.key))
            self._requirements[in_fields, requirement] = known
        return known


def _equals(wanted: str) -> Callable[[str | None], bool]:
    return lambda value: value == wanted


def _on_cell(test: Test, key: str) -> Callable[[str | None], bool]:
    return lambda value: test({} if value is None else {key: value})
