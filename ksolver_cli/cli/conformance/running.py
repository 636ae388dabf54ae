"""The work of `ksolver conform`: read, compare, print, and say whether the gate tripped."""

import sys

import orjson

from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.cli.common.guard import abandon_stdout
from ksolver_cli.cli.common.output import STDOUT, emit, expect_writable
from ksolver_cli.cli.common.samples import DEMO, sample
from ksolver_cli.cli.conformance.asked import Gating, Input, Sampling, Showing, Source
from ksolver_cli.cli.conformance.scheduler import HOW, WHY, Chosen, chosen_source, opened
from ksolver_cli.cli.conformance.watch import watching
from ksolver_cli.collect.schedulers.exchange import SchedulerUnusableError
from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Comparison, Outcome
from ksolver_cli.conform.run import Options, compare
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.render.caveats import gap_words
from ksolver_cli.render.conform.junit import skipped_junit, to_junit
from ksolver_cli.render.conform.record import comparison_record, skipped_record
from ksolver_cli.render.conform.text import render_comparison
from ksolver_cli.render.console import PIPE_WIDTH, capture, console_for, tidy
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.read import read_snapshot

FORMATS = ("text", "json")


def run(asked: Input, source: Source, sampling: Sampling, gating: Gating, showing: Showing) -> Exit:
    """Compare and report; the exit code tells whether the gate tripped."""
    if showing.format not in FORMATS:
        raise CommandError(f"-o {showing.format}: no such format", f"formats are: {', '.join(FORMATS)}", Exit.USAGE)
    if asked.kubernetes_version and parse_version(asked.kubernetes_version) is None:
        what = f"--kubernetes-version {asked.kubernetes_version}: not a version"
        raise CommandError(what, "write it as 1.36", Exit.USAGE)
    _expect_places(source, showing)
    options = _options(asked, sampling, gating)
    chosen = chosen_source(source)
    if chosen is None:
        return _skip(gating, showing)
    found = _compared(chosen, source, _snapshot(asked), options)
    trips = tripped(found, gating)
    try:
        _print(found, showing)
    except BrokenPipeError:
        # The reader has what it wanted; the gate counts all the same.
        abandon_stdout()
    for line in trips:
        sys.stderr.write(f"ksolver: {line}\n")
    return Exit.GATE if trips else Exit.DONE


def _expect_places(source: Source, showing: Showing) -> None:
    """Refuse what cannot be written before anything is asked, and two results in one place."""
    expect_writable(showing.out)
    expect_writable(showing.junit, "--junit")
    expect_writable(source.record, "--record")
    places = [place or STDOUT for place in (showing.out, *([showing.junit] if showing.junit is not None else []))]
    if len(set(places)) < len(places):
        raise CommandError(f"--junit {showing.junit}: the report goes there", "give --junit another file", Exit.USAGE)


def _options(asked: Input, sampling: Sampling, gating: Gating) -> Options:
    if sampling.pods not in tuple(Pods):
        raise CommandError(f"--pods {sampling.pods}: no such choice", "give pending or all", Exit.USAGE)
    return Options(
        choice=Choice(Pods(sampling.pods), sampling.sample, sampling.max_nodes, sampling.seed),
        dedup=sampling.dedup,
        strict_all=gating.strict_all,
        min_pairs=gating.min_pairs,
        kubernetes_version=asked.kubernetes_version,
    )


def _snapshot(asked: Input) -> Snapshot:
    """The snapshot to take pods and nodes from; `--cluster` guards against taking another cluster's."""
    snapshot = _read(asked)
    for gap in snapshot.gaps:
        sys.stderr.write(f"ksolver: {one_line(gap_words(gap))}\n")
    if asked.cluster and not snapshot.cluster_name:
        what = f"--cluster {asked.cluster}: the input does not tell its cluster"
        raise CommandError(what, "give a file that `ksolver snapshot` wrote, or leave --cluster out", Exit.USAGE)
    if asked.cluster and asked.cluster != snapshot.cluster_name:
        what = f"--cluster {asked.cluster}: the snapshot is of cluster {snapshot.cluster_name}"
        raise CommandError(what, "give the snapshot of that cluster, or leave --cluster out", Exit.USAGE)
    return snapshot


def _read(asked: Input) -> Snapshot:
    given = {"--demo": asked.demo, "a snapshot": bool(asked.paths), "kubectl's flags": asked.live.given}
    named = [name for name, there in given.items() if there]
    if len(named) > 1:
        raise CommandError(" and ".join(named), "give one of them", Exit.USAGE)
    if asked.demo:
        return read_snapshot([sample(DEMO)])
    if asked.paths:
        return read_snapshot(asked.paths)
    from ksolver_cli.cli.cluster.connection import read_live

    return read_live(asked.live)


def _compared(chosen: Chosen, source: Source, snapshot: Snapshot, options: Options) -> Comparison:
    try:
        with watching() as watch, opened(chosen, source, snapshot, options.kubernetes_version, watch.stop) as scheduler:
            return compare(snapshot, scheduler, options, watch)
    except SchedulerUnusableError as error:
        raise CommandError(error.what, error.hint, Exit.CLUSTER) from error


def tripped(found: Comparison, gating: Gating) -> list[str]:
    """One line for each reason to exit 1; nothing trips without a --fail-on flag."""
    if not gating.asked:
        return []
    lines = []
    counts = found.strict.counts
    positives, negatives = counts[Outcome.FALSE_POSITIVE], counts[Outcome.FALSE_NEGATIVE]
    if positives:
        lines.append(f"{positives} strict false positives: we allow what the scheduler refuses")
    if negatives and gating.any_strict:
        lines.append(f"{negatives} strict false negatives: we refuse what the scheduler allows")
    if found.strict.answered < gating.min_pairs:
        lines.append(f"{found.strict.answered} strict pairs were answered, fewer than --min-pairs {gating.min_pairs}")
    if found.interrupted:
        lines.append("interrupted before every pair was compared")
    return lines


def _skip(gating: Gating, showing: Showing) -> Exit:
    failed = gating.asked and not gating.allow_skip
    if showing.format == "json":
        emit(orjson.dumps(skipped_record(WHY, HOW), option=orjson.OPT_INDENT_2).decode() + "\n", showing.out)
    else:
        emit(f"conform skipped: {WHY}\n{HOW}\n", showing.out)
    if showing.junit is not None:
        emit(skipped_junit(WHY, failed=failed), showing.junit, flag="--junit")
    if failed:
        sys.stderr.write("ksolver: skipped, though a --fail-on flag asks for a gate; --allow-skip would let it pass\n")
    return Exit.GATE if failed else Exit.DONE


def _print(found: Comparison, showing: Showing) -> None:
    if showing.junit is not None:
        emit(to_junit(found), showing.junit, flag="--junit")
    if showing.format == "json":
        text = orjson.dumps(comparison_record(found), option=orjson.OPT_INDENT_2).decode() + "\n"
        return emit(text, showing.out, exact=True)
    console, to_stdout = console_for(), showing.out in (None, STDOUT)
    if to_stdout and console.is_terminal:
        return render_comparison(console, found)
    pipe, buffer = capture(console.width if to_stdout else PIPE_WIDTH)
    render_comparison(pipe, found)
    return emit(tidy(buffer.getvalue()), showing.out)
