"""The workload fingerprint: pods that start the same program in the same way share one."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from ksolver_cli.domain.gpu_workload.containers import gpu_container
from ksolver_cli.domain.gpu_workload.raw import RawObject, annotations_of, mapping, mappings, text, texts

FINGERPRINT_ANNOTATION = "ksolver.dev/vram-fingerprint"
"""Where a redacted snapshot keeps `image|hash`, since it drops what the hash is made from."""

_HASH_LENGTH = 64


@dataclass(frozen=True, order=True)
class Fingerprint:
    """The image and the hash of command, arguments and environment of a pod's GPU container."""

    image: str
    command_hash: str

    @property
    def key(self) -> str:
        """The spelling used as a key: `image|hash`."""
        return f"{self.image}|{self.command_hash}"


def command_hash(command: list[str], args: list[str], env: Mapping[str, str | None]) -> str:
    """Return the SHA-256, in hex, of the compact JSON of args, command and env with sorted keys.

    An env entry is null where its value comes from elsewhere (`valueFrom`): what a Secret or the downward API
    supplies is neither known nor wanted here. Non-ASCII text is hashed as JSON escapes.
    """
    document = {"args": args, "command": command, "env": dict(env)}
    compact = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(compact.encode("ascii")).hexdigest()


def environment(container: RawObject) -> dict[str, str | None]:
    """Return a container's env by name: null for `valueFrom`; the last of a repeated name wins, as in the kubelet.

    An entry without a value is the empty string: the API server does not serve an empty `value` back.
    `envFrom` names whole ConfigMaps and Secrets and is left out.
    """
    found: dict[str, str | None] = {}
    for entry in mappings(container.get("env")):
        name = text(entry.get("name"))
        if name is not None:
            found[name] = None if mapping(entry.get("valueFrom")) else _value(entry.get("value"))
    return found


def _value(value: object) -> str:
    return "" if value is None else texts([value])[0]


def fingerprint(pod: RawObject) -> Fingerprint | None:
    """Return the fingerprint of a pod or pod template; None when it has no container or no image.

    A redacted pod carries it ready-made in an annotation, which is believed only where the command line is gone.
    """
    container = gpu_container(pod)
    image = text(container.get("image")) if container is not None else None
    if container is None or image is None:
        return None
    # A whole pod is always hashed anew: an annotation copied from elsewhere must not speak for it.
    if not any(key in container for key in ("command", "args", "env")):
        kept = _kept(pod)
        if kept is not None:
            return kept
    digest = command_hash(texts(container.get("command")), texts(container.get("args")), environment(container))
    return Fingerprint(image, digest)


def _kept(pod: RawObject) -> Fingerprint | None:
    image, bar, digest = annotations_of(pod).get(FINGERPRINT_ANNOTATION, "").rpartition("|")
    if not bar or not image or len(digest) != _HASH_LENGTH:
        return None
    return Fingerprint(image, digest)
