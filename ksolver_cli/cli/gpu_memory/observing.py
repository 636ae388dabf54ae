"""What `vram-observe` does once its options are read."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.cli.common.output import expect_writable
from ksolver_cli.cli.gpu_memory.problems import tell
from ksolver_cli.cli.gpu_memory.progress import Told, telling
from ksolver_cli.cli.gpu_memory.words import some
from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.errors import CollectError
from ksolver_cli.collect.prometheus import PrometheusClient
from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.collect.prometheus_settings import PrometheusFlags, PrometheusSettings, SettingsError, settings_from
from ksolver_cli.vram import store as stores
from ksolver_cli.vram.cards import Cards
from ksolver_cli.vram.dcgm import promql
from ksolver_cli.vram.dcgm.reading import Window
from ksolver_cli.vram.join.live import live_source
from ksolver_cli.vram.join.source import PodSpecSource, read_source
from ksolver_cli.vram.observe import Findings, observe, shared_count

log = logging.getLogger(__name__)

_SHOWN = 10
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(?:\d+[smhdw])+")
_LABEL = re.compile(r"([a-zA-Z_]\w*)=(.*)", re.DOTALL)
_CREDENTIALS = "check the address, and give --prometheus-token-file FILE or set KSOLVER_PROMETHEUS_TOKEN"


@dataclass(frozen=True)
class Server:
    """The Prometheus that was named, as typed."""

    url: str | None
    username: str | None
    token_file: Path | None
    tenant: str | None
    ca_file: Path | None
    insecure: bool
    timeout: str
    labels: Sequence[str]

    @property
    def named(self) -> bool:
        """Whether there is an address, typed or in the environment."""
        return self.url is not None or bool(os.environ.get("KSOLVER_PROMETHEUS_URL"))

    def settings(self) -> PrometheusSettings:
        """Return what the client needs; raises CommandError."""
        timeout = float(duration(self.timeout, "--prometheus-timeout"))
        flags = PrometheusFlags(
            self.url, self.username, self.token_file, self.tenant, self.ca_file, self.insecure, timeout
        )
        try:
            settings = settings_from(flags)
            if settings.secret is not None:
                settings.secret.reveal()
        except SettingsError as error:
            raise CommandError(str(error), "see `ksolver vram-observe --help`", Exit.USAGE) from error
        return settings

    def matchers(self) -> tuple[str, ...]:
        """Return the label matchers of every selector; raises CommandError."""
        found: dict[str, str] = {}
        for label in self.labels:
            match = _LABEL.fullmatch(label)
            if match is None:
                raise CommandError(f"--prometheus-label {label}: not KEY=VALUE", "give e.g. cluster=prod", Exit.USAGE)
            found[match[1]] = match[2]
        return promql.equal(found)


@dataclass(frozen=True)
class Specs:
    """Where pod specs come from, as typed."""

    snapshot: str | None
    kubeconfig: Path | None
    context: str | None
    namespaces: Sequence[str] = ()

    def source(self) -> PodSpecSource:
        """Return the source; raises CommandError and SnapshotError."""
        if self.snapshot is not None:
            return read_source(self.snapshot)
        kubeconfig = str(self.kubeconfig) if self.kubeconfig is not None else None
        try:
            return live_source(Connection(kubeconfig, self.context, tuple(self.namespaces)))
        except CollectError as error:
            raise CommandError(error.what, error.hint, Exit.CLUSTER) from error


@dataclass(frozen=True)
class Asked:
    """Everything that was typed."""

    store: Path
    server: Server
    specs: Specs
    window: str
    end: str | None
    prune: str | None
    allow_partial: bool


@dataclass
class Summary:
    """What a run did, for people and for machines."""

    store: str
    observed: bool = False
    series: int = 0
    devices: int = 0
    matched: int = 0
    shared: int = 0
    added: int = 0
    raised: int = 0
    unchanged: int = 0
    unmatched: list[dict[str, str]] = field(default_factory=list)
    unattributed: list[str] = field(default_factory=list)
    reason: str | None = None
    pruned: dict[str, int] | None = None

    def take(self, findings: Findings, appended: stores.Appended) -> None:
        """Take in what a run found and wrote."""
        self.observed = True
        self.series, self.devices = findings.reading.series, len(findings.reading.devices)
        self.matched, self.shared = len(findings.rows), shared_count(findings.rows)
        self.added, self.raised, self.unchanged = appended.new, appended.raised, appended.unchanged
        self.unmatched = [{"pod": entry.pod, "reason": entry.reason} for entry in findings.unmatched]
        self.unattributed = [device.name for device in findings.unattributed]
        self.reason = findings.why_nothing()

    def lines(self) -> Iterator[str]:
        """Yield what a person reads."""
        if self.observed:
            yield f"{self.series} series of {some(self.devices, 'device')}"
            yield f"{some(self.matched, 'pod')} matched, {self.shared} of them on shared devices"
            yield f"{self.store}: {self.added} added, {self.raised} raised, {self.unchanged} unchanged"
        if self.reason is not None:
            yield f"nothing to write: {self.reason}"
        if self.pruned is not None:
            yield "pruned: " + ", ".join(f"{count} {what}" for what, count in self.pruned.items())


def run(asked: Asked, *, as_json: bool) -> None:
    """Observe, prune, and print what was done; raises CommandError."""
    summary = Summary(str(asked.store))
    older_than = _age(asked.prune)
    if asked.server.named or older_than is None:
        _observe(asked, summary)
    if older_than is not None:
        if not asked.store.exists():
            log.warning("%s: no such store; nothing to prune", asked.store)
        with _errors_told():
            summary.pruned = asdict(stores.prune(asked.store, older_than))
    _print(summary, as_json=as_json)


def _observe(asked: Asked, summary: Summary) -> None:
    _expect_store(asked.store)
    settings, matchers = asked.server.settings(), asked.server.matchers()
    window = Window(_moment(asked.end), duration(asked.window, "--window"))
    with _errors_told():
        settings = replace(settings, partial_answers=asked.allow_partial)
        with telling() as say, PrometheusClient(settings) as prometheus:
            say("reading pods and nodes")
            source = asked.specs.source()
            findings = observe(Told(prometheus, say), source, window, Cards.bundled(), matchers)
        _warn(findings)
        if findings.reading.partial and not asked.allow_partial:
            raise CommandError(
                "Prometheus answered in part only, so that a peak may be missing; nothing was written",
                "run again when every store answers, or give --allow-partial",
                Exit.CLUSTER,
            )
        # Not even an empty store appears when there is nothing to say.
        appended = stores.append(asked.store, findings.rows) if findings.rows else stores.Appended()
    tell(asked.store, appended.problems)
    summary.take(findings, appended)


def _expect_store(store: Path) -> None:
    """Raise CommandError for a store that cannot be appended to, before a server is asked for hours of series."""
    if store.suffix == ".gz":
        raise CommandError(f"--store {store}: archives are read only", "give a JSONL file", Exit.USAGE)
    expect_writable(store, "--store")


@contextmanager
def _errors_told() -> Iterator[None]:
    try:
        yield
    except PrometheusError as error:
        raise CommandError(str(error), _CREDENTIALS, Exit.CLUSTER) from error
    except stores.StoreError as error:
        raise CommandError(str(error), "give --store a JSONL file that can be read and written", Exit.USAGE) from error


def _warn(findings: Findings) -> None:
    for warning in findings.reading.warnings:
        log.warning("Prometheus warns: %s", one_line(warning))
    if len(findings.reading.clusters) > 1:
        names = one_line(", ".join(findings.reading.clusters[:_SHOWN]))
        log.warning(
            "series of several clusters (%s): pods of the same name mix; give --prometheus-label cluster=…", names
        )
    for entry in findings.unmatched[:_SHOWN]:
        log.warning("left out: %s %s", one_line(entry.pod), one_line(entry.reason))
    if len(findings.unmatched) > _SHOWN:
        log.warning("left out: %d more pods (all of them with --json)", len(findings.unmatched) - _SHOWN)
    if findings.unattributed:
        names = ", ".join(one_line(device.name) for device in findings.unattributed[:_SHOWN])
        log.warning("memory in use that no label ties to a pod: %s", names)
    if findings.why_nothing() is not None:
        log.warning("nothing to write: %s", one_line(findings.why_nothing() or ""))


def duration(text: str, option: str) -> int:
    """Return seconds of a duration such as `24h`, `90d`, `1h30m`; raises CommandError."""
    if _DURATION.fullmatch(text) is None:
        raise CommandError(f"{option} {text}: not a duration", "give e.g. 24h, 90m or 7d", Exit.USAGE)
    seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([smhdw])", text))
    if not 0 < seconds <= 10 * 366 * _UNITS["d"]:
        raise CommandError(f"{option} {text}: not above 0 and at most ten years", "give e.g. 24h", Exit.USAGE)
    return seconds


def _age(prune: str | None) -> datetime | None:
    if prune is None:
        return None
    return datetime.fromtimestamp(time.time() - duration(prune, "--prune"), UTC)


def _moment(end: str | None) -> float:
    if end is None:
        return float(int(time.time()))
    try:
        return float(end) if end.replace(".", "", 1).isdecimal() else _parsed(end)
    except ValueError as error:
        raise CommandError(f"--end {end}: not a moment", "give e.g. 2026-01-31T12:00:00Z", Exit.USAGE) from error


def _parsed(end: str) -> float:
    moment = datetime.fromisoformat(end)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _print(summary: Summary, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"schema": "ksolver.vram-observe/1", **asdict(summary)}, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{one_line(line)}\n" for line in summary.lines()))
