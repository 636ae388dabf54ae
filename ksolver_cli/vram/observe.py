"""One run of observation: series → devices → pods → rows, or the reasons why there are none."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.domain.gpu_workload.containers import asks_for_gpu
from ksolver_cli.domain.gpu_workload.fingerprint import fingerprint
from ksolver_cli.vram.cards import Cards, node_gpu_memory_mib
from ksolver_cli.vram.dcgm import promql
from ksolver_cli.vram.dcgm.devices import Device, PodUse, pods_of
from ksolver_cli.vram.dcgm.labels import Scrapes
from ksolver_cli.vram.dcgm.reading import Asks, Reading, Window, read_devices
from ksolver_cli.vram.dcgm.values import USED
from ksolver_cli.vram.facts import as_numbers, workload_hints
from ksolver_cli.vram.join.metadata import remembered
from ksolver_cli.vram.join.pods import Joined, Unmatched, join, needing_memory
from ksolver_cli.vram.join.sharing import shares_by_node, shares_by_spec
from ksolver_cli.vram.join.source import PodSpecSource
from ksolver_cli.vram.observation import Observation

_ENGINE = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
_NO_NAME = "has a container without an image"
_NO_COMMAND = "asks for no GPU by a known name, and a snapshot keeps no command line of such pods; give a kubectl list"


@dataclass(frozen=True)
class Findings:
    """The rows of a run and everything that did not become one."""

    rows: tuple[Observation, ...]
    unmatched: tuple[Unmatched, ...]
    reading: Reading

    @property
    def unattributed(self) -> list[Device]:
        """Devices with memory in use that no label ties to a pod."""
        return [d for d in self.reading.devices if not d.uses and d.peak_mib]

    def why_nothing(self) -> str | None:
        """Return why there are no rows, in one line; None when there are some."""
        if self.rows:
            return None
        if self.unmatched:
            first = self.unmatched[0]
            return f"none of {len(self.unmatched)} pods with a GPU could be joined; {first.pod} {first.reason}"
        if not self.reading.series:
            return _NO_SERIES
        if any(device.uses for device in self.reading.devices):
            return "every pod's series is zero or DCGM's blank value: unknown, not a measurement"
        return _NO_PODS


_NO_SERIES = f"Prometheus has no series of {' or '.join(USED)} in the window"
_NO_FRAMEBUFFER = (
    f"has {_ENGINE} but no framebuffer metric (some drivers leave it out for MIG instances): its memory is unknown"
)
_NO_PODS = "no series names a workload: the exporter runs without Kubernetes mapping, or every card was idle"


def observe(ask: Asks, source: PodSpecSource, window: Window, cards: Cards, matchers: Sequence[str] = ()) -> Findings:
    """Return what was measured over a window, one row a matched pod; raises PrometheusError.

    `matchers` narrow every selector (`cluster="prod"` on a central Prometheus).
    """
    reading = read_devices(ask, window, matchers)
    uses = pods_of(reading.devices)
    memory = remembered(ask, window, needing_memory(uses, source), matchers)
    run = _Run(ask, source, window, cards, tuple(matchers))
    rows: list[Observation] = []
    unmatched: list[Unmatched] = []
    for found in join(uses, source, memory):
        row = run.row(found) if isinstance(found, Joined) else found
        if isinstance(row, Observation):
            rows.append(row)
        else:
            unmatched.append(row)
    named = {name for device in reading.devices for name in (use.owner.name for use in device.uses.values())}
    silent = [Unmatched(name, _NO_FRAMEBUFFER) for name in run.engine_owners() if name not in named]
    return Findings(tuple(rows), (*unmatched, *silent), reading)


@dataclass(frozen=True)
class _Run:
    ask: Asks
    source: PodSpecSource
    window: Window
    cards: Cards
    matchers: tuple[str, ...]

    def engine_owners(self) -> list[str]:
        """Pods whose engine activity is reported; where their memory is not, it is unknown."""
        query = promql.over("last_over_time", _ENGINE, self.window.seconds, self.matchers)
        try:
            series = self.ask.query(query, self.window.end).series
        except PrometheusError:
            return []
        scrapes = Scrapes.among(entry.labels for entry in series)
        owners = (scrapes.tag(entry.labels).owner for entry in series)
        return sorted({owner.name for owner in owners if owner is not None})

    def row(self, joined: Joined) -> Observation | Unmatched:
        print_ = fingerprint(joined.spec)
        if print_ is None:
            return Unmatched(joined.use.owner.name, _NO_NAME)
        if self.source.redacted and not asks_for_gpu(joined.spec):
            return Unmatched(joined.use.owner.name, _NO_COMMAND)
        use = self._own_share_of_the_name(joined)
        if use is None:
            return Unmatched(joined.use.owner.name, "has no sample since it was created; an earlier pod had its name")
        device, node = use.device, self.source.node(joined.node) if joined.node else None
        return Observation(
            image=print_.image,
            command_hash=print_.command_hash,
            peak_mib=math.ceil(use.peak_mib),
            observed_at=datetime.fromtimestamp(self.window.end, UTC).isoformat(timespec="seconds"),
            window=promql.spelled(self.window.seconds),
            namespace=use.owner.namespace,
            pod=use.owner.pod,
            workload=joined.workload,
            pod_uid=joined.uid,
            gpu_model=device.tag.gpu_model,
            gpu_count=use.device_count,
            mig_profile=device.tag.mig_profile,
            shared=use.shared or shares_by_spec(joined.spec) or shares_by_node(node),
            capacity_mib=device.capacity_mib or self._capacity(device, node),
            samples=use.samples or None,
            oom=joined.oom,
            hints=as_numbers(workload_hints(joined.spec)),
        )

    def _own_share_of_the_name(self, joined: Joined) -> PodUse | None:
        """A StatefulSet's pod comes back under its name: what was measured before its creation is not its own."""
        created, use = joined.created, joined.use
        # With a uid in the series, the exporter itself has told the pods apart.
        if created is None or joined.unique_name or use.owner.uid or created <= self.window.start:
            return use
        owner = use.owner
        since = Window(self.window.end, max(1, math.ceil(self.window.end - created)))
        labels = {owner.pod_label: owner.pod, owner.namespace_label: owner.namespace}
        narrowed = pods_of(read_devices(self.ask, since, (*self.matchers, *promql.equal(labels))).devices)
        mine = [found for found in narrowed if found.owner.name == owner.name]
        return replace(mine[0], shared=use.shared) if mine and created < self.window.end else None

    def _capacity(self, device: Device, node: object) -> int | None:
        if device.tag.mig_profile is not None:
            return None
        by_model = self.cards.memory_mib(device.tag.gpu_model)
        return by_model or (node_gpu_memory_mib(node, self.cards) if isinstance(node, dict) else None)


def shared_count(rows: Iterable[Observation]) -> int:
    """Return how many rows hold a device's value rather than a pod's."""
    return sum(row.shared for row in rows)
