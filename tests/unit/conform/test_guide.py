"""The guide names the options, the keys and the reasons that there are."""

import re

import typer

from ksolver_cli.cli.main import app
from ksolver_cli.conform.divergence import AFFINITY, ANTI_AFFINITY, DEVICES, SPREAD, UNMODELLED
from tests.paths import ROOT
from tests.unit.conform.test_command import KEYS, MISMATCH, OUTCOMES

GUIDE = (ROOT / "docs" / "guides" / "conform.md").read_text(encoding="utf-8")
COMMON = {"--help", "--demo", "--output", "--out", "--scheduler-context"}
"""Options that speak for themselves."""


def options() -> set[str]:
    command = typer.main.get_command(app).commands["conform"]  # type: ignore[attr-defined]  # a group has commands
    return {name for parameter in command.params for name in parameter.opts if name.startswith("--")}


def test_every_option_is_in_the_guide_and_no_other() -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE))
    assert options() - COMMON <= named
    assert named <= options() | {"--fail-on"}


def test_keys_and_reasons_are_in_the_guide() -> None:
    assert all(f"`{word}`" in GUIDE for word in KEYS | MISMATCH | OUTCOMES)
    assert all(f"`{reason}" in GUIDE for reason in (AFFINITY, ANTI_AFFINITY, SPREAD, DEVICES, UNMODELLED))
