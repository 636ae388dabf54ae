"""Label selectors and node selectors, as the API spells them."""

from ksolver_cli.domain.labels import LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.normalise.fields import Field

_OPERATORS = frozenset(Operator)
"""Gt and Lt are read in label selectors too: it is for the families to say that they are refused there."""


def read_selector(selector: Field) -> LabelSelector | None:
    """A `metav1.LabelSelector`: None when null (matches nothing), empty when `{}` (matches everything).

    `matchLabels` come first, sorted by key, so that equal selectors compare equal.
    """
    if selector.absent:
        return None
    labels = sorted(selector["matchLabels"].text_map().items())
    expressions = selector["matchExpressions"].items()
    return LabelSelector(
        (
            *(Requirement(key, Operator.IN, (value,)) for key, value in labels),
            *(_requirement(expression) for expression in expressions),
        )
    )


def read_equality_selector(selector: Field) -> LabelSelector | None:
    """The plain label map by which a Service or ReplicationController selects; None when absent or empty."""
    labels = sorted(selector.text_map().items())
    if not labels:
        return None
    return LabelSelector(tuple(Requirement(key, Operator.IN, (value,)) for key, value in labels))


def read_node_selector(selector: Field) -> NodeSelector | None:
    """A `v1.NodeSelector`; None when absent."""
    if selector.absent:
        return None
    return NodeSelector(tuple(read_node_term(term) for term in selector["nodeSelectorTerms"].items()))


def read_node_term(term: Field) -> NodeSelectorTerm:
    """A `v1.NodeSelectorTerm`."""
    return NodeSelectorTerm(
        expressions=tuple(_requirement(r) for r in term["matchExpressions"].items()),
        fields=tuple(_requirement(r) for r in term["matchFields"].items()),
    )


def _requirement(requirement: Field) -> Requirement:
    return Requirement(
        key=requirement["key"].text(),
        operator=Operator(requirement["operator"].one_of(_OPERATORS)),
        values=requirement["values"].texts(),
    )
