"""Defaults from configuration files: `./.ksolver.yaml` before `$XDG_CONFIG_HOME/ksolver/config.yaml`.

Keys are commands, then option names as on the command line (`analyze: {prices: prices.yaml}`); a flag or a `KSOLVER_*`
variable always wins. A file in the working directory may have come with a checkout from a stranger, so a credential or
a command to run is never read from it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ksolver_cli.cli.common.exits import CommandError, Exit

_FIX = "write it as YAML: a command, then its options, e.g. `analyze: {prices: prices.yaml}`"


def config_files() -> tuple[Path, ...]:
    """Every configuration file, weakest first."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    return home / "ksolver" / "config.yaml", Path(".ksolver.yaml")


def load_defaults() -> dict[str, Any]:
    """A click default map (command to option to value) from all configuration files; raises CommandError when one is
    wrong.
    """
    defaults: dict[str, Any] = {}
    for path in config_files():
        for command, options in _read(path).items():
            merged = dict(defaults.get(command, {}))
            merged.update({str(key).replace("-", "_"): value for key, value in options.items()})
            defaults[command] = merged
    return defaults


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
