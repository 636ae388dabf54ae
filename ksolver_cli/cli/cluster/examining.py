"""`ksolver doctor` at work: run the checks, print them, choose the exit code."""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import typer

from ksolver_cli.cli.cluster.connection import connection_of
from ksolver_cli.cli.cluster.prometheus import usage_request
from ksolver_cli.cli.common.cluster_flags import ClusterFlags, PrometheusOptions
from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.collect.examine import Check, State, examine

_UNREACHED = frozenset({"configuration", "reach", "credentials"})
_FORMATS = ("text", "json")


def run(flags: ClusterFlags, prometheus: PrometheusOptions, output: str) -> None:
    """Print all checks to stdout; raises typer.Exit with 1 where one is bad, with 3 where there is no cluster."""
    if output not in _FORMATS:
        raise CommandError(f"-o {output}: no such format", f"formats are: {', '.join(_FORMATS)}", Exit.USAGE)
    checks = examine(connection_of(flags), usage_request(prometheus))
    if output == "json":
        document = {"schema": "ksolver.doctor/1", "checks": [asdict(check) for check in checks]}
        sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(checks)))
    sys.stdout.flush()
    bad = [check for check in checks if check.state is State.BAD]
    if bad:
        raise typer.Exit(Exit.CLUSTER if any(check.name in _UNREACHED for check in bad) else Exit.GATE)


def _lines(checks: Sequence[Check]) -> Iterator[str]:
    width = max(len(check.name) for check in checks)
    for check in checks:
        yield one_line(f"{check.state.value:<4}  {check.name:<{width}}  {check.found}")
        if check.fix:
            yield one_line(f"{'':<4}  {'':<{width}}  → {check.fix}")
