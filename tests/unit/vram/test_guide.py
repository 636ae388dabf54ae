"""The guide to GPU memory says what the program does: its messages, options, fields and queries."""

import re
from dataclasses import fields

import pytest
from typer.testing import CliRunner

from ksolver_cli.domain.gpu_workload.kept import KEPT_ANNOTATIONS
from ksolver_cli.vram.dcgm.values import FREE, RESERVED, TOTAL, USED
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.predict.results import CONFIDENCE, TIER, Source
from tests.paths import ROOT
from tests.unit.vram.test_cli_observe import app as observe
from tests.unit.vram.test_cli_predict import app as predict
from tests.unit.vram.test_deployment import OBJECTS

GUIDE = (ROOT / "docs" / "guides" / "vram.md").read_text()
CODE = "\n".join(
    path.read_text()
    for folder in ("vram", "collect", "cli/gpu_memory")
    for path in sorted((ROOT / "ksolver_cli" / folder).rglob("*.py"))
)


def section(title: str) -> str:
    return GUIDE.partition(f"\n{title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    return re.findall(r"^\| (`.*?`|[^|]*?) \|", text, re.MULTILINE)


MESSAGES = [cell.strip("`") for cell in first_cells(section("## No series? No rows?")) if "`" in cell]


@pytest.mark.parametrize("said", MESSAGES)
def test_every_message_of_the_table_is_one_of_the_programs(said: str) -> None:
    parts = [part.strip() for part in said.split("…")]
    assert parts
    for part in parts:
        words = part.replace(USED[0], "").strip()
        assert words in CODE, words


def test_every_option_of_the_table_exists() -> None:
    options = set(re.findall(r"`(--[a-z-]+|-n)", section("## Observe")))
    assert len(options) > 10
    text = CliRunner().invoke(observe, ["--help"], env={"COLUMNS": "300", "TERM": "dumb"}).output
    text += CliRunner().invoke(predict, ["--help"], env={"COLUMNS": "300", "TERM": "dumb"}).output
    assert {option for option in options if option not in text} == set()


def test_every_field_of_a_line_is_explained() -> None:
    explained = set(re.findall(r"`([a-z_]+)`", section("## Observe")))
    assert {field.name for field in fields(Observation)} <= explained


def test_every_metric_that_is_asked_for_is_shown() -> None:
    shown = section("## What is asked of Prometheus")
    for family in (USED, FREE, RESERVED, TOTAL):
        assert family[0] in shown or family[0].removeprefix("DCGM_FI_DEV_FB") in shown
    source = "\n".join(path.read_text() for path in sorted((ROOT / "ksolver_cli" / "vram").rglob("*.py")))
    asked = set(re.findall(r'"((?:kube_pod|DCGM_FI_PROF)_\w+)"', source))
    assert asked
    spelled = shown.replace("…_", "kube_pod_container_status_")
    assert {metric for metric in asked if metric not in spelled} == set()


def test_the_tiers_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (\d|–) \|.*\| (\w+) \| [^|]* \|$", section("## Predict"), re.MULTILINE)
    order = [("–" if TIER[source] is None else str(TIER[source]), CONFIDENCE[source].value) for source in Source]
    assert rows[: len(order)] == order


def test_the_role_shown_is_the_manifests() -> None:
    (role,) = [entry for entry in OBJECTS if entry["kind"] == "ClusterRole"]
    for rule in role["rules"]:
        shown = f"resources: [{', '.join(rule['resources'])}], verbs: [{', '.join(rule['verbs'])}]"
        assert shown in GUIDE


def test_annotations_that_the_guide_names_survive_redaction_or_are_told_not_to() -> None:
    named = set(re.findall(r"`(ksolver\.(?:dev|ai)/[a-z-]+)", GUIDE)) - {
        "ksolver.dev/gpu-vram-bytes",
        "ksolver.dev/gpu-vram-gib",
    }
    assert named
    assert named <= set(KEPT_ANNOTATIONS)
