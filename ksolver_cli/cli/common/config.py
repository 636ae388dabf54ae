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


def load_defaults() -> dict[str, Any]:
    """A click default map (command to option to value) from all configuration files; raises CommandError when one is
    wrong.
    """
    defaults: dict[str, Any] = {}
    for path in config_files():
        for command, options in _read(path).items():
            given = {str(key).replace("-", "_"): value for key, value in options.items()}
            if path == _LOCAL:
                _refuse_dangerous(command, given)
            defaults[command] = {**defaults.get(command, {}), **given}
    return defaults


def _refuse_dangerous(command: str, options: Mapping[str, Any]) -> None:
    for option in options:
        if _NEVER_LOCAL.fullmatch(option):
            what = f"{_LOCAL}: {command}: {option.replace('_', '-')} is not taken from a file in the working directory"
            raise CommandError(what, f"put it into {config_files()[0]}, or on the command line", Exit.USAGE)


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
