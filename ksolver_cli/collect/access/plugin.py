"""Exec credential plugins (`aws eks get-token`, `gke-gcloud-auth-plugin`, `kubelogin` and the like).

Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins,
`client.authentication.k8s.io` v1 and v1beta1. The program is run only when a credential is needed, and again when the
one it gave has expired or was refused.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ksolver_cli.collect.access.credentials import bearer
from ksolver_cli.collect.access.kubeconfig import Named
from ksolver_cli.collect.access.settings import Clock, KeyPair
from ksolver_cli.collect.errors import CollectError

VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_SECONDS = 120.0
_SHOWN = 300
_EARLY_SECONDS = 10.0


@dataclass(frozen=True)
class _Given:
    header: str | None = field(repr=False)
    pair: KeyPair | None = field(repr=False)
    expires: float = float("inf")


@dataclass
class ExecCredentials:
    """Whatever the plugin of a kubeconfig user hands out, kept until it expires."""

    user: Named
    settings: Mapping[str, object]
    cluster: Mapping[str, object]
    clock: Clock = time.time
    _given: _Given | None = field(default=None, init=False, repr=False)

    def header(self) -> str | None:
        """Return the header of the plugin's token, if it gave one; raises CollectError."""
        return self._current().header

    def key_pair(self) -> KeyPair | None:
        """Return the plugin's client certificate, if it gave one; raises CollectError."""
        return self._current().pair

    def renew(self) -> bool:
        """Run the plugin anew next time."""
        self._given = None
        return True

    def _current(self) -> _Given:
        if self._given is None or self.clock() > self._given.expires - _EARLY_SECONDS:
            self._given = self._run()
        return self._given

    def _run(self) -> _Given:
        command = [self._program(), *_texts(self.settings.get("args"))]
        try:
            done = subprocess.run(  # noqa: S603 - the kubeconfig is the user's own word on what to run, as for kubectl
                command,
                stdin=None if self._may_ask() else subprocess.DEVNULL,
                capture_output=True,
                env=self._environment(),
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            reason = "took too long" if isinstance(error, subprocess.TimeoutExpired) else str(error.strerror)
            raise self._failed(reason) from error
        if done.returncode != 0:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())[:_SHOWN]
            raise self._failed(f"ended with {done.returncode}: {said}" if said else f"ended with {done.returncode}")
        return self._read(done.stdout)

    def _program(self) -> str:
        command = self.settings.get("command")
        if not isinstance(command, str) or not command:
            raise self._failed("has no command in the kubeconfig")
        if self.settings.get("apiVersion") not in VERSIONS:
            raise self._failed(f"speaks {self.settings.get('apiVersion')}; {' and '.join(VERSIONS)} are understood")
        # A relative path means one beside the kubeconfig; a bare name is looked up in PATH.
        return str(self.user.file.parent / command) if os.path.dirname(command) else command

    def _may_ask(self) -> bool:
        mode = self.settings.get("interactiveMode") or "IfAvailable"
        terminal = sys.stdin is not None and sys.stdin.isatty()
        if mode == "Always" and not terminal:
            raise self._failed("needs a terminal (interactiveMode: Always)")
        return mode != "Never" and terminal

    def _environment(self) -> dict[str, str]:
        given = self.settings.get("env")
        extra = {
            str(entry["name"]): str(entry.get("value") or "")
            for entry in (given if isinstance(given, list) else [])
            if isinstance(entry, dict) and "name" in entry
        }
        spec: dict[str, object] = {"interactive": self._may_ask()}
        if self.settings.get("provideClusterInfo") is True:
            spec["cluster"] = _cluster_info(self.cluster)
        info = {"apiVersion": self.settings.get("apiVersion"), "kind": "ExecCredential", "spec": spec}
        return {**os.environ, **extra, "KUBERNETES_EXEC_INFO": json.dumps(info)}

    def _read(self, output: bytes) -> _Given:
        try:
            document = json.loads(output)
            status = document["status"]
            token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise self._failed("did not print an ExecCredential with a status") from error
        pair = (certificate.encode(), key.encode()) if isinstance(certificate, str) and isinstance(key, str) else None
        if not token and pair is None:
            raise self._failed("gave neither a token nor a client certificate")
        header = bearer(str(token), f"the credential plugin of user {self.user.name}") if token else None
        return _Given(header, pair, _moment(status.get("expirationTimestamp")))

    def _failed(self, reason: str) -> CollectError:
        hint = self.settings.get("installHint")
        what = f"{self.user.file}: the credential plugin of user {self.user.name} {reason}"
        told = " ".join(hint.split()) if isinstance(hint, str) and hint.strip() else ""
        return CollectError(what, told or f"run it by hand: {self.settings.get('command')}; log in again if it asks")


def _cluster_info(cluster: Mapping[str, object]) -> dict[str, object]:
    names = {
        "server": "server",
        "tls-server-name": "tls-server-name",
        "insecure-skip-tls-verify": "insecure-skip-tls-verify",
        "certificate-authority-data": "certificate-authority-data",
        "proxy-url": "proxy-url",
    }
    info: dict[str, object] = {name: cluster[key] for key, name in names.items() if key in cluster}
    extensions = cluster.get("extensions")
    for entry in extensions if isinstance(extensions, list) else []:
        if isinstance(entry, dict) and entry.get("name") == "client.authentication.k8s.io/exec":
            info["config"] = entry.get("extension")
    return info


def _texts(value: object) -> list[str]:
    return [str(entry) for entry in value] if isinstance(value, list) else []


def _moment(text: object) -> float:
    if not isinstance(text, str):
        return float("inf")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return float("inf")
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
