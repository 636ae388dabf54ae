"""What selects by labels in a snapshot, and which label values look like credentials."""

import re
from collections.abc import Mapping
from functools import lru_cache

from ksolver_cli.snapshot.naming.known import is_known, says_nothing

_SECRET_KEY = re.compile(r"token|secret|passw|credential|api.?key|private.?key|auth", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"eyJ[\w-]{8,}.*|(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|sk-|dop_v1_|hvs\.)[\w-]{10,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[\w-]{30,}|[0-9a-fA-F]{32,}"
)
_LONG_WORD = 20


@lru_cache(maxsize=65_536)
def looks_secret(key: str, value: str) -> bool:
    """Whether a label value looks like a credential: by its key's name, by a known token format, or as a long word of
    mixed letters and digits. Values of keys that Kubernetes and clouds set never do.
    """
    if is_known(key) or says_nothing(value):
        return False
    return bool(_SECRET_KEY.search(key) or _SECRET_VALUE.fullmatch(value) or _is_scrambled(value))


def _is_scrambled(value: str) -> bool:
    words = re.split(r"[-_.]", value)
    longest = max(words, key=len)
    kinds = (str.isdigit, str.isupper, str.islower)
    return len(longest) >= _LONG_WORD and all(any(kind(c) for c in longest) for kind in kinds)


class Selected:
    """Changes nothing, and notes every key that something selects by and every secret-looking value."""

    renames = False

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.secrets: set[str] = set()

    def name(self, text: str) -> str:
        """Return the name."""
        return text

    def key(self, key: str) -> str:
        """Note a key that is selected by."""
        self.keys.add(key)
        return key

    def value(self, key: str, text: str) -> str:
        """Note a secret-looking value that is selected by."""
        if looks_secret(key, text):
            self.secrets.add(text)
        return text

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Note secret-looking values."""
        self.secrets.update(value for key, value in labels.items() if looks_secret(key, value))
        return dict(labels)

    def image(self, image: str) -> str:
        """Return the image."""
        return image

    def provider_id(self, text: str) -> str:
        """Return the ID."""
        return text
