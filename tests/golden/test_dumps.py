"""Dumps of real clusters: each file and each folder is analysed, and every number agrees with every other."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from ksolver_cli.cli.main import app
from tests.paths import DATA, ROOT

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no data in {DATA}")

KSOLVER = Path(sys.executable).with_name("ksolver")
SCHEMA = json.loads((ROOT / "docs/reference/report.schema.json").read_text())
DUMPS = sorted((DATA / "dumps").rglob("*"))
NO_CLUSTER = {"elchead-pod-memory-series.json", "stats-summary.json"}
"""Real output of clusters that holds no Kubernetes object."""
OPENB = DATA / "openb" / "k8s_snapshot_gpuspec33_load55.json.gz"
HOURS = 730

PRICES = """
currency: USD
prices:
  - {instance_type: m5.xlarge, region: us-east-1, hourly: 0.192, per: node}
  - {hourly: {vcpu: 0.03, gib: 0.004, gpu: 1.9}}
"""

Report = dict[str, Any]


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["analyze", *arguments])


def _report(*arguments: str) -> Report:
    done = _run(*arguments, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    report: Report = json.loads(done.stdout)
    jsonschema.validate(report, SCHEMA)
    _check(report)
    return report


def _check(report: Report) -> None:
    _check_months(report)
    _check_counts(report)
    _check_prices(report)
    _check_plan(report)
    _check_waterfall(report)


def _check_months(part: object) -> None:
    """A month is 730 hours, wherever an amount stands; what is not known an hour is not known a month."""
    if isinstance(part, list):
        for entry in part:
            _check_months(entry)
    if not isinstance(part, dict):
        return
    for name, value in part.items():
        _check_months(value)
        if name.endswith("_micros"):
            month = part[name.removesuffix("_micros") + "_per_month"]
            assert (value is None) == (month is None)
            assert value is None or abs(value * HOURS / 1e6 - month) <= 0.00501


def _check_counts(report: Report) -> None:
    cluster, rows = report["cluster"], report["nodes"]
    assert (cluster["nodes"] or 0) == len(rows)
    assert len({row["name"] for row in rows}) == len(rows)
    assert (cluster["pods_pending_stuck"] or 0) == len(report["stuck"])
    if cluster["pods_bound"] is None:
        assert {row["pods"] for row in rows} <= {None}
    else:
        assert sum(row["pods"] for row in rows) <= cluster["pods_bound"]
        assert all(row["movable"] <= row["pods"] for row in rows)
    for row in rows:
        assert row["drainable"] == (not row["blockers"])
        assert all(target != row["name"] for _, target in row["destinations"])
        if row["drainable"]:
            assert len(row["destinations"]) == row["movable"]
    for stuck in report["stuck"]:
        assert sum(reason["nodes"] for reason in stuck["reasons"]) == len(rows)


def _check_prices(report: Report) -> None:
    prices, rows = report["prices"], report["nodes"]
    known = [row["price_micros"] for row in rows if row["price_micros"] is not None]
    assert prices["priced_nodes"] == len(known) == sum(source["nodes"] for source in prices["sources"])
    assert prices["unpriced_nodes"] == len(rows) - len(known) == len(prices["unpriced"])
    assert {name for name, _ in prices["unpriced"]} == {row["name"] for row in rows if row["price_micros"] is None}
    assert all(why for _, why in prices["unpriced"])
    assert prices["cost_micros"] == (sum(known) if known else None)


def _check_plan(report: Report) -> None:
    plan, rows = report["plan"], {row["name"]: row for row in report["nodes"]}
    removed = [node for wave in plan["waves"] for node in wave["nodes"]]
    assert len(set(removed)) == len(removed)
    assert set(removed) == {name for name, row in rows.items() if row["in_plan"]}
    assert report["judgement"]["faults"] == []
    assert plan["cost_before_micros"] == report["prices"]["cost_micros"]
    assert plan["cost_after_micros"] == report["judgement"]["cost_after_micros"]
    saved = None
    if plan["cost_before_micros"] is not None:
        saved = plan["cost_before_micros"] - plan["cost_after_micros"]
        assert saved == sum(rows[name]["price_micros"] for name in removed)
    moved = [move["pod"] for move in plan["moves"] if move["source"]]
    assert len(moved) == sum(rows[name]["movable"] for name in removed)
    assert not {move["target"] for move in plan["moves"]} & set(removed)
    drains = [action for action in report["actions"] if action["kind"] in ("drain-nodes", "remove-idle-nodes")]
    assert [node for action in drains for node in action["nodes"]] == removed
    amounts = [action["saving"]["at_least_micros"] for action in drains if action["saving"] is not None]
    assert sum(amounts) == (saved or 0)
    assert report["curve"][-1]["nodes"] == len(removed)
    assert report["curve"][-1]["saving_micros"] == saved


def _check_waterfall(report: Report) -> None:
    waterfall, numbers, gaps = report["waterfall"], report["numbers"], report["gaps"]
    if waterfall is None:
        assert numbers is None
        assert any(gap["kind"] == "waterfall" for gap in gaps)
        return
    level = waterfall["current_micros"]
    assert level == report["prices"]["cost_micros"]
    for step in waterfall["steps"]:
        assert step["before_micros"] == level
        level = step["after_micros"]
        saving = step["saving"]
        assert (saving is None) == (step["reason"] is not None)
        assert step["before_micros"] - level == (saving["at_least_micros"] if saving else 0)
        assert saving is None or saving["at_least_micros"] <= saving["at_most_micros"]
    assert level == waterfall["floor_micros"] >= waterfall["bound_micros"] >= 0
    assert numbers["floor_micros"] <= numbers["repack_micros"] <= numbers["drain_micros"]
    assert numbers["drain_micros"] == report["plan"]["cost_after_micros"]


@pytest.mark.parametrize("dump", DUMPS, ids=lambda path: str(path.relative_to(DATA)))
def test_every_dump_is_analysed(dump: Path) -> None:
    if dump.name in NO_CLUSTER:
        done = _run(str(dump))
        assert (done.exit_code, done.stdout) == (4, "")
        assert len(done.stderr.splitlines()) == 2
    else:
        _report(str(dump), "--effort", "0.2")


@pytest.mark.parametrize("dump", [path for path in DUMPS if path.is_dir()], ids=lambda path: path.name)
def test_every_dump_with_prices_for_all_of_it(dump: Path, tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(PRICES)
    report = _report(str(dump), "--prices", str(file), "--effort", "0.2")
    assert report["prices"]["unpriced_nodes"] == 0


@pytest.mark.parametrize("dump", [path for path in DUMPS if path.is_dir()], ids=lambda path: path.name)
def test_nothing_without_a_price_is_called_free(dump: Path) -> None:
    report = _report(str(dump), "--effort", "0.2")
    text = _run(str(dump), "--effort", "0.2").stdout
    if report["prices"]["priced_nodes"] == 0:
        assert "$" not in text
    else:
        assert "$0" not in text.replace("$0.00", "").replace("$0.", "")
    assert text.count("unpriced") >= report["prices"]["unpriced_nodes"]


@pytest.mark.parametrize("name", ["insights-archive", "honeycomb"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_same_twice_is_the_same_bytes(name: str, form: str) -> None:
    command = [str(KSOLVER), "analyze", str(DATA / "dumps" / name), "-o", form]
    # Two processes: sets and hashes come in another order in each.
    first, second = (subprocess.run(command, capture_output=True, check=True).stdout for _ in range(2))
    assert first == second != b""


def test_a_gpu_cluster_of_fifteen_hundred_nodes() -> None:
    report = _report(str(OPENB), "--effort", "0.02", "--time-limit", "900")
    assert report["cluster"]["nodes"] == 1523
    assert report["cluster"]["pods_bound"] == 4235
    assert report["cluster"]["pods_pending_fit"] + report["cluster"]["pods_pending_stuck"] == 405
    assert report["prices"]["cost_micros"] is None
