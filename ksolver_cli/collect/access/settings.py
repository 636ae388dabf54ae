"""What a person may say about the cluster to read, with kubectl's names for it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

KeyPair = tuple[bytes, bytes]
"""A client certificate and its key, both PEM."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Which cluster, as whom, and which part of it. Empty namespaces: all of them."""

    kubeconfig: str | None = None
    context: str | None = None
    namespaces: tuple[str, ...] = ()
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()
    request_seconds: float = 60.0
    kind_seconds: float = 600.0


class Credentials(Protocol):
    """Whoever can prove who we are, again and again: tokens and certificates change during a long run."""

    def header(self) -> str | None:
        """Return the value of the Authorization header now; None when there is none. Raises CollectError."""
        ...

    def key_pair(self) -> KeyPair | None:
        """Return the client certificate now, if there is one. Raises CollectError."""
        ...

    def renew(self) -> bool:
        """Forget what is cached; False when a new attempt could only give the same."""
        ...


@dataclass(frozen=True)
class Trust:
    """Whose certificate to accept. Without `authority` the system's store decides."""

    authority: bytes | None = None
    server_name: str | None = None
    insecure: bool = False


@dataclass(frozen=True)
class Access:
    """Everything needed to speak to one API server."""

    server: str
    name: str
    credentials: Credentials
    trust: Trust = field(default_factory=Trust)
    proxy: str | None = None
    headers: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    namespace: str = "default"
    in_cluster: bool = False


Environment = Mapping[str, str]
Clock = Callable[[], float]
