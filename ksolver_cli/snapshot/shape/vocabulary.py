"""The words in which kept fields are described. Each shape can keep (drop all that it does not know) and change (give
another name to what it knows to be a name).
"""

from collections.abc import Mapping
from typing import Any, Protocol

_PLAIN = (str, int, float, bool, type(None))
ODD = "?"
"""Stands for text where an object or a list belongs: wrong enough for a reader to see, and no longer a secret."""


class Names(Protocol):
    """Whoever decides what names, labels and images are called in the file."""

    renames: bool
    """Whether anything but labels and what selects by them changes."""

    def name(self, text: str) -> str:
        """Return what a name becomes."""
        ...

    def key(self, key: str) -> str:
        """Return what a label key, taint key or topology key becomes where something selects by it."""
        ...

    def value(self, key: str, text: str) -> str:
        """Return what a label value becomes where something selects by it."""
        ...

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return what the labels of an object become; some may be left out."""
        ...

    def image(self, image: str) -> str:
        """Return what a container image becomes."""
        ...

    def provider_id(self, text: str) -> str:
        """Return what a node's providerID becomes."""
        ...


class Shape(Protocol):
    """What is kept of one field."""

    @property
    def nameless(self) -> bool:
        """Whether there is nothing below that `change` would touch."""
        ...

    @property
    def labelless(self) -> bool:
        """Whether there is nothing below that has to do with labels."""
        ...

    def keep(self, raw: Any) -> Any:
        """Return the part that is kept, in new containers."""
        ...

    def change(self, kept: Any, names: Names) -> Any:
        """Return what was kept, under other names."""
        ...


def odd(raw: Any) -> Any:
    """Return what stands for a value of the wrong type: as wrong for a reader, but with nothing in it."""
    if isinstance(raw, str):
        return ODD
    if isinstance(raw, dict):
        return {}
    return [] if isinstance(raw, list) else raw


class Public:
    """A single value that names nothing: a number, a phase, a moment, a quantity."""

    nameless = True
    labelless = True

    def keep(self, raw: Any) -> Any:
        """Return the value; containers come back empty."""
        return raw if isinstance(raw, _PLAIN) else odd(raw)

    def change(self, kept: Any, names: Names) -> Any:
        """Return the value."""
        return kept


class Text(Public):
    """A single text that `how` of `Names` may change."""

    nameless = False

    def __init__(self, how: str) -> None:
        self._how = how
        self.labelless = how != "key"

    def change(self, kept: Any, names: Names) -> Any:
        """Return the text under its other name."""
        return getattr(names, self._how)(kept) if isinstance(kept, str) and kept else kept


class Each:
    """A list of one shape."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.nameless = shape.nameless
        self.labelless = shape.labelless

    def keep(self, raw: Any) -> Any:
        """Return every entry's kept part."""
        return [self._shape.keep(entry) for entry in raw] if isinstance(raw, list) else odd(raw)

    def change(self, kept: Any, names: Names) -> Any:
        """Return every entry changed."""
        if self.nameless or (self.labelless and not names.renames) or not isinstance(kept, list):
            return kept
        return [self._shape.change(entry, names) for entry in kept]


class Table:
    """An object whose keys are data in themselves (resource names, attribute names) and stay."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self.nameless = shape.nameless
        self.labelless = shape.labelless

    def keep(self, raw: Any) -> Any:
        """Return every value's kept part."""
        return {key: self._shape.keep(value) for key, value in raw.items()} if isinstance(raw, dict) else odd(raw)

    def change(self, kept: Any, names: Names) -> Any:
        """Return every value changed."""
        if self.nameless or (self.labelless and not names.renames) or not isinstance(kept, dict):
            return kept
        return {key: self._shape.change(value, names) for key, value in kept.items()}


class Record:
    """An object with known fields; all others are dropped."""

    def __init__(self, fields: Mapping[str, Shape] | None = None, **more: Shape) -> None:
        self.fields: dict[str, Shape] = {**(fields or {}), **more}
        # Most fields are single values: telling them apart beforehand halves the time that a large cluster takes.
        self._leaves = frozenset(name for name, shape in self.fields.items() if isinstance(shape, Public))
        self._branches = {name: shape for name, shape in self.fields.items() if name not in self._leaves}
        self._changing = {name: shape for name, shape in self.fields.items() if not shape.nameless}
        self._labelled = {name: shape for name, shape in self.fields.items() if not shape.labelless}
        self.nameless, self.labelless = not self._changing, not self._labelled

    def keep(self, raw: Any) -> Any:
        """Return the known fields that are there."""
        if not isinstance(raw, dict):
            return odd(raw)
        kept, leaves, branches = {}, self._leaves, self._branches
        for name, value in raw.items():
            if name in leaves:
                kept[name] = value if isinstance(value, _PLAIN) else odd(value)
            elif name in branches:
                kept[name] = branches[name].keep(value)
        return kept

    def change(self, kept: Any, names: Names) -> Any:
        """Return all fields changed."""
        if not isinstance(kept, dict):
            return kept
        changed = dict(kept)
        for name, shape in (self._changing if names.renames else self._labelled).items():
            if name in changed:
                changed[name] = shape.change(changed[name], names)
        return changed


