"""The conformance page: how our families agree with the scheduler's plugins, version by version, as measured.

`.venv/bin/python -m tests.live.conformance_page` measures and writes `docs/reference/conformance.md`.
"""

import json
import logging
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ksolver_cli.constraints.registry import families
from ksolver_cli.normalise.version import parse_version
from tests.live import fuzz
from tests.live.build import ensure, oracle_target
from tests.live.oracle import Json, Oracle
from tests.live.worlds import everything
from tests.paths import ROOT

log = logging.getLogger(__name__)

PAGE = ROOT / "docs" / "reference" / "conformance.md"
FOUND = ROOT / "tests" / "conformance" / "found" / "cases.json"
VERSIONS = ("1.34", "1.36", "1.37")
SEED = 20_000
CLUSTERS = 1_000


@dataclass(frozen=True)
class Measured:
    """What one version's scheduler and our families said of the same worlds, plugin by plugin."""

    version: str
    scheduler: str
    plugins: tuple[str, ...]
    clusters: int
    run: fuzz.Run


def measured(oracle: Oracle, version: str, clusters: int = CLUSTERS) -> Measured:
    """Measure one version on the worlds of the page's seed, and on those that earlier runs brought up."""
    world = everything.plain_world if version == "1.34" else everything.world
    run = fuzz.put(world, oracle, version, count=clusters, seed=SEED, stop=clusters)
    kept = list(found_cases())
    for case in kept:
        fuzz.differences(case, oracle, version, run)
    plugins = tuple(str(rule.family) for rule in families(_parsed(version)))
    return Measured(version, oracle.version()["version"], plugins, clusters + len(kept), run)


def _parsed(version: str) -> tuple[int, int]:
    return parse_version(version) or (0, 0)


def found_cases() -> Iterable[Json]:
    """Worlds that random runs brought up."""
    for case in json.loads(FOUND.read_text())["cases"]:
        yield {key: value for key, value in case.items() if key not in ("id", "expect")}


def page(rows: Sequence[Measured]) -> str:
    """The whole page."""
    parts = [_HEAD, *(_section(row) for row in rows), _known(), _FOOT]
    return "\n".join(parts)


def _section(row: Measured) -> str:
    run = row.run
    lines = [
        f"## Kubernetes {row.version}",
        "",
        f"Scheduler {row.scheduler}: {row.clusters:,} clusters, {run.pairs:,} pairs of a pod and a node, of which",
        f"{run.feasible:,} fit. Verdicts that differ, or that ksolver does not know: {sum(run.differing.values()):,}.",
        "",
        "| Plugin, in the order of Filter | pairs | rejected by the scheduler | ksolver agrees |",
        "|---|---:|---:|---:|",
    ]
    for plugin in row.plugins:
        wrong = run.differing[plugin]
        shown = "100 %" if not wrong else f"{min(100 * (run.pairs - wrong) / run.pairs, 99.99):.2f} %"
        lines.append(f"| {plugin} | {run.pairs:,} | {run.agreed[plugin]:,} | {shown} |")
    return "\n".join([*lines, ""])


def _known() -> str:
    lines = ["## Known divergences", "", "| Plugin | Versions | What |", "|---|---|---|"]
    lines += [f"| {plugin} | {versions} | {what} |" for plugin, versions, what in KNOWN]
    return "\n".join([*lines, ""])


KNOWN = (
    (
        "DynamicResources",
        "1.34",
        "`distinctAttribute`, and all devices as one of several alternatives: 1.34 has them only behind a gate that is "
        "off, and takes them for other than they are; not compared",
    ),
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
        "NodeDeclaredFeatures",
        "1.37",
        "`bindMountOptions` of a volume mount, behind a gate that is off, is not read; not compared",
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
        log.info("%s: %d pairs, differing: %s", version, rows[-1].run.pairs, dict(rows[-1].run.differing))
    PAGE.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
