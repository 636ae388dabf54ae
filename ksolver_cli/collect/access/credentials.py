"""Static and file-held credentials. Precedence as client-go has it: a token file before a token before a password."""

import base64
import time
from dataclasses import dataclass, field
from pathlib import Path

from ksolver_cli.collect.access.kubeconfig import Named
from ksolver_cli.collect.access.settings import Clock, KeyPair
from ksolver_cli.collect.errors import CollectError

_REREAD_SECONDS = 60.0
_FIX_KEY = "give the user both client-certificate and client-key"


@dataclass(frozen=True)
class StaticCredentials:
    """A header or a key pair that does not change; both may be absent (anonymous)."""

    authorization: str | None = field(default=None, repr=False)
    pair: KeyPair | None = field(default=None, repr=False)

    def header(self) -> str | None:
        """Return the header."""
        return self.authorization

    def key_pair(self) -> KeyPair | None:
        """Return the key pair."""
        return self.pair

    def renew(self) -> bool:
        """Say that nothing can be renewed."""
        return False


@dataclass
class TokenFile:
    """A bearer token in a file, read again every minute: projected service account tokens rotate."""

    path: Path
    pair: KeyPair | None = field(default=None, repr=False)
    clock: Clock = time.monotonic
    _token: str = field(default="", init=False, repr=False)
    _read_at: float = field(default=float("-inf"), init=False)

    def header(self) -> str | None:
        """Return the header with the token as the file has it; raises CollectError."""
        if self.clock() - self._read_at > _REREAD_SECONDS:
            self._token, self._read_at = self._read(), self.clock()
        return bearer(self._token, str(self.path))

    def key_pair(self) -> KeyPair | None:
        """Return the key pair that goes with it."""
        return self.pair

    def renew(self) -> bool:
        """Read the file again next time; True when it holds another token by now."""
        before, self._read_at = self._token, float("-inf")
        return self._read() != before

    def _read(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not text"
            raise CollectError(f"{self.path}: {reason}", "correct tokenFile in the kubeconfig") from error


def bearer(token: str, where: str) -> str:
    """Return the header of a token; raises CollectError for one that no header can carry, without quoting it."""
    if not token or not (token.isascii() and token.isprintable()) or " " in token:
        raise CollectError(f"{where}: the token is empty or holds characters that no header can", "log in again")
    return f"Bearer {token}"


def key_pair_of(user: Named) -> KeyPair | None:
    """Return the client certificate of a kubeconfig user; raises CollectError when only half of it is there."""
    certificate, key = user.content("client-certificate"), user.content("client-key")
    if (certificate is None) != (key is None):
        raise CollectError(f"{user.file}: user {user.name} has half a client certificate", _FIX_KEY)
    return (certificate, key) if certificate is not None and key is not None else None


def static_credentials(user: Named) -> TokenFile | StaticCredentials:
    """Return what a kubeconfig user states outright; anonymous when it states nothing."""
    pair = key_pair_of(user)
    token_file = user.path("tokenFile")
    if token_file is not None:
        return TokenFile(token_file, pair)
    token = user.text("token")
    if token is not None:
        return StaticCredentials(bearer(token, f"{user.file}: user {user.name}"), pair)
    name, password = user.text("username"), user.text("password")
    if name is not None and password is not None:
        encoded = base64.b64encode(f"{name}:{password}".encode()).decode("ascii")
        return StaticCredentials(f"Basic {encoded}", pair)
    return StaticCredentials(None, pair)
