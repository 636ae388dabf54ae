"""From options to a scheduler that can be asked, or the reason why there is none."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.cli.conformance.asked import Source
from ksolver_cli.collect.schedulers.exchange import Stop
from ksolver_cli.collect.schedulers.scratch_cluster import ScratchCluster, ScratchOptions
from ksolver_cli.collect.schedulers.simulator import Simulator, SimulatorOptions
from ksolver_cli.conform.recording import Recorder, Replay
from ksolver_cli.conform.run import judged_version
from ksolver_cli.conform.sources import Scheduler
from ksolver_cli.snapshot.model import Snapshot

SIMULATOR, CLUSTER, REPLAY = "simulator", "cluster", "replay:"
URL_VARIABLE = "KSOLVER_SCHEDULER_SIMULATOR_URL"

WHY = "no scheduler is configured, so nothing was compared"
HOW = (
    f"give --simulator-url URL (or {URL_VARIABLE}), --scheduler replay:FILE, "
    "or --scheduler cluster --scheduler-kubeconfig FILE"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A source that is configured."""

    kind: str
    url: str = ""
    file: Path = Path()


def chosen_source(source: Source) -> Chosen | None:
    """The configured source; None when there is none. Raises CommandError for one that is not known."""
    url = source.url or os.environ.get(URL_VARIABLE) or ""
    kind = source.scheduler
    if kind is None and not url and source.kubeconfig is not None:
        raise CommandError("--scheduler-kubeconfig without a source", "give --scheduler cluster too", Exit.USAGE)
    if kind is None or kind == SIMULATOR:
        return Chosen(SIMULATOR, url=_checked(url)) if url else None
    if kind.startswith(REPLAY) and len(kind) > len(REPLAY):
        return _replayed(source, Path(kind.removeprefix(REPLAY)))
    if kind != CLUSTER:
        hint = "sources are: simulator, replay:FILE, cluster"
        raise CommandError(f"--scheduler {kind}: no such source", hint, Exit.USAGE)
    if source.kubeconfig is None:
        hint = "give the kubeconfig of a disposable control plane, never that of the cluster under analysis"
        raise CommandError("--scheduler cluster: no --scheduler-kubeconfig", hint, Exit.USAGE)
    return Chosen(CLUSTER, file=source.kubeconfig)


def _replayed(source: Source, file: Path) -> Chosen:
    if source.record is not None:
        hint = "record from a simulator or a cluster, or leave --record out"
        raise CommandError("--record with --scheduler replay: nothing new to record", hint, Exit.USAGE)
    return Chosen(REPLAY, file=file)


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        hint = "write it as http://localhost:1212"
        raise CommandError(f"the simulator's URL {url} is none", hint, Exit.USAGE)
    return url


@contextmanager
def opened(
    chosen: Chosen, source: Source, snapshot: Snapshot, asked_version: str | None, stop: Stop
) -> Iterator[Scheduler]:
    """The scheduler, ready to be asked; closed and cleared up at the end. Raises SchedulerUnusableError."""
    if chosen.kind == REPLAY:
        replay = Replay(chosen.file)
        replay.fix_version(judged_version(snapshot, replay.version, asked_version))
        yield replay
        return
    with _live(chosen, source, stop) as scheduler:
        if source.record is None:
            yield scheduler
            return
        version = judged_version(snapshot, scheduler.version, asked_version)
        with Recorder(scheduler, source.record, version) as recorder:
            yield recorder


def _live(chosen: Chosen, source: Source, stop: Stop) -> Simulator | ScratchCluster:
    if chosen.kind == SIMULATOR:
        return Simulator(SimulatorOptions(chosen.url, source.seconds), stop=stop)
    return ScratchCluster(ScratchOptions(chosen.file, source.context, source.seconds), stop=stop)
