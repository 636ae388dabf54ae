"""The conformance page has a row for every family of every version it speaks of."""

import re

import pytest

from ksolver_cli.constraints.registry import families
from ksolver_cli.normalise.version import parse_version
from tests.live.build import HERE, ORACLE_MODFILES
from tests.live.conformance_page import KNOWN, PAGE, VERSIONS

ROW = re.compile(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) % \|$", re.MULTILINE)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_row_a_family_in_the_scheduler_s_order(version: str) -> None:
    section = PAGE.read_text().partition(f"## Kubernetes {version}\n")[2].partition("\n## ")[0]
    rows = ROW.findall(section)
    assert [plugin for plugin, *_ in rows] == [str(rule.family) for rule in families(parse_version(version) or (0, 0))]
    for plugin, pairs, rejected, share in rows:
        assert 0 < int(rejected.replace(",", "")) < int(pairs.replace(",", "")), plugin
        assert 99 <= float(share) <= 100, plugin


@pytest.mark.parametrize("version", VERSIONS)
def test_the_page_is_of_the_scheduler_that_is_pinned(version: str) -> None:
    pinned = re.search(r"k8s\.io/kubernetes (v\S+)", (HERE / "oracle" / ORACLE_MODFILES[version]).read_text())
    assert pinned is not None
    assert f"Scheduler {pinned[1]}:" in PAGE.read_text()


def test_known_divergences_are_on_the_page() -> None:
    text = PAGE.read_text()
    assert all(what in text for _, _, what in KNOWN)
