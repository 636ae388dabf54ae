"""Text to documents: strict JSON and safe YAML, with the error a person needs."""

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson
import yaml

from ksolver_cli.snapshot.model import SnapshotError

_ALIAS_CANDIDATE = re.compile(rb"(?:^|[\s\[{,:-])\*[^\s*,\]}]", re.MULTILINE)
_FIX_JSON = "write it again with `kubectl get … -o json`, or take a snapshot with `ksolver snapshot`"
_FIX_YAML = "write it again with `kubectl get … -o json`"


def parse(name: str, data: bytes) -> Iterator[Any]:
    """Each document in the text; JSON when it starts like JSON, several JSON documents one after another, else YAML."""
    text = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise SnapshotError(f"{name}: is empty", "give a file that `kubectl get … -o json` or `ksolver snapshot` wrote")
    if text[:1] in (b"{", b"["):
        yield from _json(name, text)
    else:
        yield from _yaml(name, text)


def _json(name: str, text: bytes) -> Iterator[Any]:
    try:
        yield orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith("unexpected content after document"):
            yield from _json_sequence(name, text)
            return
        raise _json_error(name, error) from error


def _json_error(name: str, error: json.JSONDecodeError) -> SnapshotError:
    if "not valid UTF-8" in error.msg:
        return SnapshotError(f"{name}: is not UTF-8 text", "save it as UTF-8, or write it again with kubectl")
    return SnapshotError(f"{name}: line {error.lineno}, column {error.colno}: not valid JSON ({error.msg})", _FIX_JSON)


def _refuse_constant(constant: str) -> Any:
    raise ValueError(f"{constant} is not a JSON number")


def _json_sequence(name: str, text: bytes) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    try:
        content = text.decode("utf-8")
        position = 0
        while position < len(content):
            document, end = decoder.raw_decode(content, position)
            yield document
            position = end
            while position < len(content) and content[position].isspace():
                position += 1
    except json.JSONDecodeError as error:
        raise _json_error(name, error) from error
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"{name}: not valid JSON ({error})", _FIX_JSON) from error


class _Loader(yaml.CSafeLoader):
    """Safe YAML that leaves timestamps as text, as Kubernetes does."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def _yaml(name: str, text: bytes) -> Iterator[Any]:
    try:
        _refuse_aliases(text)
        for document in yaml.load_all(text, Loader=_Loader):
            if document is not None:
                yield document
    except yaml.YAMLError as error:
        raise SnapshotError(f"{name}: {_yaml_place(error)}", _FIX_YAML) from error
    except (RecursionError, ValueError) as error:
        raise SnapshotError(f"{name}: not valid YAML ({error})", _FIX_YAML) from error


def _refuse_aliases(text: bytes) -> None:
    # Nested aliases make a small file explode when it is walked; kubectl never writes any.
    if _ALIAS_CANDIDATE.search(text) is None:
        return
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("anchors are not supported")


def _yaml_place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return f"{where}not valid YAML ({problem})"
