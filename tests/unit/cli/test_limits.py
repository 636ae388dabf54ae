"""What ends a search early is named; gates that cannot be told trip; inputs that exclude one another are refused."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from ksolver_cli.pipeline import Request, Watch, analyze
from ksolver_cli.snapshot.read import read_snapshot
from tests.paths import ROOT

SAMPLE = str(ROOT / "snapshots/two-idle-nodes/snapshot.json")


def _run(*arguments: str, **variables: str) -> Result:
    return CliRunner(env=variables).invoke(app, ["analyze", *arguments])


@pytest.mark.parametrize(("asked", "word"), [(True, "interrupt"), (False, "time")])
def test_the_report_says_what_ended_the_search(asked: bool, word: str) -> None:
    report = analyze(read_snapshot([SAMPLE]), Request(), Watch(interrupted=lambda: True, asked=lambda: asked))
    assert report.limited_by == word
    assert report.plan is not None
    assert report.plan.nodes == ()
    assert report.numbers is not None
    assert report.numbers.repack.limited_by in (None, "work", word)
    assert report.numbers.floor_micros <= report.numbers.repack_micros <= report.prices.cost_micros  # type: ignore[operator]  # priced


def test_no_time_at_all_still_gives_a_report() -> None:
    done = _run(SAMPLE, "--time-limit", "0")
    assert done.exit_code == 0
    assert "ended by the time limit" in done.stdout


@pytest.mark.parametrize("gate", ["saving", "saving-percent=10", "saving=1000000"])
def test_a_gate_on_a_saving_that_is_not_known_trips(gate: str, tmp_path: Path) -> None:
    file = tmp_path / "nodes.json"
    file.write_text('{"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "n"}}, {"kind": "PodList"}]}')
    done = _run(str(file), "--fail-on", gate)
    assert done.exit_code == 1
    assert "not known" in done.stderr


@pytest.mark.parametrize("other", [["--demo"], ["--sample", "gpu-fleet"], ["--context", "x"]])
def test_only_one_input_is_taken(other: list[str]) -> None:
    done = _run(SAMPLE, *other)
    assert (done.exit_code, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 2


def test_a_variable_that_names_the_version_wanted_is_no_option() -> None:
    assert _run(SAMPLE, KSOLVER_VERSION="0.1.0").exit_code == 0


@pytest.mark.parametrize("version", ["banana", "1", "v", "1.x"])
def test_a_version_that_is_none_is_refused(version: str) -> None:
    assert _run(SAMPLE, "--kubernetes-version", version).exit_code == 2
