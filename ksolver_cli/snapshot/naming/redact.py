"""Names for a redacted file: all as they are, but of labels only those that something can look at.

A label stays when its key is one that Kubernetes, clouds, autoscalers or device plugins set, when something in the
snapshot selects by its key, or when the user asks for it. A value that looks like a credential is replaced, in labels,
selectors, taints and tolerations alike, so that what matched still matches.
"""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from ksolver_cli.snapshot.naming.known import is_known
from ksolver_cli.snapshot.naming.selected import Selected, looks_secret


class Redacted:
    """Leaves out labels that nobody looks at."""

    renames = False

    def __init__(self, selected: Selected, keep: Collection[str] = ()) -> None:
        self._selected = frozenset(selected.keys)
        self._keep = tuple(keep)
        ordered = sorted(selected.secrets)
        self._stand_ins = {text: f"redacted-{number:04d}" for number, text in enumerate(ordered, 1)}
        self._shown = lru_cache(maxsize=None)(self._is_shown)

    def name(self, text: str) -> str:
        """Return the name."""
        return text

    def key(self, key: str) -> str:
        """Return the key."""
        return key

    def value(self, key: str, text: str) -> str:
        """Return the value, or its stand-in where it looks like a credential."""
        return self._stand_ins.get(text, text) if looks_secret(key, text) else text

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return the labels that stay."""
        return {key: self.value(key, value) for key, value in labels.items() if self._shown(key)}

    def image(self, image: str) -> str:
        """Return the image."""
        return image

    def provider_id(self, text: str) -> str:
        """Return the ID."""
        return text

    def _is_shown(self, key: str) -> bool:
        return is_known(key) or key in self._selected or any(fnmatchcase(key, pattern) for pattern in self._keep)
