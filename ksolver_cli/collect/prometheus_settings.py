"""How to reach a Prometheus: address, credentials, trust. Secrets come from the environment or a file, never a flag."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

_API_PATH = "/api/v1"
_TRUE = frozenset({"1", "true", "yes", "on"})


class SettingsError(ValueError):
    """A setting is missing or wrong; the message says which and what to do."""


@dataclass(frozen=True)
class Secret:
    """A token or password, held as text or as a file that is read anew each time (projected tokens rotate)."""

    text: str | None = field(default=None, repr=False)
    file: Path | None = None

    def reveal(self) -> str:
        """Return the secret; raises SettingsError when its file cannot be read or it cannot go into a header."""
        found = self._read().strip()
        place = f"the token file {self.file}" if self.file is not None else "the token"
        if not found:
            raise SettingsError(f"{place} is empty")
        # Checked here, because an HTTP library would quote an illegal header value, secret and all, in its error.
        if not (found.isascii() and found.isprintable()):
            raise SettingsError(f"{place} holds characters that no HTTP header can carry")
        return found

    def _read(self) -> str:
        if self.file is None:
            return self.text or ""
        try:
            return self.file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"cannot read the token file {self.file}: {type(error).__name__}") from error


@dataclass(frozen=True)
class PrometheusSettings:
    """Everything a client needs to know about a server that speaks the Prometheus HTTP API.

    With a username the secret is the password of basic authentication, without one it is a bearer token. Without
    `partial_answers` servers that merge others are asked to fail rather than to leave some out.
    """

    url: str
    username: str | None = None
    secret: Secret | None = None
    tenant: str | None = None
    ca_file: Path | None = None
    insecure_skip_tls_verify: bool = False
    timeout_seconds: float = 30.0
    attempts: int = 5
    partial_answers: bool = False


@dataclass(frozen=True)
class PrometheusFlags:
    """What was typed; anything absent is looked up in the environment."""

    url: str | None = None
    username: str | None = None
    token_file: Path | None = None
    tenant: str | None = None
    ca_file: Path | None = None
    insecure_skip_tls_verify: bool = False
    timeout_seconds: float | None = None


def settings_from(flags: PrometheusFlags, environment: Mapping[str, str] | None = None) -> PrometheusSettings:
    """Return the settings of flags and `KSOLVER_PROMETHEUS_*`, a flag winning; raises SettingsError.

    The environment may hold URL, USERNAME, TOKEN, TOKEN_FILE, TENANT, CA_FILE and INSECURE_SKIP_TLS_VERIFY. A password
    in the URL is accepted from the environment alone, since other users of a machine can read its command lines.
    """
    env = _Environment(os.environ if environment is None else environment)
    if flags.url and urlsplit(flags.url).password is not None:
        raise SettingsError("--prometheus-url holds a password; put it in KSOLVER_PROMETHEUS_TOKEN instead")
    url, username, password = split_url(flags.url or env.text("URL") or "")
    secret = _secret(flags, env) or (Secret(password) if password else None)
    insecure = flags.insecure_skip_tls_verify or (env.text("INSECURE_SKIP_TLS_VERIFY") or "").lower() in _TRUE
    return PrometheusSettings(
        url=url,
        username=flags.username or env.text("USERNAME") or username,
        secret=secret,
        tenant=flags.tenant or env.text("TENANT"),
        ca_file=flags.ca_file or env.path("CA_FILE"),
        insecure_skip_tls_verify=insecure,
        timeout_seconds=flags.timeout_seconds or PrometheusSettings.timeout_seconds,
    )


@dataclass(frozen=True)
class _Environment:
    values: Mapping[str, str]

    def text(self, name: str) -> str | None:
        return self.values.get(f"KSOLVER_PROMETHEUS_{name}") or None

    def path(self, name: str) -> Path | None:
        found = self.text(name)
        return Path(found) if found else None


def _secret(flags: PrometheusFlags, env: _Environment) -> Secret | None:
    if flags.token_file is not None:
        return Secret(file=flags.token_file)
    token = env.text("TOKEN")
    if token is not None:
        return Secret(token)
    token_file = env.path("TOKEN_FILE")
    return Secret(file=token_file) if token_file is not None else None


def split_url(url: str) -> tuple[str, str | None, str | None]:
    """Return the base URL without credentials, query and `/api/v1`, and the credentials; raises SettingsError.

    A path prefix stays: Mimir and Cortex serve under `/prometheus`, a VictoriaMetrics cluster under
    `/select/0/prometheus`.
    """
    if not url:
        raise SettingsError("no Prometheus address; give --prometheus-url or set KSOLVER_PROMETHEUS_URL")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SettingsError(f"the Prometheus URL is not a URL: {error}") from error
    if parts.scheme not in {"http", "https"} or not host:
        raise SettingsError("the Prometheus URL needs http:// or https:// and a host")
    place = f"[{host}]" if ":" in host else host
    path = parts.path.partition(_API_PATH)[0].rstrip("/")
    base = urlunsplit((parts.scheme, f"{place}:{port}" if port else place, path, "", ""))
    return base, _decoded(parts.username), _decoded(parts.password)


def _decoded(value: str | None) -> str | None:
    return unquote(value) if value else None
