"""Label and node selectors made ready to match, with the faults that make kube-scheduler refuse them."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from ksolver_cli.domain.labels import Labels, LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement

NAME_FIELD = "metadata.name"

_INT64 = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_POD_OPERATORS = frozenset({Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST})

Test = Callable[[Labels], bool]


class Matcher:
    """A selector ready to match.

    `fault` says why the API machinery would refuse to parse it; a faulty selector matches nothing. `is_empty` is true
    for `{}`, which matches everything, and false for an absent selector, which matches nothing.
    """

    __slots__ = ("_tests", "fault", "is_empty")

    def __init__(self, tests: tuple[Test, ...] | None, fault: str = "") -> None:
        self._tests = tests
        self.fault = fault
        self.is_empty = tests is not None and not tests

    def matches(self, labels: Labels) -> bool:
        """Whether every requirement holds for these labels."""
        return self._tests is not None and all(test(labels) for test in self._tests)


NOTHING = Matcher(None)


@lru_cache(maxsize=65536)
def pod_matcher(selector: LabelSelector | None) -> Matcher:
    """Matcher of a `metav1.LabelSelector`, as `LabelSelectorAsSelector` parses it."""
    if selector is None:
        return NOTHING
    faults = [fault for requirement in selector.requirements if (fault := _pod_fault(requirement))]
    if faults:
        return Matcher(None, faults[0])
    return Matcher(tuple(map(label_test, selector.requirements)))


@lru_cache(maxsize=65536)
def node_matcher(selector: NodeSelector) -> Callable[[Labels, str], bool]:
    """Matcher of a `v1.NodeSelector` over a node's labels and name.

    Terms are alternatives. An empty term matches no node, and neither does one that does not parse.
    """
    terms = [
        (Matcher(tuple(map(label_test, term.expressions))), Matcher(tuple(map(field_test, term.fields))))
        for term in usable_terms(selector)
    ]

    def matches(labels: Labels, name: str) -> bool:
        return any(
            labels_fit.matches(labels) and fields_fit.matches({NAME_FIELD: name}) for labels_fit, fields_fit in terms
        )

    return matches


def usable_terms(selector: NodeSelector) -> tuple[NodeSelectorTerm, ...]:
    """The terms that can match a node at all: those that parse and are not empty."""
    return tuple(term for term in selector.terms if (term.expressions or term.fields) and not _is_broken(term))


@lru_cache(maxsize=65536)
def term_matcher(term: NodeSelectorTerm) -> Callable[[Labels, str], bool]:
    """Matcher of one term, as preferred node affinity uses it."""
    return node_matcher(NodeSelector((term,)))


def is_label_value(value: str) -> bool:
    """Whether the text may stand as a label's value: at most 63 of `[-A-Za-z0-9_.]`, alphanumeric at both ends."""
    return not value or (len(value) <= 63 and _NAME.fullmatch(value) is not None)


def _is_label_key(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and (len(prefix) > 253 or not _DNS.fullmatch(prefix)):
        return False
    return 0 < len(name) <= 63 and _NAME.fullmatch(name) is not None


def parse_int64(text: str) -> int | None:
    """The integer that Go's `strconv.ParseInt(text, 10, 64)` reads, None where it refuses."""
    if not _INT64.fullmatch(text):
        return None
    value = int(text)
    return value if -(1 << 63) <= value < 1 << 63 else None


def _is_broken(term: NodeSelectorTerm) -> bool:
    return any(map(_fault, term.expressions)) or any(map(_field_fault, term.fields))


def _pod_fault(requirement: Requirement) -> str:
    if requirement.operator not in _POD_OPERATORS:
        return f'"{requirement.operator}" is not a valid label selector operator'
    return _fault(requirement)


def _fault(requirement: Requirement) -> str:
    """Why `labels.NewRequirement` refuses this requirement, in its words; empty when it does not."""
    if not _is_label_key(requirement.key):
        return f'key: Invalid value: "{requirement.key}": not a label key'
    fault = _count_fault(requirement)
    if fault:
        return f"values: {fault}"
    for position, value in enumerate(requirement.values):
        if not is_label_value(value):
            rule = _BAD_VALUE if len(value) <= 63 else "must be no more than 63 bytes"
            return f'values[{position}][{requirement.key}]: Invalid value: "{value}": {rule}'
    return ""


def _count_fault(requirement: Requirement) -> str:
    operator, values = requirement.operator, requirement.values
    if operator in (Operator.IN, Operator.NOT_IN):
        return "" if values else "for 'in', 'notin' operators, values set can't be empty"
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        return "values set must be empty for exists and does not exist" if values else ""
    if len(values) != 1:
        return "for 'Gt', 'Lt' operators, exactly one value is required"
    return "for 'Gt', 'Lt' operators, the value must be an integer" if parse_int64(values[0]) is None else ""


def _field_fault(requirement: Requirement) -> bool:
    return requirement.operator not in (Operator.IN, Operator.NOT_IN) or len(requirement.values) != 1


def field_test(requirement: Requirement) -> Test:
    """Test of one parsed `matchFields` requirement on a node's fields."""
    key, wanted, negative = requirement.key, requirement.values[0], requirement.operator is Operator.NOT_IN

    def test(fields: Mapping[str, str]) -> bool:
        return (fields.get(key, "") == wanted) is not negative

    return test


def label_test(requirement: Requirement) -> Test:
    """Test of one parsed requirement on labels."""
    key, operator, values = requirement.key, requirement.operator, frozenset(requirement.values)
    tests: dict[Operator, Test] = {
        Operator.IN: lambda labels: labels.get(key) in values,
        Operator.NOT_IN: lambda labels: labels.get(key) not in values,
        Operator.EXISTS: lambda labels: key in labels,
        Operator.DOES_NOT_EXIST: lambda labels: key not in labels,
    }
    return tests.get(operator) or _comparison(requirement)


def _comparison(requirement: Requirement) -> Test:
    key, greater = requirement.key, requirement.operator is Operator.GT
    bound = parse_int64(requirement.values[0])

    def test(labels: Labels) -> bool:
        value = parse_int64(labels.get(key, ""))
        if value is None or bound is None:
            return False
        return value > bound if greater else value < bound

    return test
