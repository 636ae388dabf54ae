"""Kubeconfig files, merged as kubectl merges them.

Source: https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/#merging-kubeconfig-files.
The first file to set a value wins, `current-context` too, and a relative path in a file is relative to that file.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from ksolver_cli.collect.access.settings import Environment
from ksolver_cli.collect.errors import CollectError

Entry = Mapping[str, object]
_SECTIONS = ("clusters", "users", "contexts")
_BODY = {"clusters": "cluster", "users": "user", "contexts": "context"}


@dataclass(frozen=True)
class Named:
    """One cluster, user or context, and the file it came from."""

    file: Path
    name: str
    body: Entry = field(repr=False)

    def text(self, key: str) -> str | None:
        """Return a non-empty text, else None."""
        found = self.body.get(key)
        return found if isinstance(found, str) and found else None

    def path(self, key: str) -> Path | None:
        """Return a path, relative to the file that names it."""
        found = self.text(key)
        return self.file.parent / Path(found).expanduser() if found is not None else None

    def content(self, key: str) -> bytes | None:
        """Return what `<key>-data` (base64) holds, else what the file at `<key>` does; raises CollectError."""
        inline = self.text(f"{key}-data")
        if inline is not None:
            try:
                return base64.b64decode(inline, validate=True)
            except binascii.Error as error:
                raise _wrong(self.file, f"{key}-data of {self.name} is not base64") from error
        path = self.path(key)
        if path is None:
            return None
        try:
            return path.read_bytes()
        except OSError as error:
            what = f"{self.file}: {key} of {self.name}: {path}: {error.strerror or error}"
            raise CollectError(what, "correct the path in the kubeconfig") from error


@dataclass
class Kubeconfig:
    """All files as one."""

    files: tuple[Path, ...]
    current: str | None = None
    clusters: dict[str, Named] = field(default_factory=dict)
    users: dict[str, Named] = field(default_factory=dict)
    contexts: dict[str, Named] = field(default_factory=dict)

    def context(self, name: str | None) -> Named:
        """Return the context of that name, else the current one; raises CollectError."""
        wanted = name or self.current
        places = ", ".join(map(str, self.files))
        if wanted is None:
            raise CollectError(f"{places}: no current-context", "give --context, or `kubectl config use-context`")
        if wanted not in self.contexts:
            known = ", ".join(sorted(self.contexts)) or "none"
            raise CollectError(f"{places}: there is no context {wanted}", f"contexts are: {known}")
        return self.contexts[wanted]

    def referred(self, context: Named, section: str) -> Named | None:
        """Return the cluster or user that a context names; None when it names none; raises CollectError."""
        name = context.text(_BODY[section])
        if name is None:
            return None
        found: dict[str, Named] = getattr(self, section)
        if name not in found:
            what = f"{context.file}: context {context.name} names {_BODY[section]} {name}, which is in no kubeconfig"
            raise CollectError(what, "correct the context, or give another with --context")
        return found[name]


def kubeconfig_files(flag: str | None, environment: Environment) -> tuple[Path, ...]:
    """Return the files to read: the flag's, else those of KUBECONFIG that exist, else ~/.kube/config if it does."""
    if flag is not None:
        return (Path(flag).expanduser(),)
    listed = [Path(part).expanduser() for part in environment.get("KUBECONFIG", "").split(os.pathsep) if part]
    home = environment.get("HOME") or environment.get("USERPROFILE") or str(Path.home())
    return tuple(path for path in listed or [Path(home) / ".kube" / "config"] if path.is_file())


def load_kubeconfig(files: tuple[Path, ...]) -> Kubeconfig:
    """Read and merge the files; raises CollectError naming the file and the field."""
    merged = Kubeconfig(files)
    for file in files:
        document = _document(file)
        current = document.get("current-context")
        if merged.current is None and isinstance(current, str) and current:
            merged.current = current
        for section in _SECTIONS:
            _merge(getattr(merged, section), file, section, document.get(section))
    return merged


def _merge(into: dict[str, Named], file: Path, section: str, entries: object) -> None:
    if entries is None:
        return
    if not isinstance(entries, list):
        raise _wrong(file, f"{section} is not a list")
    for number, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        body = entry.get(_BODY[section]) if isinstance(entry, dict) else None
        if not isinstance(name, str) or not isinstance(body, dict | None):
            raise _wrong(file, f"{section}[{number}] has no name, or its {_BODY[section]} is not a mapping")
        into.setdefault(name, Named(file, name, body or {}))


def _document(file: Path) -> Entry:
    try:
        document = yaml.load(file.read_bytes(), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise CollectError(f"{file}: {error.strerror or error}", "give --kubeconfig FILE that can be read") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark is not None else ""
        raise _wrong(file, f"not valid YAML{place}") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise _wrong(file, "is not a kubeconfig")
    return document


def _wrong(file: Path, problem: str) -> CollectError:
    return CollectError(f"{file}: {problem}", "correct it (`kubectl config view` reads the same file)")
