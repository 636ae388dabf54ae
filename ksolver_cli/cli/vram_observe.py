"""`ksolver vram-observe`: measured peak GPU memory per workload fingerprint, appended to a store."""

import json
import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ksolver_cli.cli.common.exits import CommandError, Exit, one_line
from ksolver_cli.collect.prometheus import PrometheusClient
from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.collect.prometheus_settings import PrometheusFlags, PrometheusSettings, SettingsError, settings_from
from ksolver_cli.vram import store as stores
from ksolver_cli.vram.cards import Cards
from ksolver_cli.vram.dcgm import promql
from ksolver_cli.vram.dcgm.reading import Window
from ksolver_cli.vram.join.source import ObjectSource, PodSpecSource, read_objects
from ksolver_cli.vram.observe import Findings, observe, shared_count

log = logging.getLogger(__name__)

_SHOWN = 10
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_DURATION = re.compile(r"(?:\d+[smhdw])+")
_LABEL = re.compile(r"([a-zA-Z_]\w*)=(.*)", re.DOTALL)
_CREDENTIALS = "check the address, and give --prometheus-token-file FILE or set KSOLVER_PROMETHEUS_TOKEN"


class Output(StrEnum):
    """Formats of this command."""

    TABLE = "table"
    JSON = "json"


StoreOption = Annotated[Path, typer.Option(envvar="KSOLVER_VRAM_STORE", help="The JSONL file that is appended to.")]
UrlOption = Annotated[
    str | None, typer.Option(help="Prometheus, Thanos, Mimir, VictoriaMetrics; path prefix included.")
]
UsernameOption = Annotated[str | None, typer.Option(help="For basic authentication.")]
TokenOption = Annotated[Path | None, typer.Option(help="File with the bearer token, or the password of the username.")]
TenantOption = Annotated[str | None, typer.Option(help="Sent as X-Scope-OrgID.")]
CaOption = Annotated[Path | None, typer.Option(help="A private authority, in PEM.")]
InsecureOption = Annotated[bool, typer.Option(help="Trust any certificate.")]
TimeoutOption = Annotated[str, typer.Option(help="How long one answer may take.")]
LabelOption = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only series with this label; may be repeated.")
]
WindowOption = Annotated[str, typer.Option(help="How far back to look, such as 24h.")]
EndOption = Annotated[str | None, typer.Option(help="End of the window: RFC 3339 or Unix seconds; else now.")]
SnapshotOption = Annotated[
    str | None, typer.Option(help="Take pod specs from this snapshot or kubectl list, not from the live API.")
]
KubeconfigOption = Annotated[Path | None, typer.Option(help="For the live API; in a pod its service account is used.")]
ContextOption = Annotated[str | None, typer.Option(help="Context of the kubeconfig.")]
PruneOption = Annotated[str | None, typer.Option(help="Then drop rows older than this, such as 90d, and compact.")]
PartialOption = Annotated[bool, typer.Option(help="Also write what a partial answer says.")]
OutputOption = Annotated[Output, typer.Option("-o", "--output", help="How to print.")]
JsonOption = Annotated[bool, typer.Option("--json", help="The same as -o json.")]


def vram_observe(
    store: StoreOption,
    prometheus_url: UrlOption = None,
    prometheus_username: UsernameOption = None,
    prometheus_token_file: TokenOption = None,
    prometheus_tenant: TenantOption = None,
    prometheus_ca_file: CaOption = None,
    prometheus_insecure_skip_tls_verify: InsecureOption = False,
    prometheus_timeout: TimeoutOption = "30s",
    prometheus_label: LabelOption = None,
    window: WindowOption = "24h",
    end: EndOption = None,
    snapshot: SnapshotOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    prune: PruneOption = None,
    allow_partial: PartialOption = False,
    output: OutputOption = Output.TABLE,
    as_json: JsonOption = False,
) -> None:
    """Append the measured peak GPU memory of each pod over a window, joined to what the pod runs.

    A second run over the same window adds nothing. Nothing matched: nothing is written, and it says why.
    """
    flags = PrometheusFlags(
        prometheus_url, prometheus_username, prometheus_token_file, prometheus_tenant, prometheus_ca_file
    )
    run = _Run(store, prune_before=_age(prune), allow_partial=allow_partial, matchers=_matchers(prometheus_label or []))
    summary = Summary(str(store))
    if not (prune and _no_address(flags)):
        asked = _Settings(flags, prometheus_insecure_skip_tls_verify, prometheus_timeout).read()
        looked_at = Window(_moment(end), duration(window, "--window"))
        run.observe(asked, _source(snapshot, kubeconfig, context), looked_at, summary)
    run.prune(summary)
    _print(summary, as_json=as_json or output is Output.JSON)


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
            yield f"{self.series} series of {self.devices} devices"
            yield f"{self.matched} pods matched, {self.shared} of them on shared devices"
            yield f"{self.store}: {self.added} added, {self.raised} raised, {self.unchanged} unchanged"
        if self.reason is not None:
            yield f"nothing to write: {self.reason}"
        if self.pruned is not None:
            yield "pruned: " + ", ".join(f"{count} {what}" for what, count in self.pruned.items())


