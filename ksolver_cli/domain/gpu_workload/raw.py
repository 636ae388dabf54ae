"""Narrowing of untyped API objects: a wrong type reads as absent, never as a crash."""

from collections.abc import Iterator, Mapping

RawObject = Mapping[str, object]

_NOTHING: RawObject = {}


def mapping(value: object) -> RawObject:
    """Return the value when it is an object, else an empty one."""
    return value if isinstance(value, dict) else _NOTHING


def at(value: object, *path: str) -> object:
    """Return what lies at a path of keys, or None when a step is missing."""
    for key in path:
        value = mapping(value).get(key)
    return value


def items(value: object) -> list[object]:
    """Return the value when it is a list, else an empty list."""
    return value if isinstance(value, list) else []


def mappings(value: object) -> Iterator[RawObject]:
    """Yield the objects of a list and pass over everything else in it."""
    return (entry for entry in items(value) if isinstance(entry, dict))


def text(value: object) -> str | None:
    """Return a non-empty string, else None."""
    return value if isinstance(value, str) and value else None


def texts(value: object) -> list[str]:
    """Return the entries of a list as strings; YAML numbers and booleans keep their JSON spelling."""
    return [_spelled(entry) for entry in items(value)]


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def string_map(value: object) -> dict[str, str]:
    """Return the string-valued entries of an object (labels, annotations)."""
    return {key: entry for key, entry in mapping(value).items() if isinstance(entry, str)}


def annotations_of(obj: object) -> dict[str, str]:
    """Return the annotations of an API object or a pod template."""
    return string_map(at(obj, "metadata", "annotations"))


def labels_of(obj: object) -> dict[str, str]:
    """Return the labels of an API object or a pod template."""
    return string_map(at(obj, "metadata", "labels"))
