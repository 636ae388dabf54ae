"""Labels and the three ways Kubernetes selects on them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

Labels = Mapping[str, str]


class Operator(StrEnum):
    """Operators of label and node selector requirements."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One `key operator values` line of a selector."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A `metav1.LabelSelector`; with no requirement it matches everything. An absent selector is `None` and matches
    nothing.
    """

    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """Requirements on labels (`matchExpressions`) and fields (`matchFields`), all of which must hold; an empty term
    matches nothing.
    """

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeSelector:
    """Terms of which one must match (OR)."""

    terms: tuple[NodeSelectorTerm, ...]


def label_keys(selectors: Iterable[LabelSelector | None]) -> frozenset[str]:
    """The label keys that any of the selectors looks at."""
    return frozenset(r.key for s in selectors if s is not None for r in s.requirements)
