"""Defaults from files; a file that came with somebody's checkout may not run programs or send tokens elsewhere."""

from pathlib import Path

import pytest

from ksolver_cli.cli.common.config import load_defaults
from ksolver_cli.cli.common.exits import CommandError


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    (tmp_path / "xdg" / "ksolver").mkdir(parents=True)
    return tmp_path


def test_the_working_directory_wins_over_the_home(desk: Path) -> None:
    (desk / "xdg/ksolver/config.yaml").write_text("analyze: {seed: 1, kubeconfig: mine}\nsnapshot: {out: x}\n")
    (desk / ".ksolver.yaml").write_text("analyze: {seed: 2}\n")
    assert load_defaults() == {"analyze": {"seed": 2, "kubeconfig": "mine"}, "snapshot": {"out": "x"}}


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
        load_defaults()
    assert option.replace("_", "-") in caught.value.what
