"""Defaults from files; a file that came with somebody's checkout may not run programs or send tokens elsewhere."""

from pathlib import Path

import pytest
import typer

from ksolver_cli.cli.common.config import load_defaults
from ksolver_cli.cli.common.exits import CommandError
from ksolver_cli.cli.main import app

PROGRAM = typer.main.get_command(app)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    (tmp_path / "xdg" / "ksolver").mkdir(parents=True)
    return tmp_path


def test_the_working_directory_wins_over_the_home(desk: Path) -> None:
    (desk / "xdg/ksolver/config.yaml").write_text("analyze: {seed: 1, kubeconfig: mine}\nsnapshot: {out: x}\n")
    (desk / ".ksolver.yaml").write_text("analyze: {seed: 2}\n")
    assert load_defaults(PROGRAM) == {"analyze": {"seed": 2, "kubeconfig": "mine"}, "snapshot": {"out": "x"}}


@pytest.mark.parametrize(
    "option",
    [
        *("kubeconfig", "scheduler-kubeconfig", "prometheus-url", "prometheus_token_file", "simulator-url", "out"),
        *("force", "prometheus-insecure-skip-tls-verify", "prometheus-ca-file"),
    ],
)
def test_what_runs_programs_or_gets_tokens_is_refused_there(desk: Path, option: str) -> None:
    (desk / ".ksolver.yaml").write_text(f"snapshot: {{{option}: x}}\n")
    with pytest.raises(CommandError, match="working directory") as caught:
        load_defaults(PROGRAM)
    assert option in caught.value.what


@pytest.mark.parametrize("text", ["catalog: {extend: {out: x}}", "conform: {scheduler-kubeconfig: x}"])
def test_it_is_refused_for_commands_under_commands_too(desk: Path, text: str) -> None:
    (desk / ".ksolver.yaml").write_text(text)
    with pytest.raises(CommandError, match="working directory"):
        load_defaults(PROGRAM)


@pytest.mark.parametrize(
    "text",
    [
        "analyse: {seed: 1}",
        "analyze: {sede: 1}",
        "catalog: {list: {prov: aws}}",
        "catalog: {lst: {}}",
        "analyze: {1: 2}",
    ],
)
def test_a_word_that_means_nothing_is_an_error(desk: Path, text: str) -> None:
    (desk / ".ksolver.yaml").write_text(text)
    with pytest.raises(CommandError, match="there is no such") as caught:
        load_defaults(PROGRAM)
    assert "--help" in caught.value.hint


def test_options_are_written_as_they_are_typed(desk: Path) -> None:
    (desk / ".ksolver.yaml").write_text("analyze: {as: me, time-limit: 5}\ncatalog: {list: {provider: aws}}\n")
    assert load_defaults(PROGRAM) == {
        "analyze": {"as_user": "me", "time_limit": 5},
        "catalog": {"list": {"provider": "aws"}},
    }
