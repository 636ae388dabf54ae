"""Names for an anonymous file: equal names stay equal, and in the order in which they were.

One name becomes one other wherever it stands: as a node, in a selector, in a claim. The numbers follow the sorted order
of the originals, because answers may depend on the order of names where all else is equal.
"""

from collections.abc import Iterable, Mapping

from ksolver_cli.snapshot.naming.known import has_public_value, is_known, says_nothing

_UNKNOWN = "name"
_FARGATE = "fargate-"
# Without it the translation of in-tree volumes refuses an EBS volume.
_EBS = "vol-"


def _parts(image: str) -> tuple[str, str, str]:
    """Repository, separator and tag or digest."""
    repository, at, digest = image.partition("@")
    if at:
        return repository, at, digest
    head, colon, tag = image.rpartition(":")
    return (head, colon, tag) if colon and "/" not in tag else (image, "", "")


class Collected:
    """Changes nothing, and notes every name."""

    renames = True

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.roles: dict[str, str] = {}

    def note_role(self, text: str, role: str) -> None:
        """Note what kind of object bears a name; the first kind wins."""
        self.roles.setdefault(text, role)

    def name(self, text: str) -> str:
        """Note a name."""
        if not says_nothing(text):
            self.names.add(text)
        return text

    def key(self, key: str) -> str:
        """Note a key of the cluster's own."""
        if not is_known(key):
            self.names.add(key)
        return key

    def value(self, key: str, text: str) -> str:
        """Note a value that is no fact of a machine."""
        return text if has_public_value(key) else self.name(text)

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Note keys and values."""
        for key, value in labels.items():
            self.value(self.key(key), value)
        return dict(labels)

    def image(self, image: str) -> str:
        """Note a repository and its tag."""
        repository, _, tag = _parts(image)
        self.name(repository)
        if tag != "latest":
            self.name(tag)
        return image

    def provider_id(self, text: str) -> str:
        """Note the parts of an ID that are no zone."""
        for part in _private_parts(text):
            self.name(part)
        return text


class Anonymous:
    """Replaces every name."""

    renames = True

    def __init__(self, collected: Collected, derived: Iterable[tuple[str, str]] = ()) -> None:
        width = max(4, len(str(len(collected.names))))
        ordered = enumerate(sorted(collected.names), 1)
        self.map = {
            text: f"{_EBS if text.startswith(_EBS) else ''}x{number:0{width}d}-{collected.roles.get(text, _UNKNOWN)}"
            for number, text in ordered
        }
        for first, second in derived:
            # A ReplicaSet is called after its Deployment, an ephemeral volume's claim after its pod and volume.
            joined = f"{first}-{second}"
            if joined in self.map:
                self.map[joined] = f"{self.name(first)}-{self.name(second)}"

    def name(self, text: str) -> str:
        """Return the other name; a name that was never noted has none, and gets lost."""
        return text if says_nothing(text) else self.map.get(text, _UNKNOWN)

    def key(self, key: str) -> str:
        """Return the key, or another for one of the cluster's own."""
        return key if is_known(key) else self.map.get(key, _UNKNOWN)

    def value(self, key: str, text: str) -> str:
        """Return the value where it is a fact of a machine, else its other name."""
        return text if has_public_value(key) else self.name(text)

    def labels(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Return all labels under other names."""
        return {self.key(key): self.value(key, value) for key, value in labels.items()}

    def image(self, image: str) -> str:
        """Return another repository and tag; that there is none, or that it is `latest`, stays."""
        repository, separator, tag = _parts(image)
        return f"{self.name(repository)}{separator}{tag if tag == 'latest' else self.name(tag)}"

    def provider_id(self, text: str) -> str:
        """Return the ID with its scheme and zone, for they decide the price, and nothing else."""
        scheme, separator, rest = text.partition("://")
        if not separator:
            return self.name(text)
        private = set(_private_parts(text))
        return f"{scheme}://{'/'.join(self._id_part(part, private) for part in rest.split('/'))}"

    def _id_part(self, part: str, private: set[str]) -> str:
        if part.startswith(_FARGATE):
            return _FARGATE + self.name(part.removeprefix(_FARGATE))
        return self.name(part) if part in private else part


def _private_parts(provider_id: str) -> list[str]:
    """The parts of a node's providerID that name something: all but the zone in those of AWS and Google Cloud."""
    scheme, separator, rest = provider_id.partition("://")
    if not separator:
        return [provider_id]
    parts = rest.split("/")
    if scheme in {"aws", "gce"} and len(parts) > 2:
        del parts[1]
    return [part.removeprefix(_FARGATE) for part in parts if part]
