"""Makes `docs/reference/report.schema.json` from the report's own types: `python -m tools.report_schema`."""

import dataclasses
import enum
import inspect
import json
import sys
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ksolver_cli.domain.report.report import SCHEMA, Report

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "report.schema.json"

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"type": ["number", "null"]},
    type(None): {"type": "null"},
}
_MONTH = "Units of the currency a month of 730 hours, rounded to cents."


def schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of the report."""
    definitions: dict[str, Any] = {}
    root = _of(Report, definitions)
    definitions["Report"]["properties"]["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://ksolver.dev/schemas/report-1.json",
        "title": SCHEMA,
        **root,
        "$defs": definitions,
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind in _SCALARS:
        return dict(_SCALARS[kind])
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return {"enum": [member.value for member in kind]}
    if dataclasses.is_dataclass(kind):
        return _reference(typing.cast(type, kind), definitions)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return _union(arguments, definitions)
    if origin is tuple:
        return _tuple(arguments, definitions)
    if origin in (Mapping, dict, types.MappingProxyType) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    raise TypeError(f"no schema for {kind!r}")


def _union(arguments: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [_of(argument, definitions) for argument in arguments]}


def _tuple(arguments: tuple[Any, ...], definitions: dict[str, Any]) -> dict[str, Any]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    count = len(arguments)
    items = [_of(argument, definitions) for argument in arguments]
    return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}


def _reference(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        definitions[kind.__name__].update(_object(kind, definitions))
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    properties: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        properties[field.name] = _of(hints[field.name], definitions)
        if field.name.endswith("_micros"):
            month = {"type": ["number", "null"] if _may_be_none(hints[field.name]) else "number", "description": _MONTH}
            properties[field.name.removesuffix("_micros") + "_per_month"] = month
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def _may_be_none(kind: Any) -> bool:
    return type(None) in typing.get_args(kind)


def text() -> str:
    """The schema file's content."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    sys.stderr.write(f"wrote {TARGET}\n")
