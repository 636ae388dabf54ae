"""The sample clusters: each report prints the headline of its story, byte for byte what is stored, and is judged."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from ksolver_cli.cli.analyze import DEMO_EFFORT
from tests.paths import ROOT

SAMPLES = sorted(path.parent for path in (ROOT / "snapshots").glob("*/snapshot.json"))
KSOLVER = Path(sys.executable).with_name("ksolver")
SCHEMA = json.loads((ROOT / "docs/reference/report.schema.json").read_text())


def _run(sample: Path, *arguments: str) -> str:
    effort = ["--effort", str(DEMO_EFFORT)] if sample.name == "demo" else []
    command = [str(KSOLVER), "analyze", str(sample / "snapshot.json"), *arguments, *effort]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout


def test_there_are_enough_stories() -> None:
    assert len(SAMPLES) >= 9


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_report_is_what_is_stored(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.txt"
    assert _run(sample, "--out", str(out)) == ""
    assert out.read_text() == (sample / "report.txt").read_text()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_facts_hold_to_the_schema_and_to_one_another(sample: Path) -> None:
    report = json.loads(_run(sample, "--json"))
    jsonschema.validate(report, SCHEMA)
    assert report["judgement"]["faults"] == []
    plan = report["plan"]
    removed = {node for wave in plan["waves"] for node in wave["nodes"]}
    rows = {row["name"]: row for row in report["nodes"]}
    saving = plan["cost_before_micros"] - plan["cost_after_micros"]
    assert saving == sum(rows[name]["price_micros"] for name in removed)
    assert removed == {row["name"] for row in report["nodes"] if row["in_plan"]}
    steps = report["waterfall"]["steps"]
    total = sum(step["before_micros"] - step["after_micros"] for step in steps)
    assert report["waterfall"]["current_micros"] - total == report["waterfall"]["floor_micros"]
    for step in steps:
        if step["saving"] is not None:
            assert 0 <= step["saving"]["at_least_micros"] <= step["saving"]["at_most_micros"]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.name != "demo"], ids=lambda path: path.name)
def test_the_headline_is_that_of_the_story(sample: Path) -> None:
    told = re.search(
        r"Headline: (?:(\d+) nodes go, \$([\d.]+) a month|no node can go)\.", (sample / "README.md").read_text()
    )
    assert told is not None
    report = json.loads(_run(sample, "--json"))
    removed = sum(len(wave["nodes"]) for wave in report["plan"]["waves"])
    monthly = report["plan"]["cost_before_per_month"] - report["plan"]["cost_after_per_month"]
    assert removed == int(told[1] or 0)
    assert round(monthly, 2) == float(told[2] or 0)
