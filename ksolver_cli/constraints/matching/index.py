"""Finding what a selector may match, and which selectors may match, without trying them all.

Nearly every selector names a label and its values. Objects filed under their labels, and selectors under such a pair,
meet in a look-up; the caller still asks the selector itself.
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from ksolver_cli.domain.labels import Labels, LabelSelector, Operator

T = TypeVar("T")
Pair = tuple[str, str]


def anchor(selector: LabelSelector | None) -> tuple[Pair, ...] | None:
    """Pairs of label and value of which everything the selector matches has one; None when it names no values."""
    if selector is None:
        return ()
    named = [requirement for requirement in selector.requirements if requirement.operator is Operator.IN]
    if not named:
        return None
    fewest = min(named, key=lambda requirement: len(requirement.values))
    return tuple((fewest.key, value) for value in dict.fromkeys(fewest.values))


class LabelIndex(Generic[T]):
    """Objects by namespace and by each of their labels, in the order in which they came."""

    def __init__(self) -> None:
        self._filed: dict[tuple[str | None, Pair | None], list[T]] = {}

    def add(self, namespace: str, labels: Labels, item: T) -> None:
        """File an object."""
        for pair in (None, *labels.items()):
            self._filed.setdefault((namespace, pair), []).append(item)
            self._filed.setdefault((None, pair), []).append(item)

    def candidates(self, namespace: str | None, selector: LabelSelector | None) -> Iterator[T]:
        """Objects of the namespace (None is all of them) that the selector may match."""
        pairs = anchor(selector)
        for pair in (None,) if pairs is None else pairs:
            yield from self._filed.get((namespace, pair), ())


class SelectorIndex(Generic[T]):
    """Things that select, by namespace (None reaches all) and by a pair of their selector."""

    def __init__(self) -> None:
        self._filed: dict[tuple[str | None, Pair | None], list[T]] = {}

    def add(self, namespace: str | None, selector: LabelSelector | None, item: T) -> None:
        """File a thing that selects."""
        pairs = anchor(selector)
        for pair in (None,) if pairs is None else pairs:
            self._filed.setdefault((namespace, pair), []).append(item)

    def candidates(self, namespace: str, labels: Labels) -> Iterator[T]:
        """Things that may select an object with these labels in this namespace."""
        for reached in (namespace, None):
            for pair in (None, *labels.items()):
                yield from self._filed.get((reached, pair), ())
