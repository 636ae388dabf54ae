"""The report as JSON, under the published schema."""

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any

import orjson

from ksolver_cli.domain.money import HOURS_PER_MONTH

_PER_HOUR = "_micros"
_CENTS = 10_000


def to_plain(value: Any) -> Any:
    """Dataclasses, enums and tuples as what JSON knows. Each `x_micros` (an hour) gets an `x_per_month` beside it, in
    units of the currency, rounded to cents half to even.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _with_months({field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)})
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [to_plain(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]
    if isinstance(value, float) and not (value == value and abs(value) != float("inf")):
        return None
    return value


def _with_months(fields: dict[str, Any]) -> dict[str, Any]:
    complete: dict[str, Any] = {}
    for name, value in fields.items():
        complete[name] = value
        if name.endswith(_PER_HOUR) and (value is None or isinstance(value, int)):
            month = None if value is None else round(value * HOURS_PER_MONTH / _CENTS) / 100
            complete[name.removesuffix(_PER_HOUR) + "_per_month"] = month
    return complete


def to_json(value: Any) -> str:
    """Indented JSON with sorted keys and a final newline: equal facts give equal bytes."""
    return orjson.dumps(to_plain(value), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode() + "\n"