class Labels:
    """The labels an object has."""

    nameless = False
    labelless = False

    def keep(self, raw: Any) -> Any:
        """Return all labels; which of them a file needs is known only when all selectors have been seen."""
        if not isinstance(raw, dict):
            return odd(raw)
        return {key: value if isinstance(value, _PLAIN) else odd(value) for key, value in raw.items()}

    def change(self, kept: Any, names: Names) -> Any:
        """Return what the labels become."""
        if not isinstance(kept, dict):
            return kept
        return names.labels({key: value for key, value in kept.items() if isinstance(value, str)})


class MatchLabels(Labels):
    """Labels that something selects by."""

    def change(self, kept: Any, names: Names) -> Any:
        """Return keys and values under their other names."""
        if not isinstance(kept, dict):
            return kept
        return {names.key(k): names.value(k, v) if isinstance(v, str) else v for k, v in kept.items()}


class Keyed(Record):
    """An object that speaks of the label or taint in its `key`, with a `value` or `values` of it."""

    def __init__(self, fields: Mapping[str, Shape] | None = None, **more: Shape) -> None:
        super().__init__(fields, **more)
        self.nameless = self.labelless = False

    def change(self, kept: Any, names: Names) -> Any:
        """Return key and values under their other names, the rest as in a record."""
        if not isinstance(kept, dict):
            return kept
        changed: dict[str, Any] = super().change(kept, names)
        key = kept.get("key")
        if not isinstance(key, str):
            return changed
        changed["key"] = names.key(key) if key else key
        if isinstance(kept.get("value"), str) and kept["value"]:
            changed["value"] = names.value(key, kept["value"])
        if isinstance(kept.get("values"), list):
            changed["values"] = [
                names.value(key, value) if isinstance(value, str) else value for value in kept["values"]
            ]
        return changed


class FieldRequirement(Record):
    """A requirement on `metadata.name` of a node: key and operator are words of the API, the values are names."""

    def __init__(self, fields: Mapping[str, Shape] | None = None, **more: Shape) -> None:
        super().__init__(fields, **more)
        self.nameless = False

    def change(self, kept: Any, names: Names) -> Any:
        """Return the values under their other names."""
        if not isinstance(kept, dict) or not isinstance(kept.get("values"), list):
            return kept
        return {**kept, "values": [names.name(v) if isinstance(v, str) else v for v in kept["values"]]}


PUBLIC = Public()
NAME = Text("name")
KEY = Text("key")
IMAGE = Text("image")
PROVIDER_ID = Text("provider_id")
WORDS = Each(PUBLIC)
NAMES = Each(NAME)
KEYS = Each(KEY)
AMOUNTS = Table(PUBLIC)
LABELS = Labels()
MATCH_LABELS = MatchLabels()


def public(*fields: str) -> dict[str, Shape]:
    """Return fields that hold single values which name nothing."""
    return dict.fromkeys(fields, PUBLIC)


def named(*fields: str) -> dict[str, Shape]:
    """Return fields that hold names."""
    return dict.fromkeys(fields, NAME)


REQUIREMENT = Keyed(public("key", "operator"), values=WORDS)
SELECTOR = Record(matchLabels=MATCH_LABELS, matchExpressions=Each(REQUIREMENT))
NODE_TERM = Record(
    matchExpressions=Each(REQUIREMENT),
    matchFields=Each(FieldRequirement(public("key", "operator"), values=WORDS)),
)
NODE_SELECTOR = Record(nodeSelectorTerms=Each(NODE_TERM))
TOLERATION = Keyed(public("key", "operator", "value", "effect", "tolerationSeconds"))
TAINT = Keyed(public("key", "value", "effect", "timeAdded"))
CONDITION = Record(public("type", "status", "reason", "lastTransitionTime"))
CONDITIONS = Each(CONDITION)
