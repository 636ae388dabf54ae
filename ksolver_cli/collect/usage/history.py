"""From Prometheus to usage per workload: batches of namespaces, pieces of time, everything added up at once."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ksolver_cli.collect.prometheus import PrometheusClient
from ksolver_cli.collect.prometheus_answer import Answer, PrometheusError, Series
from ksolver_cli.collect.usage import queries
from ksolver_cli.collect.usage.histogram import CPU_FIRST_MILLICORES, MEMORY_FIRST_BYTES, RATIO, Histogram
from ksolver_cli.collect.usage.owners import Owners
from ksolver_cli.collect.usage.queries import Window

Key = tuple[str, str, str, str]
"""Namespace, kind and name of the workload, container."""

Progress = Callable[[str, int, int | None], None]
EXPORTED = "exported_"


@dataclass
class Usage:
    """What is known of one container of a workload, all its pods together."""

    cpu: Histogram = field(default_factory=lambda: Histogram(CPU_FIRST_MILLICORES))
    memory: Histogram = field(default_factory=lambda: Histogram(MEMORY_FIRST_BYTES))
    pods: set[str] = field(default_factory=set)
    restarts: int = 0
    oom_kills: int = 0
    first: float = math.inf
    last: float = -math.inf

    def seen(self, pod: str, series: Series) -> None:
        """Note a pod and the time its samples cover."""
        self.pods.add(pod)
        if series.samples:
            self.first = min(self.first, series.samples[0][0])
            self.last = max(self.last, series.samples[-1][0])


@dataclass
class History:
    """Usage of all workloads, and what could not be had."""

    window: Window
    containers: dict[Key, Usage] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    unattributed: set[tuple[str, str]] = field(default_factory=set)

    def record(self) -> dict[str, object]:
        """Return what a snapshot holds of it; the layout is `shape/usage.py`'s."""
        return {
            "source": "prometheus",
            "point_in_time": False,
            "start": moment(self.window.start),
            "end": moment(self.window.end),
            "step_seconds": self.window.step,
            **scales(),
            "unattributed_series": len(self.unattributed),
            "missing": [{"series": name, "reason": reason} for name, reason in sorted(self.missing.items())],
            "containers": [_record(key, usage) for key, usage in sorted(self.containers.items())],
        }


def scales() -> dict[str, object]:
    """Return how buckets are numbered."""
    return {
        "cpu_first_millicores": CPU_FIRST_MILLICORES,
        "memory_first_bytes": MEMORY_FIRST_BYTES,
        "bucket_ratio": RATIO,
    }


