"""Lists as kubectl prints them, object by object, so that 150,000 pods need not be held twice in memory.

`kubectl get -o json` prints one brace or field a line, each depth further to the right. JSON text holds no line breaks,
so that a line with a closing brace at the items' own depth can only be an item's end. Whatever looks different in any
way is left to the parser that takes the whole text.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

_HEAD = re.compile(rb'\s*\{\r?\n([ \t]+)"apiVersion": "[\w./-]+",\n\1"items": \[\n([ \t]+)\{\n')
HEAD_BYTES = 4096
_BATCH = 500


class NotALongListError(Exception):
    """The text is no list of this form after all, or breaks off."""


def is_long_list(head: bytes) -> bool:
    """Whether a text that begins like this is a list as kubectl prints it."""
    return _HEAD.match(head) is not None


def batches(chunks: Iterable[bytes]) -> Iterator[list[Any]]:
    """Yield the items of a list in groups; raises NotALongListError where the text is another after all."""
    parts = iter(chunks)
    buffer = bytearray()
    match = None
    while match is None:
        buffer += _next(parts)
        match = _HEAD.match(buffer)
    indent = match[2]
    separator, end = b"\n" + indent + b"},\n" + indent + b"{\n", b"\n" + indent + b"}\n" + match[1] + b"]"
    del buffer[: match.end() - 2]
    group: list[Any] = []
    searched = 0
    while True:
        at = buffer.find(separator, searched)
        if at < 0 and (last := buffer.find(end, searched)) >= 0:
            group.append(_item(buffer[: last + len(indent) + 2]))
            _check_tail(bytes(buffer[last + len(end) :]), parts)
            yield group
            return
        if at < 0:
            searched = max(0, len(buffer) - len(separator) - len(end))
            buffer += _next(parts)
            continue
        group.append(_item(buffer[: at + len(indent) + 2]))
        del buffer[: at + len(separator) - 2]
        searched = 0
        if len(group) == _BATCH:
            yield group
            group = []


def _next(parts: Iterator[bytes]) -> bytes:
    try:
        return next(parts)
    except StopIteration:
        raise NotALongListError from None


def _parsed(text: bytearray) -> Any:
    try:
        return orjson.loads(bytes(text))
    except orjson.JSONDecodeError as error:
        raise NotALongListError from error


def _item(text: bytearray) -> Any:
    item = _parsed(text)
    # Items that leave their kind to the list, whose own comes last, cannot be understood one by one.
    if not isinstance(item, dict) or "kind" not in item:
        raise NotALongListError
    return item


def _check_tail(tail: bytes, parts: Iterator[bytes]) -> None:
    """What follows the items must end the list: nothing of it matters, and nothing else may follow."""
    text = tail + b"".join(parts)
    _parsed(bytearray(b'{"items": []' + text.lstrip()))
