"""Selectors match as the API machinery does, and refuse what it refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.constraints.matching.selectors import is_label_value, node_matcher, parse_int64, pod_matcher
from ksolver_cli.domain.labels import LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement


def need(operator: Operator, *values: str, key: str = "k") -> Requirement:
    return Requirement(key, operator, values)


@pytest.mark.parametrize(
    ("requirement", "absent", "one", "two"),
    [
        (need(Operator.IN, "1"), False, True, False),
        (need(Operator.NOT_IN, "1"), True, False, True),
        (need(Operator.EXISTS), False, True, True),
        (need(Operator.DOES_NOT_EXIST), True, False, False),
        (need(Operator.GT, "1"), False, False, True),
        (need(Operator.LT, "2"), False, True, False),
    ],
)
def test_operators(requirement: Requirement, absent: bool, one: bool, two: bool) -> None:
    matches = node_matcher(NodeSelector((NodeSelectorTerm((requirement,)),)))
    assert [matches(labels, "n") for labels in ({}, {"k": "1"}, {"k": "2"})] == [absent, one, two]


@pytest.mark.parametrize(
    "requirement",
    [
        need(Operator.IN),
        need(Operator.IN, "-"),
        need(Operator.NOT_IN, "a b"),
        need(Operator.EXISTS, "x"),
        need(Operator.GT, "-1"),
        need(Operator.GT, "1", "2"),
        need(Operator.LT, "many"),
        need(Operator.IN, "v" * 64),
        need(Operator.EXISTS, key="-/x"),
        need(Operator.EXISTS, key=""),
    ],
)
def test_a_term_that_does_not_parse_matches_nothing_and_leaves_the_others_alone(requirement: Requirement) -> None:
    broken, good = NodeSelectorTerm((requirement,)), NodeSelectorTerm((need(Operator.DOES_NOT_EXIST),))
    assert not node_matcher(NodeSelector((broken,)))({}, "n")
    assert node_matcher(NodeSelector((broken, good)))({}, "n")


def test_an_empty_term_matches_nothing_and_fields_name_nodes() -> None:
    field = NodeSelectorTerm(fields=(need(Operator.IN, "n1", key="metadata.name"),))
    assert not node_matcher(NodeSelector((NodeSelectorTerm(),)))({}, "n1")
    assert node_matcher(NodeSelector((field,)))({}, "n1")
    assert not node_matcher(NodeSelector((field,)))({}, "n2")
    twice = NodeSelectorTerm(fields=(need(Operator.IN, "n1", "n2", key="metadata.name"),))
    assert not node_matcher(NodeSelector((twice,)))({}, "n1")


def test_absent_matches_nothing_and_empty_everything() -> None:
    assert not pod_matcher(None).matches({})
    assert not pod_matcher(None).is_empty
    assert pod_matcher(LabelSelector()).matches({})
    assert pod_matcher(LabelSelector()).is_empty


def test_pods_are_not_compared_by_number() -> None:
    assert "not a valid label selector operator" in pod_matcher(LabelSelector((need(Operator.GT, "1"),))).fault


@given(st.integers(-(1 << 64), 1 << 64))
def test_integers_of_64_bits(value: int) -> None:
    assert parse_int64(str(value)) == (value if -(1 << 63) <= value < 1 << 63 else None)


@pytest.mark.parametrize("text", ["", "1.0", " 1", "1_000", "0x1", "١"])
def test_what_is_no_integer(text: str) -> None:
    assert parse_int64(text) is None


@pytest.mark.parametrize(("text", "fine"), [("", True), ("a.b_c-d", True), ("-a", False), ("a-", False), ("ä", False)])
def test_label_values(text: str, fine: bool) -> None:
    assert is_label_value(text) is fine
