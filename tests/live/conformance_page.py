"""The conformance page: how our families agree with the scheduler's plugins, version by version, as measured.

`.venv/bin/python -m tests.live.conformance_page` measures and writes `docs/reference/conformance.md`.
"""

import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ksolver_cli.constraints.registry import families
from ksolver_cli.normalise.version import parse_version
from tests.live.build import ensure, oracle_target
from tests.live.oracle import Oracle
from tests.live.worlds.compare import Json, ours, theirs
from tests.live.worlds.everything import world
from tests.live.worlds.known import DIVERGENCES
from tests.paths import ROOT

log = logging.getLogger(__name__)

PAGE = ROOT / "docs" / "reference" / "conformance.md"
FOUND = ROOT / "tests" / "conformance" / "found" / "cases.json"
VERSIONS = ("1.34", "1.36", "1.37")
SEED = "page"
CLUSTERS = 1_000


@dataclass
class Measured:
    """What one version's scheduler and our families said of the same worlds, plugin by plugin."""

    version: str
    scheduler: str
    plugins: tuple[str, ...]
    clusters: int = 0
    pairs: int = 0
    feasible: int = 0
    unsure: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    differ: Counter[str] = field(default_factory=Counter)

    def add(self, said: dict[str, Json], heard: dict[str, Json]) -> None:
        """Count one world."""
        self.clusters += 1
        for node, theirs_ in heard.items():
            mine = said[node]
            self.pairs += 1
            self.feasible += not theirs_["alone"]
            self.rejected.update(theirs_["alone"])
            if "unknown" in mine:
                self.unsure += 1
            else:
                self.differ.update(set(mine["alone"]) ^ set(theirs_["alone"]))


def measured(oracle: Oracle, version: str, clusters: int = CLUSTERS) -> Measured:
    """Measure one version on the worlds of the page's seed and on those that earlier runs brought up."""
    about = oracle.version()
    found = Measured(version, about["version"], tuple(str(rule.family) for rule in families(_parsed(version))))
    for drawn in (*_found(), *(world(f"{SEED}-{number}") for number in range(clusters))):
        found.add(ours(drawn, version), theirs(drawn, oracle))
    return found


def _parsed(version: str) -> tuple[int, int]:
    return parse_version(version) or (0, 0)


def _found() -> Iterable[Json]:
    for case in json.loads(FOUND.read_text())["cases"]:
        yield {key: value for key, value in case.items() if key not in ("id", "expect")}


def page(rows: Sequence[Measured]) -> str:
    """The whole page."""
    parts = [_HEAD, *(_section(row) for row in rows), _known(), _FOOT]
    return "\n".join(parts)


def _section(row: Measured) -> str:
    lines = [
        f"## Kubernetes {row.version}",
        "",
        f"Scheduler {row.scheduler}: {row.clusters:,} clusters, {row.pairs:,} pairs of a pod and a node, of which "
        f"{row.feasible:,} fit. ksolver did not know the verdict of {row.unsure:,}.",
        "",
        "| Plugin, in the order of Filter | pairs | rejected by the scheduler | ksolver agrees |",
        "|---|---:|---:|---:|",
    ]
    for plugin in row.plugins:
        agree = row.pairs - row.unsure - row.differ[plugin]
        share = 100 * agree / (row.pairs - row.unsure)
        shown = "100 %" if agree == row.pairs - row.unsure else f"{min(share, 99.99):.2f} %"
        lines.append(f"| {plugin} | {row.pairs:,} | {row.rejected[plugin]:,} | {shown} |")
    return "\n".join([*lines, ""])


def _known() -> str:
    lines = ["## Known divergences", "", "| Plugin | Versions | What |", "|---|---|---|"]
    lines += [f"| {d.family} | {', '.join(d.versions)} | {d.what} |" for d in DIVERGENCES]
    lines += [f"| {plugin} | {versions} | {what} |" for plugin, versions, what in _OTHERS]
    return "\n".join([*lines, ""])


_OTHERS = (
    (
        "DynamicResources",
        "all",
        "where the scheduler's search for devices meets several errors, it names one or another from run to run; "
        "ksolver names the first in the order of the pools",
    ),
    (
        "DynamicResources",
        "all",
        "CEL beyond the common functions, and devices with binding conditions: the verdict is `unknown`, never a guess",
    ),
    (
        "NodeName",
        "1.37",
        "where a named node and node affinity leave no node between them, the scheduler names both plugins in one "
        "message; ksolver gives each its own",
    ),
)

_HEAD = f"""# Conformance

How the constraint families agree with kube-scheduler's Filter plugins. Every plugin is asked alone, on every node of
random clusters with every construct that Filter looks at, and so is ours. The scheduler is the real one, linked from
its own source. This page is written by `.venv/bin/python -m tests.live.conformance_page` ({CLUSTERS:,} clusters a
version, always the same ones); the live tests draw fresh ones in every run and fail on any difference.

To compare on your own pods and nodes, see [ksolver conform](../guides/conform.md).
"""

_FOOT = """## What is not compared

Scheduling gates hold a pod back before Filter. Scores, preemption and plugins that are not part of the default profile
are no feasibility. Pods nominated to a node are left out on both sides.
"""


def main() -> None:
    """Measure all versions and write the page."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", stream=sys.stderr)
    rows = []
    for version in VERSIONS:
        with tempfile.TemporaryDirectory() as folder:
            binary = ensure(oracle_target(version)) / "oracle"
            with Oracle(binary, Path(folder) / "oracle.log") as oracle:
                rows.append(measured(oracle, version))
        log.info("%s: %d pairs, differing: %s", version, rows[-1].pairs, dict(rows[-1].differ))
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
