"""Defaults from configuration files: `./.ksolver.yaml` before `$XDG_CONFIG_HOME/ksolver/config.yaml`.

Keys are commands, then option names as on the command line (`analyze: {prices: prices.yaml}`); a flag or a `KSOLVER_*`
variable always wins. A file in the working directory may have come with a checkout from a stranger, so a credential or
a command to run is never read from it.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ksolver_cli.cli.common.exits import CommandError, Exit

_LOCAL = Path(".ksolver.yaml")
_NEVER_LOCAL = re.compile(r"(?:.*_)?kubeconfig|(?:.*_)?(?:url|token_file|ca_file)|.*insecure.*|force|out|names|store")
"""Options that a file in the working directory may not set: a kubeconfig names programs to run, an address gets the
user's token, and an output path with `force` replaces files.
"""

_FIX = "write it as YAML: a command, then its options, e.g. `analyze: {prices: prices.yaml}`"


def config_files() -> tuple[Path, ...]:
    """Every configuration file, weakest first."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return home / "ksolver" / "config.yaml", _LOCAL


def load_defaults(program: object) -> dict[str, Any]:
    """A click default map (command to option to value) from all configuration files; raises CommandError when one is
    wrong, or names a command or an option that `program` (a click command) does not have.
    """
    defaults: dict[str, Any] = {}
    for path in config_files():
        for command, options in _read(path).items():
            found = _Settings(path, command).read(getattr(program, "commands", {}).get(command), options)
            defaults[command] = _merged(defaults.get(command, {}), found)
    return defaults


class _Settings:
    """Settings of one command, or of the commands under it, as one file has them."""

    def __init__(self, path: Path, where: str) -> None:
        self._path = path
        self._where = where

    def read(self, command: object, options: Mapping[str, Any]) -> dict[str, Any]:
        """The settings by parameter name. A word that means nothing would do nothing, in silence: it is an error."""
        if command is None:
            raise self._wrong("there is no such command", "see `ksolver --help`")
        commands: Mapping[str, object] = getattr(command, "commands", {})
        parameters = _spellings(command)
        found: dict[str, Any] = {}
        for key, value in options.items():
            name = str(key).replace("-", "_")
            inner = _Settings(self._path, f"{self._where}: {key}")
            if str(key) in commands and isinstance(value, dict):
                found[str(key)] = inner.read(commands[str(key)], value)
                continue
            inner.expect_allowed(name, parameters.get(name, name))
            if name not in parameters:
                raise inner._wrong("there is no such option", f"see `ksolver {self._where.replace(':', '')} --help`")
            found[parameters[name]] = value
        return found

    def expect_allowed(self, *spellings: str) -> None:
        """Raise CommandError for what a file in the working directory may not set."""
        if self._path == _LOCAL and any(map(_NEVER_LOCAL.fullmatch, spellings)):
            fix = f"put it into {config_files()[0]}, or on the command line"
            raise self._wrong("is not taken from a file in the working directory", fix)

    def _wrong(self, what: str, fix: str) -> CommandError:
        return CommandError(f"{self._path}: {self._where}: {what}", fix, Exit.USAGE)


def _spellings(command: object) -> dict[str, str]:
    """Parameter names by every way of writing them: as options are typed, and as they are called inside."""
    found: dict[str, str] = {}
    for parameter in getattr(command, "params", ()):
        typed = [option.lstrip("-").replace("-", "_") for option in parameter.opts]
        found.update(dict.fromkeys([*typed, str(parameter.name)], str(parameter.name)))
    return found


def _merged(weak: Mapping[str, Any], strong: Mapping[str, Any]) -> dict[str, Any]:
    """Both; `strong` wins, option by option."""
    merged = dict(weak)
    for key, value in strong.items():
        deeper = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if deeper else value
    return merged


def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}", "make it readable, or remove it", Exit.USAGE) from error
    # Here and not at the top: most runs have no file to read, and `--help` must stay quick.
    import yaml

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = getattr(error, "problem", None) or "not YAML"
        raise CommandError(f"{path}: not valid YAML ({reason})", _FIX, Exit.USAGE) from error
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(options, dict) for options in content.values()):
        raise CommandError(f"{path}: is not a mapping of commands to options", _FIX, Exit.USAGE)
    return {str(command): options for command, options in content.items()}
