"""The work behind `ksolver analyze`; apart from it, so that `--help` loads nothing heavy."""

import sys
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

from ksolver_cli.cli.common.cluster_flags import ClusterFlags
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.cli.common.gates import parse_gates, tripped
from ksolver_cli.cli.common.guard import abandon_stdout
from ksolver_cli.cli.common.output import STDOUT, emit, expect_writable
from ksolver_cli.cli.common.prices import pricing
from ksolver_cli.cli.common.progress import watching
from ksolver_cli.cli.common.samples import sample
from ksolver_cli.cli.gpu_memory.problems import tell
from ksolver_cli.domain.plan import Limits
from ksolver_cli.domain.report.report import Report
from ksolver_cli.explain.whatif.options import WhatIf
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.pipeline import Request, analyze_all
from ksolver_cli.plan.search import SearchOptions
from ksolver_cli.render.console import PIPE_WIDTH, capture, console_for, tidy
from ksolver_cli.render.json_report import to_json
from ksolver_cli.render.text.report import render_report
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.moments import Moment, read_moments
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.store import StoreError, read

FORMATS = ("text", "json")


@dataclass(frozen=True, slots=True)
class Priced:
    """Files and options beside the cluster: prices, and measured GPU memory."""

    prices: Path | None = None
    region: str | None = None
    spot_factor: str | None = None
    vram_store: Path | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What to analyse, and with which facts beside it."""

    inputs: tuple[str, ...]
    sample: str | None
    complete: bool
    kubernetes_version: str | None
    priced: Priced
    cluster: ClusterFlags = field(default_factory=ClusterFlags)


@dataclass(frozen=True, slots=True)
class Searching:
    """How long and how far to search."""

    move_budget: str | None
    seed: int
    workers: int
    seconds: float
    effort: float


@dataclass(frozen=True, slots=True)
class Showing:
    """What to print, where, and what makes the process exit 1."""

    format: str
    out: str | None
    every_node: bool
    strict_prices: bool
    gates: tuple[str, ...]


def run(asked: Asked, searching: Searching, showing: Showing, wanted: WhatIf) -> Exit:
    """Read, analyse, print; the exit code tells whether a gate tripped."""
    if showing.format not in FORMATS:
        raise CommandError(f"-o {showing.format}: no such format", f"formats are: {', '.join(FORMATS)}", Exit.USAGE)
    gates = parse_gates(showing.gates)
    expect_writable(showing.out)
    _expect_version(asked.kubernetes_version)
    moments = _moments(asked)
    with watching(searching.seconds) as watch:
        request = replace(_request(asked, searching, moments[0].snapshot), what_if=wanted)
        report = analyze_all(moments, request, watch)
    trips = tripped(report, gates)
    if showing.strict_prices and report.prices.unpriced_nodes:
        trips.append(f"--strict-prices: nodes without a price: {report.prices.unpriced_nodes}")
    try:
        _print(report, showing)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has what it wanted; the gate counts all the same.
        abandon_stdout()
    for line in trips:
        sys.stderr.write(f"ksolver: {line}\n")
    return Exit.GATE if trips else Exit.DONE


def what_if(amounts: tuple[str, str, str], relax: tuple[bool, bool, bool]) -> WhatIf:
    """The what-if options from the command line; raises CommandError for what is no share or ratio."""
    cpu, memory, overcommit = amounts
    ratio = _fraction("--overcommit", overcommit)
    if ratio <= 0:
        raise CommandError(f"--overcommit {overcommit}: not above 0", "give a ratio such as 1.2", Exit.USAGE)
    return WhatIf(_share("--cpu-headroom", cpu), _share("--memory-headroom", memory), ratio, *relax)


def _share(option: str, text: str) -> Fraction:
    share = _fraction(option, text.removesuffix("%")) / 100
    if not 0 <= share < 1:
        raise CommandError(f"{option} {text}: not from 0 % to below 100 %", "give e.g. 15%", Exit.USAGE)
    return share


def _fraction(option: str, text: str) -> Fraction:
    try:
        return Fraction(text.strip())
    except (ValueError, ZeroDivisionError) as error:
        raise CommandError(f"{option} {text}: not a number", "give e.g. 15", Exit.USAGE) from error


def _expect_version(text: str | None) -> None:
    if text is not None and parse_version(text) is None:
        raise CommandError(f"--kubernetes-version {text}: not a version", "write it as 1.36", Exit.USAGE)


def _request(asked: Asked, searching: Searching, snapshot: Snapshot) -> Request:
    beside = asked.priced
    priced = pricing(beside.prices, beside.region, beside.spot_factor, snapshot.collected_at)
    return Request(
        user_prices=priced.user,
        pricing=priced.options,
        limits=Limits(searching.seed, searching.workers, searching.seconds, searching.effort),
        search=replace(SearchOptions(), move_budget=_budget(searching.move_budget)),
        observations=_observations(beside.vram_store),
        complete=asked.complete,
        kubernetes_version=asked.kubernetes_version,
    )


def _moments(asked: Asked) -> tuple[Moment, ...]:
    """What is to be looked at, the newest first."""
    if asked.sample is not None:
        if asked.inputs or asked.cluster.given:
            raise CommandError("a bundled sample and another input", "give one of them", Exit.USAGE)
        return read_moments([sample(asked.sample)])
    if asked.inputs:
        if asked.cluster.given:
            raise CommandError("a snapshot and kubectl's flags", "give one of them", Exit.USAGE)
        return read_moments(asked.inputs)
    from ksolver_cli.cli.cluster.connection import read_live

    return (Moment("", read_live(asked.cluster)),)


def _observations(store: Path | None) -> tuple[Observation, ...]:
    """Rows of the store; a store that is named and absent is a mistake, not an empty one."""
    if store is None:
        return ()
    if not store.is_file():
        raise CommandError(f"--vram-store {store}: no such file", "`ksolver vram-observe` writes one", Exit.USAGE)
    try:
        contents = read(store)
    except StoreError as error:
        raise CommandError(str(error), "check the file and its permissions", Exit.SNAPSHOT) from error
    tell(store, contents.problems)
    return contents.observations


def _budget(text: str | None) -> int | Fraction | None:
    if text is None:
        return None
    number = text.removesuffix("%")
    if not number.isdecimal():
        raise CommandError(f"--move-budget {text}: not a count or a share", "give e.g. 120 or 20%", Exit.USAGE)
    return Fraction(int(number), 100) if text.endswith("%") else int(number)


def _print(report: Report, showing: Showing) -> None:
    if showing.format == "json":
        emit(to_json(report), showing.out, exact=True)
        return
    console = console_for()
    if showing.out in (None, STDOUT) and console.is_terminal:
        render_report(console, report, every_node=showing.every_node)
        return
    console, buffer = capture(console.width if showing.out in (None, STDOUT) else PIPE_WIDTH)
    render_report(console, report, every_node=True)
    emit(tidy(buffer.getvalue()), showing.out)