def moment(seconds: float) -> str:
    """Return Unix seconds as RFC 3339."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _record(key: Key, usage: Usage) -> dict[str, object]:
    namespace, kind, name, container = key
    spans = math.isfinite(usage.first)
    return {
        "namespace": namespace,
        "kind": kind,
        "name": name,
        "container": container,
        "pods": len(usage.pods),
        "first": moment(usage.first) if spans else None,
        "last": moment(usage.last) if spans else None,
        "restarts": usage.restarts,
        "oom_kills": usage.oom_kills,
        "cpu": usage.cpu.record("max_millicores"),
        "memory": usage.memory.record("max_bytes"),
    }


def _own_names(series: Series) -> Series:
    """The series with the labels that its exporter gave it."""
    renamed = {key.removeprefix(EXPORTED): value for key, value in series.labels.items() if key.startswith(EXPORTED)}
    return Series({**series.labels, **renamed}, series.samples)


@dataclass
class Historian:
    """Asks one Prometheus; `weights` are the containers that each namespace has now."""

    client: PrometheusClient
    window: Window
    owners: Owners
    weights: Mapping[str, int]
    fixed: Sequence[str] = ()
    progress: Progress = lambda kind, done, total: None
    _prefix: str = field(default="", init=False)

    def history(self) -> History:
        """Return all usage in the window. Raises PrometheusError when the server cannot be asked at all; a series it
        does not have is named.
        """
        found = History(self.window)
        self._look_for_series(found)
        self._read_controllers(found)
        groups = list(queries.batches(self.weights, min(10_000, self.window.seconds // self.window.step + 1)))
        for number, group in enumerate(groups):
            self._read_group(group, found)
            self.progress("usage history", number + 1, len(groups))
        return found

    def _look_for_series(self, found: History) -> None:
        selector = queries.matchers(self.fixed)
        for series in queries.SERIES:
            answer = self.client.query(queries.presence(series, selector, self.window.seconds), self.window.end)
            if not answer.series:
                found.missing[series] = "no such series in the window"
        if self.client.query(queries.renamed(self.fixed, self.window.seconds), self.window.end).series:
            self._prefix = EXPORTED

    def _read_controllers(self, found: History) -> None:
        selector, seconds = queries.matchers(self.fixed), self.window.seconds
        for kind, label, name in (
            ("ReplicaSet", "replicaset", queries.REPLICASET_OWNER),
            ("Job", "job_name", queries.JOB_OWNER),
        ):
            if name not in found.missing:
                query = queries.controller_owners(name, label, selector, seconds, self._prefix)
                answer = self._ask(name, query, found)
                self.owners.take_controller_owners(kind, label, answer)

    def _ask(self, series: str, query: str, found: History) -> Answer:
        """An instant answer at the window's end; one that fails costs only its series, and is said."""
        try:
            answer = self.client.query(query, self.window.end)
        except PrometheusError as error:
            found.missing[series] = f"not answered: {error}"
            return Answer()
        if answer.partial:
            found.missing[series] = "answered in part only"
        return Answer(tuple(_own_names(entry) for entry in answer.series)) if self._prefix else answer

    def _read_group(self, namespaces: tuple[str, ...], found: History) -> None:
        plain = queries.matchers(self.fixed, namespaces, prefix=self._prefix)
        seconds = self.window.seconds
        if queries.POD_OWNER not in found.missing:
            answer = self._ask(queries.POD_OWNER, queries.pod_owners(plain, seconds, self._prefix), found)
            self.owners.take_pod_owners(answer)
        containers = queries.matchers(self.fixed, namespaces, containers=True)
        step = self.window.step
        for usage, pod, series in self._series(queries.CPU, queries.cpu(containers, step), namespaces, found):
            usage.seen(pod, series)
            usage.cpu.add(value * 1000 for _, value in series.samples)
        for usage, pod, series in self._series(queries.MEMORY, queries.memory(containers, step), namespaces, found):
            usage.seen(pod, series)
            usage.memory.add(value for _, value in series.samples)
        self._read_ends(plain, found)

    def _read_ends(self, selector: str, found: History) -> None:
        seconds = self.window.seconds
        if queries.RESTARTS not in found.missing:
            answer = self._ask(queries.RESTARTS, queries.restarts(selector, seconds, self._prefix), found)
            for usage, count in self._counts(answer, found):
                usage.restarts += round(count)
        if queries.LAST_TERMINATED not in found.missing:
            answer = self._ask(queries.LAST_TERMINATED, queries.oom_kills(selector, seconds, self._prefix), found)
            for usage, count in self._counts(answer, found):
                usage.oom_kills += int(count > 0)

    def _counts(self, answer: Answer, found: History) -> Iterator[tuple[Usage, float]]:
        for series in answer.series:
            usage, value = self._usage(series, found), series.last
            if usage is not None and value is not None and math.isfinite(value):
                yield usage, value

    def _series(
        self, name: str, query: str, namespaces: tuple[str, ...], found: History
    ) -> Iterator[tuple[Usage, str, Series]]:
        if name in found.missing:
            return
        weight = sum(self.weights.get(namespace, 1) for namespace in namespaces)
        for start, end in queries.pieces(self.window, weight):
            try:
                answer = self.client.query_range(query, start, end, self.window.step)
            except PrometheusError as error:
                found.missing[name] = f"not answered: from {moment(start)}: {error}"
                return
            if answer.partial:
                found.missing[name] = f"answered in part only: from {moment(start)}"
            for series in answer.series:
                usage = self._usage(series, found)
                if usage is not None:
                    yield usage, series.labels.get("pod", ""), series

    def _usage(self, series: Series, found: History) -> Usage | None:
        namespace, pod = series.labels.get("namespace", ""), series.labels.get("pod", "")
        container = series.labels.get("container", "")
        owner = self.owners.workload(namespace, pod)
        if not pod or not container:
            return None
        if owner is None:
            found.unattributed.add((namespace, pod))
            return None
        return found.containers.setdefault((namespace, *owner, container), Usage())
