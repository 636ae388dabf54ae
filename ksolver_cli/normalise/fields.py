"""Reading raw API objects: fields that know their path, and problems that name the object they were found in.

An object that cannot be read becomes a caveat and is left out; it never sinks the rest and never reads as zero.
"""

import marshal
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

from ksolver_cli.domain.cluster import Caveat, CaveatKind
from ksolver_cli.domain.quantity import Quantity, QuantityError, parse_quantity

T = TypeVar("T")
Raw = Mapping[str, object]
"""One API object as served; nothing about its shape is certain."""

MAX_INT = 2**63 - 1


class FieldError(ValueError):
    """A field does not hold what the API says it holds: where, and what was expected there."""

    def __init__(self, path: str, expected: str) -> None:
        super().__init__(f"{path}: expected {expected}")
        self.path = path
        self.expected = expected


class Field:
    """A value in an object and the way to it. Null counts as absent, as in the API server's own decoding."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: object, key: str = "", parent: "Field | None" = None) -> None:
        self.value = value
        self._key = key
        self._parent = parent

    @property
    def path(self) -> str:
        """The way from the object's root, as `spec.containers[0].name`."""
        steps = []
        step: Field | None = self
        while step is not None and step._parent is not None:
            steps.append(step._key if step._key.startswith("[") else f".{step._key}")
            step = step._parent
        return "".join(reversed(steps)).lstrip(".") or "the object"

    def bad(self, expected: str) -> FieldError:
        """The error that says what should have been here."""
        return FieldError(self.path, f"{expected}, found {_show(self.value)}")

    @property
    def absent(self) -> bool:
        """Whether there is nothing here, or null."""
        return self.value is None

    def mapping(self) -> Raw:
        """The value as a JSON object with text keys; empty when absent."""
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise self.bad("an object")
        return self.value

    def __getitem__(self, key: str) -> "Field":
        """The field `key` of this object; an absent one when there is none."""
        value = self.value
        return Field((value if type(value) is dict else self.mapping()).get(key), key, self)

    def entries(self) -> Iterator[tuple[str, "Field"]]:
        """Keys and fields of this object."""
        for key, value in self.mapping().items():
            if not isinstance(key, str):
                raise self.bad("text keys")
            yield key, Field(value, key, self)

    def items(self) -> list["Field"]:
        """The elements of a list, none of which may be null; no element when the list is absent."""
        if self.value is None:
            return []
        if not isinstance(self.value, (list, tuple)) or None in self.value:
            raise self.bad("a list without nulls")
        return [Field(value, f"[{index}]", self) for index, value in enumerate(self.value)]

    def text(self, default: str = "") -> str:
        """The value as text."""
        if self.value is None:
            return default
        if not isinstance(self.value, str):
            raise self.bad("text")
        return self.value

    def some_text(self) -> str:
        """The value as text that must be there."""
        if not self.text():
            raise self.bad("text that is not empty")
        return self.text()

    def whole(self, default: int = 0) -> int:
        """The value as an integer that fits 64 bits; a float that is whole counts."""
        value = self.value
        if value is None:
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not -MAX_INT <= value <= MAX_INT:
            raise self.bad("a whole number")
        return value

    def natural(self, default: int = 0) -> int:
        """The value as an integer that is not negative."""
        value = self.whole(default)
        if value < 0:
            raise self.bad("a number that is not negative")
        return value

    def maybe_whole(self) -> int | None:
        """The value as an integer, None when absent."""
        return None if self.value is None else self.whole()

    def flag(self, default: bool = False) -> bool:
        """The value as true or false."""
        if self.value is None:
            return default
        if not isinstance(self.value, bool):
            raise self.bad("true or false")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """The value as a list of texts."""
        value = self.value
        if value is None:
            return ()
        if isinstance(value, (list, tuple)) and all(isinstance(element, str) for element in value):
            return tuple(value)
        return tuple(item.text() for item in self.items())

    def text_map(self) -> dict[str, str]:
        """The value as a map of text to text (labels); null values read as empty, as in the API server's decoding."""
        value = self.value
        if value is None:
            return {}
        if type(value) is dict and all(type(key) is str and type(text) is str for key, text in value.items()):
            return value
        return {key: entry.text() for key, entry in self.entries()}

    def one_of(self, allowed: frozenset[str], default: str = "") -> str:
        """The value as one of the texts that the API knows here."""
        value = self.text(default) or default
        if value not in allowed:
            raise self.bad("one of " + ", ".join(sorted(allowed)))
        return value

    def quantity(self) -> Quantity:
        """The value as a quantity that is not negative."""
        try:
            parsed = parse_quantity(self.value)
        except QuantityError:
            raise self.bad("a quantity such as 250m or 1Gi") from None
        if parsed.nanos < 0:
            raise self.bad("a quantity that is not negative")
        return parsed

    def quantities(self) -> dict[str, Quantity]:
        """The value as a resource list: name to quantity."""
        return {key: entry.quantity() for key, entry in self.entries()}


class Problems:
    """Collects caveats while objects are read; equal ones are merged, and each keeps the objects it touches."""

    def __init__(self) -> None:
        self._objects: dict[tuple[CaveatKind, str], dict[str, None]] = {}

    def note(self, kind: CaveatKind, detail: str, *objects: str) -> None:
        """Record a caveat and the objects (`namespace/name`, node names) that it touches."""
        self._objects.setdefault((kind, detail), {}).update(dict.fromkeys(objects))

    def bad_object(self, kind: str, name: str, error: FieldError, *touched: str) -> None:
        """Record an object that could not be read: its API kind, its name, the field and what was expected there."""
        self.note(CaveatKind.BAD_OBJECT, f"{kind} {name}: {error}", name, *touched)

    def caveats(self) -> tuple[Caveat, ...]:
        """What was recorded, in order."""
        return tuple(Caveat(kind, detail, tuple(objects)) for (kind, detail), objects in self._objects.items())


def read_each(kind: str, raws: Iterable[object], problems: Problems, read: Callable[[Field], T]) -> list[T]:
    """Read every object that can be read; the others become caveats. `kind` is the API kind, as `PersistentVolume`."""
    found = []
    for index, raw in enumerate(raws):
        field = Field(raw)
        try:
            found.append(read(field))
        except FieldError as error:
            problems.bad_object(kind, object_name(raw, index), error)
    return found


def condition_status(status: Field, kind: str) -> str | None:
    """The status (True, False, Unknown) of a condition of this type; None without one."""
    for condition in status["conditions"].items():
        if condition.mapping().get("type") == kind:
            return condition["status"].text()
    return None


def raw_key(raw: object) -> bytes | None:
    """A raw value as bytes to recognise it by; None when it holds what JSON cannot.

    Equal values may differ in it (by the order of keys); different ones never agree.
    """
    try:
        # Version 2 writes no back references, so that the bytes depend on the value alone.
        return marshal.dumps(raw, 2)  # type: ignore[arg-type] # it refuses what it cannot write
    except ValueError:
        return None


def object_name(raw: object, index: int = 0) -> str:
    """`namespace/name` or the name of an object, even of a broken one (`#3` when it has none)."""
    metadata = raw.get("metadata") if isinstance(raw, dict) else None
    if not isinstance(metadata, dict):
        return f"#{index}"
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if not isinstance(name, str) or not name:
        return f"#{index}"
    return f"{namespace}/{name}" if isinstance(namespace, str) and namespace else name


def _show(value: object) -> str:
    """A value cut short for a message: scalars as they are, containers by their type."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if value is None:
        return "nothing"
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**40 else "a huge number"
    return text if len(text) <= 40 else f"{text[:37]}..."
