"""One list, seen several times: what the code can say is what the words, the docs and the schema know."""

import json
import re
from enum import StrEnum

import pytest

from ksolver_cli.constraints.eviction import BlockerKind
from ksolver_cli.constraints.registry import FAMILIES
from ksolver_cli.domain.cluster import CaveatKind
from ksolver_cli.domain.report.actions import ActionKind
from ksolver_cli.domain.report.waterfall import StepKind
from ksolver_cli.domain.verdict import Family, Reason
from ksolver_cli.explain.drainability import NO_ROOM, PODS_UNKNOWN
from ksolver_cli.render import blockers, caveats, phrases
from ksolver_cli.render.text import actions, waterfall
from tests.paths import ROOT
from tools.report_schema import TARGET, text

PAGE = (ROOT / "docs/reference/report.md").read_text(encoding="utf-8")


def _listed(heading: str) -> set[str]:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    body = next(part for part in section if part.startswith(heading))
    return set(re.findall(r"^\| `([^`]+)` \|", body, re.MULTILINE))


@pytest.mark.parametrize(
    ("heading", "kinds"),
    [
        ("Constraint families", set(Family)),
        ("Steps of the waterfall", set(StepKind)),
        ("Actions", set(ActionKind)),
        ("Blockers", {*BlockerKind, NO_ROOM, PODS_UNKNOWN}),
        ("Caveats", set(CaveatKind)),
    ],
)
def test_the_page_lists_what_the_code_can_say(heading: str, kinds: set[str]) -> None:
    assert _listed(heading) == {str(kind) for kind in kinds}


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        (blockers.WORDS, {*BlockerKind, NO_ROOM, PODS_UNKNOWN}),
        (caveats.WORDS, set(CaveatKind)),
        (actions.TITLES, set(ActionKind)),
        (waterfall.LABELS, set(StepKind)),
    ],
)
def test_everything_has_words(words: dict[StrEnum, str], kinds: set[StrEnum]) -> None:
    assert set(words) == kinds


def test_every_reason_has_the_schedulers_words() -> None:
    assert set(Reason) - set(phrases.WORDS) <= {Reason.OTHER}


def test_every_family_is_registered_or_is_a_gate() -> None:
    assert {rule.family for rule in FAMILIES} | {Family.SCHEDULING_GATES} == set(Family)


def test_the_schema_is_that_of_the_types() -> None:
    assert TARGET.read_text(encoding="utf-8") == text()
    assert json.loads(text())["title"] == "ksolver.report/1"
