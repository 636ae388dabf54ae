"""`ksolver catalog` as typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.catalog import app
from tests.unit.catalog.nodes import written

GOOD = "currency: USD\nprices: [{node: a, hourly: 1, per: node}]"
BAD = "currency: USD\nprices:\n  - {node: a, hourly: -1, per: node}\n  - {node: b, hourly: 1}\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_list_goes_from_providers_to_regions_to_types() -> None:
    assert [line.split()[0] for line in run("list").stdout.splitlines()] == ["PROVIDER", "aws", "azure", "gcp"]
    regions = run("list", "--provider", "gcp", "-o", "json")
    assert len(json.loads(regions.stdout)) == 43
    types = json.loads(run("list", "--provider", "aws", "--region", "us-east-1", "-o", "json").stdout)
    assert len(types) == 1367


def test_show_finds_a_type_in_every_region_that_has_it() -> None:
    records = json.loads(run("show", "a3-highgpu-8g", "--region", "us-central1", "-o", "json").stdout)
    assert [(r["capacity_type"], r["per_hour"], r["gpus"]) for r in records] == [
        ("on-demand", "88.49", "8 × h100-80gb"),
        ("spot", "50.609541", "8 × h100-80gb"),
    ]
    everywhere = json.loads(run("show", "Standard_D4s_v3", "-o", "json").stdout)
    assert len({r["region"] for r in everywhere}) > 50


def test_money_is_text_in_json() -> None:
    record = json.loads(run("show", "m5.xlarge", "-o", "json").stdout)[0]
    assert (record["per_hour"], record["per_month"], record["basis"]) == ("0.192", "140.16", "list")


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "m99.xlarge"),
        ("show", "m5.xlarge", "--provider", "nowhere"),
        ("list", "--provider", "nowhere"),
        ("list", "--provider", "aws", "--region", "mars"),
    ],
)
def test_what_is_not_there_is_a_usage_error_in_two_lines(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 2


def test_check_passes_a_good_file(tmp_path: Path) -> None:
    result = run("check", str(written(tmp_path, GOOD)))
    assert (result.exit_code, result.stderr) == (0, "")


def test_check_prints_every_problem_with_file_and_line_and_trips(tmp_path: Path) -> None:
    path = written(tmp_path, BAD)
    result = run("check", str(path))
    assert result.exit_code == 1
    assert [line.split(",")[0] for line in result.stdout.splitlines()] == [f"{path}: line 3", f"{path}: line 4"]


def test_check_says_what_cannot_be_read(tmp_path: Path) -> None:
    result = run("check", str(tmp_path / "none.yaml"))
    assert (result.exit_code, result.stdout) == (4, "")
    assert len(result.stderr.splitlines()) == 2


def test_check_takes_several_files_and_reads_all(tmp_path: Path) -> None:
    bad, good = written(tmp_path, BAD), written(tmp_path, GOOD, ".yml")
    assert run("check", str(good), str(bad)).exit_code == 1
    assert run("check", str(good), str(tmp_path / "none.yaml"), str(bad)).exit_code == 4


@pytest.mark.parametrize("command", ["sources", "gpus", "cards"])
def test_tables_are_printed_whole(command: str) -> None:
    table, records = run(command).stdout.splitlines(), json.loads(run(command, "-o", "json").stdout)
    assert len(table) == len(records) + 1
    assert "…" not in "".join(table)


def test_extend_starts_a_file_that_checks_once_it_is_complete(tmp_path: Path) -> None:
    out = tmp_path / "mine.csv"
    result = run("extend", "m5.xlarge", "x99.large", "--provider", "aws", "--region", "us-east-1", "--out", str(out))
    assert (result.exit_code, result.stdout) == (0, "")
    assert run("check", str(out)).exit_code == 1
    out.write_text(out.read_text().replace(",,node", ",0.05,node"))
    assert run("check", str(out)).exit_code == 0


def test_extend_says_when_it_cannot_write(tmp_path: Path) -> None:
    out = str(tmp_path / "no" / "folder.csv")
    result = run("extend", "m5.xlarge", "--provider", "aws", "--region", "us-east-1", "--out", out)
    assert result.exit_code == 2


def test_a_broken_catalog_is_told_in_two_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KSOLVER_CATALOGS", str(tmp_path))
    result = run("list")
    assert result.exit_code == 5
    assert "KSOLVER_CATALOGS" in result.stderr
