"""The conformance page says what a measurement gives, and the worlds that runs brought up are the scheduler's word."""

import json
import re

import pytest

from tests.live.conformance_page import FOUND, PAGE, VERSIONS, measured
from tests.live.oracle import Oracle
from tests.live.test_fuzz import ORACLES

CLUSTERS = 150
"""Measured here; the page was written with more."""


@pytest.mark.parametrize("version", VERSIONS)
def test_the_page_s_claim_holds_on_a_part_of_its_worlds(version: str, request: pytest.FixtureRequest) -> None:
    oracle: Oracle = request.getfixturevalue(ORACLES[version])
    row = measured(oracle, version, CLUSTERS)
    text = PAGE.read_text()
    section = text.partition(f"## Kubernetes {version}\n")[2].partition("\n## ")[0]
    told = re.findall(r"^\| (\w+) \| [\d,]+ \| [\d,]+ \| ([\d.]+) % \|$", section, re.MULTILINE)
    assert f"Scheduler {row.scheduler}:" in section
    assert tuple(plugin for plugin, _ in told) == row.plugins
    perfect = {plugin for plugin, share in told if share == "100"}
    assert not perfect & set(row.run.differing), row.run.differing


@pytest.mark.parametrize("version", VERSIONS)
def test_worlds_that_were_kept_have_the_scheduler_s_verdicts(version: str, request: pytest.FixtureRequest) -> None:
    oracle: Oracle = request.getfixturevalue(ORACLES[version])
    cases = json.loads(FOUND.read_text())["cases"]
    said = {case["id"]: oracle.filter(case, case["pod"]) for case in cases}
    failing = {name: {node: sorted(answer["alone"]) for node, answer in nodes.items()} for name, nodes in said.items()}
    assert failing == {case["id"]: case["expect"][version] for case in cases}
