"""`ksolver analyze A.json B.json`: one plan that holds in all, and which snapshot binds."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from tests.paths import ROOT
from tests.unit.cli.test_plan import node, pod

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/reference/report.schema.json").read_text()))
NAMES = [f"n{i}" for i in range(5)]
QUIET, BUSY = "2026-03-01T04:00:00Z", "2026-02-28T16:00:00Z"


def taken(folder: Path, name: str, at: str, cpu: str, nodes: list[str] = NAMES, **more: Any) -> str:
    """A snapshot with a pod on each node; pods have other names each time, as after a rollout."""
    pods = [pod(f"web-{name.split('.')[0]}-{n}", n, cpu) for n in nodes]
    objects = {"nodes": [node(n) for n in nodes], "pods": pods, **more}
    file = folder / name
    file.write_text(json.dumps({"schema": "ksolver.snapshot/1", "collected_at": at, "objects": objects, "gaps": []}))
    return str(file)


def analyse(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["analyze", *arguments, "--complete", "--effort", "0.05"])


def facts(*arguments: str) -> dict[str, Any]:
    done = analyse(*arguments, "--json")
    assert done.exit_code == 0, done.stderr
    report = json.loads(done.stdout)
    SCHEMA.validate(report)
    return report  # type: ignore[no-any-return]  # what JSON holds


def removed(report: dict[str, Any]) -> list[str]:
    return [name for wave in report["plan"]["waves"] for name in wave["nodes"]]


def test_a_busier_time_binds(tmp_path: Path) -> None:
    """One node takes all five small pods, but only two of the large ones."""
    quiet, busy = taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "busy.json", BUSY, "1900m")
    assert len(removed(facts(quiet))) == 4
    report = facts(busy, quiet)
    newest, other = report["robust"]["snapshots"]
    assert report["cluster"]["collected_at"] == QUIET
    assert (newest["source"], newest["newest"], newest["binds"]) == (quiet, True, False)
    assert (other["source"], other["newest"], other["binds"]) == (busy, False, True)
    assert len(removed(report)) == 2
    assert (other["given_back"], other["blocked"]) == (2, 0)
    assert other["together_micros"] == report["robust"]["saving"]["at_least_micros"] < newest["alone_micros"]
    assert report["plan"]["cost_before_micros"] - report["plan"]["cost_after_micros"] == other["together_micros"]
    moved = {move["pod"] for move in report["plan"]["moves"]}
    assert all("quiet" in key for key in moved)


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    files = [
        taken(tmp_path, "quiet.json", QUIET, "800m"),
        taken(tmp_path, "busy.json", BUSY, "1900m"),
        taken(tmp_path, "older.json", "2026-02-27T16:00:00Z", "1300m"),
    ]
    assert len({analyse(*order, "--json").stdout for order in permutations(files)}) == 1


def test_the_same_again_is_the_report_of_one(tmp_path: Path) -> None:
    quiet = taken(tmp_path, "quiet.json", QUIET, "800m")
    once, twice = facts(quiet), facts(quiet, quiet)
    assert twice["robust"] is None
    (caveat,) = [c for c in twice.pop("caveats") if c not in once["caveats"]]
    assert "counts once" in caveat["detail"]
    once.pop("caveats")
    assert once == twice


def test_another_time_with_the_same_load_takes_nothing(tmp_path: Path) -> None:
    quiet = taken(tmp_path, "quiet.json", QUIET, "800m")
    (tmp_path / "b").mkdir()
    again = taken(tmp_path / "b", "quiet.json", BUSY, "800m")
    report = facts(quiet, again)
    assert removed(report) == removed(facts(quiet))
    assert [row["binds"] for row in report["robust"]["snapshots"]] == [True, False]


def test_a_node_that_may_not_go_at_one_time_stays(tmp_path: Path) -> None:
    quiet, alike = taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "alike.json", BUSY, "800m")
    document = json.loads(Path(alike).read_text())
    for entry in document["objects"]["pods"][:4]:
        del entry["metadata"]["ownerReferences"]
    Path(alike).write_text(json.dumps(document))
    report = facts(quiet, alike)
    assert removed(report) == ["n4"]
    assert report["robust"]["snapshots"][1]["blocked"] >= 2


def test_nodes_that_come_and_go(tmp_path: Path) -> None:
    """At the busy time n4 was not there yet, and two others were that are gone."""
    quiet = taken(tmp_path, "quiet.json", QUIET, "800m")
    busy = taken(tmp_path, "busy.json", BUSY, "1900m", ["n0", "n1", "n2", "n3", "x1", "x2"])
    report = facts(quiet, busy)
    row = report["robust"]["snapshots"][1]
    assert (row["nodes"], row["nodes_missing"], row["nodes_only_here"]) == (6, 1, 2)
    assert set(removed(report)) <= set(NAMES)
    assert len(removed(report)) == 4
    text = " ".join(analyse(quiet, busy).stdout.split())
    assert f"{busy}: 2 nodes that {quiet} does not have: the plan counts on such when that load comes back." in text


def test_a_time_without_pods_lets_nothing_go(tmp_path: Path) -> None:
    quiet, blind = taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "blind.json", BUSY, "1")
    document = json.loads(Path(blind).read_text())
    del document["objects"]["pods"]
    Path(blind).write_text(json.dumps(document))
    done = CliRunner().invoke(app, ["analyze", quiet, blind, "--json", "--effort", "0.05"])
    report = json.loads(done.stdout)
    assert removed(report) == []
    assert report["robust"]["snapshots"][1]["pods_bound"] is None
    assert report["robust"]["snapshots"][1]["binds"]


def test_no_price_means_no_amount(tmp_path: Path) -> None:
    files = [taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "busy.json", BUSY, "1900m")]
    for file in files:
        Path(file).write_text(Path(file).read_text().replace("m5.xlarge", "own.metal").replace("aws:///", "own:///"))
    report = facts(*files)
    assert len(removed(report)) == 2
    assert report["robust"]["saving"] is None
    assert all(row["alone_micros"] is row["at_most_micros"] is None for row in report["robust"]["snapshots"])
    assert [row["binds"] for row in report["robust"]["snapshots"]] == [False, True]
    assert "$" not in analyse(*files).stdout


def test_the_text_says_what_binds_and_of_what_it_speaks(tmp_path: Path) -> None:
    quiet, busy = taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "busy.json", BUSY, "1900m")
    text = analyse(quiet, busy).stdout
    assert f"The plan holds in both snapshots. {busy} binds: with the newest it leaves least." in text
    assert f"speak of {quiet}, the newest." in text
    assert "Snapshots" not in analyse(quiet).stdout


def test_an_end_before_all_is_worked_out_still_holds_in_all(tmp_path: Path) -> None:
    files = [taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "busy.json", BUSY, "1900m")]
    report = facts(*files, "--time-limit", "0")
    assert report["limited_by"] == "time"
    assert len(removed(report)) <= 2
    assert report["judgement"]["faults"] == []


def test_a_move_budget_counts_on_the_newest(tmp_path: Path) -> None:
    files = [taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "busy.json", BUSY, "1900m")]
    assert len(removed(facts(*files, "--move-budget", "1"))) == 1
    assert removed(facts(*files, "--move-budget", "0")) == []


@pytest.mark.parametrize("content", ["", "{", '{"schema": "ksolver.snapshot/1", "objects": {}}'])
def test_a_broken_file_is_named(tmp_path: Path, content: str) -> None:
    quiet, broken = taken(tmp_path, "quiet.json", QUIET, "800m"), tmp_path / "broken.json"
    broken.write_text(content)
    done = analyse(quiet, str(broken))
    assert done.exit_code == 4
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 2
    assert str(broken) in done.stderr.splitlines()[0]


def test_other_commands_still_want_one(tmp_path: Path) -> None:
    files = [taken(tmp_path, "quiet.json", QUIET, "800m"), taken(tmp_path, "busy.json", BUSY, "1900m")]
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"waves": []}))
    done = CliRunner().invoke(app, ["plan", "next", str(plan), *files])
    assert done.exit_code == 4
    assert "a second snapshot" in done.stderr