@dataclass(frozen=True)
class _Run:
    store: Path
    prune_before: datetime | None
    allow_partial: bool
    matchers: tuple[str, ...]

    def observe(self, settings: PrometheusSettings, source: PodSpecSource, window: Window, summary: Summary) -> None:
        with _errors_told():
            with PrometheusClient(settings) as prometheus:
                findings = observe(prometheus, source, window, Cards.bundled(), self.matchers)
            _warn(findings)
            if findings.reading.partial and not self.allow_partial:
                raise CommandError(
                    "Prometheus answered in part only, so that a peak may be missing; nothing was written",
                    "run again when every store answers, or give --allow-partial",
                    Exit.CLUSTER,
                )
            appended = stores.append(self.store, findings.rows) if findings.rows else stores.Appended()
        for problem in appended.problems:
            log.warning("%s, line %d: %s; passed over", self.store, problem.line, problem.reason)
        summary.take(findings, appended)

    def prune(self, summary: Summary) -> None:
        if self.prune_before is None:
            return
        with _errors_told():
            summary.pruned = asdict(stores.prune(self.store, self.prune_before))


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
    for entry in findings.unmatched[:_SHOWN]:
        log.warning("left out: %s %s", one_line(entry.pod), one_line(entry.reason))
    if len(findings.unmatched) > _SHOWN:
        log.warning("left out: %d more pods (all of them with --json)", len(findings.unmatched) - _SHOWN)
    if findings.unattributed:
        names = ", ".join(one_line(device.name) for device in findings.unattributed[:_SHOWN])
        log.warning("memory in use that no label ties to a pod: %s", names)
    if findings.why_nothing() is not None:
        log.warning("nothing to write: %s", one_line(findings.why_nothing() or ""))


@dataclass(frozen=True)
class _Settings:
    flags: PrometheusFlags
    insecure: bool
    timeout: str

    def read(self) -> PrometheusSettings:
        try:
            settings = settings_from(self.flags)
            if settings.secret is not None:
                settings.secret.reveal()
        except SettingsError as error:
            raise CommandError(str(error), "see `ksolver vram-observe --help`", Exit.USAGE) from error
        insecure = self.insecure or settings.insecure_skip_tls_verify
        seconds = float(duration(self.timeout, "--prometheus-timeout"))
        return replace(settings, insecure_skip_tls_verify=insecure, timeout_seconds=seconds)


def _no_address(flags: PrometheusFlags) -> bool:
    return flags.url is None and not os.environ.get("KSOLVER_PROMETHEUS_URL")


def _source(snapshot: str | None, kubeconfig: Path | None, context: str | None) -> PodSpecSource:
    if snapshot is not None:
        return ObjectSource(read_objects(snapshot))
    raise CommandError(
        "no pod specs to join the series to", "give --snapshot FILE with `kubectl get pods,… -A -o json`", Exit.USAGE
    )


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


def _matchers(labels: list[str]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for label in labels:
        match = _LABEL.fullmatch(label)
        if match is None:
            raise CommandError(f"--prometheus-label {label}: not KEY=VALUE", "give e.g. cluster=prod", Exit.USAGE)
        found[match[1]] = match[2]
    return promql.equal(found)


def _print(summary: Summary, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps({"schema": "ksolver.vram-observe/1", **asdict(summary)}, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{one_line(line)}\n" for line in summary.lines()))
