"""Label selectors and node selectors, as the API spells them."""

from ksolver_cli.domain.labels import LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.normalise.fields import Field

_LABEL_OPERATORS = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})
_NODE_OPERATORS = frozenset(Operator)


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
            *(_requirement(expression, _LABEL_OPERATORS) for expression in expressions),
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
        expressions=tuple(_requirement(r, _NODE_OPERATORS) for r in term["matchExpressions"].items()),
        fields=tuple(_requirement(r, _NODE_OPERATORS) for r in term["matchFields"].items()),
    )


def _requirement(requirement: Field, operators: frozenset[str]) -> Requirement:
    return Requirement(
        key=requirement["key"].text(),
        operator=Operator(requirement["operator"].one_of(operators)),
        values=requirement["values"].texts(),
    )
