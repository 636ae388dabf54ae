"""Label selectors as kubectl's `-l` spells them."""

import re
from collections.abc import Mapping, Sequence

from ksolver_cli.domain.labels import Operator, Requirement

_SET = re.compile(r"(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s=!,()]+)\s*(?P<op>==|=|!=)\s*(?P<value>[^\s=!,()]*)")
_KEY = re.compile(r"(?P<not>!?)\s*(?P<key>[^\s=!,()]+)")
_COMMA_OUTSIDE_SET = re.compile(r",(?![^(]*\))")


def parse_selector(text: str) -> tuple[Requirement, ...]:
    """Requirements of `a=b, c!=d, e in (f, g), h, !i`. Raises ValueError with the part that is not understood."""
    return tuple(_requirement(part.strip()) for part in _COMMA_OUTSIDE_SET.split(text))


def _requirement(text: str) -> Requirement:
    if found := _SET.fullmatch(text):
        values = tuple(value.strip() for value in found["values"].split(","))
        return Requirement(found["key"], Operator.IN if found["op"] == "in" else Operator.NOT_IN, values)
    if found := _EQUAL.fullmatch(text):
        return Requirement(found["key"], Operator.NOT_IN if found["op"] == "!=" else Operator.IN, (found["value"],))
    if found := _KEY.fullmatch(text):
        return Requirement(found["key"], Operator.DOES_NOT_EXIST if found["not"] else Operator.EXISTS)
    raise ValueError(f"{text!r} is not a label requirement such as key=value")


def selects(requirements: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    """Whether all requirements hold. As in Kubernetes, `!=` and `notin` hold for a label that is absent."""
    return all(_holds(requirement, labels) for requirement in requirements)


def _holds(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    present = requirement.key in labels
    if requirement.operator is Operator.EXISTS:
        return present
    if requirement.operator is Operator.DOES_NOT_EXIST:
        return not present
    inside = present and labels[requirement.key] in requirement.values
    return inside if requirement.operator is Operator.IN else not inside
