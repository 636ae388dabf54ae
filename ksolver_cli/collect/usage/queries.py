"""The questions asked of Prometheus, in batches that keep within its limits.

cAdvisor: `container_cpu_usage_seconds_total`, `container_memory_working_set_bytes`; kube-state-metrics: owners of pods,
ReplicaSets and Jobs, restarts and out-of-memory kills. Both Prometheus replicas of a pair, and two jobs that scrape the
same thing, give the same series twice: `max by` takes one of them. Limits: 11,000 points a series
(https://prometheus.io/docs/prometheus/latest/querying/api/), 50,000,000 samples a query
(`--query.max-samples`), and a query text that still fits into a URL.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

CPU = "container_cpu_usage_seconds_total"
MEMORY = "container_memory_working_set_bytes"
POD_OWNER = "kube_pod_owner"
REPLICASET_OWNER = "kube_replicaset_owner"
JOB_OWNER = "kube_job_owner"
RESTARTS = "kube_pod_container_status_restarts_total"
LAST_TERMINATED = "kube_pod_container_status_last_terminated_reason"
SERIES = (CPU, MEMORY, POD_OWNER, REPLICASET_OWNER, JOB_OWNER, RESTARTS, LAST_TERMINATED)
"""Every series that is asked for."""

LONGEST_QUERY = 1_200
MOST_SAMPLES = 2_000_000
"""Samples that one answer may hold: some 60 MB of JSON."""

_SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")


@dataclass(frozen=True, slots=True)
class Window:
    """The time looked at, in whole seconds."""

    start: int
    end: int
    step: int

    @property
    def seconds(self) -> int:
        """Its length."""
        return self.end - self.start


def matchers(
    fixed: Sequence[str], namespaces: Sequence[str] = (), *, containers: bool = False, prefix: str = ""
) -> str:
    """Return the braces of a selector: fixed matchers (a cluster's label), some namespaces, real containers only."""
    parts = list(fixed)
    if namespaces:
        listed = "|".join(_SPECIAL.sub(r"\\\\\1", name) for name in namespaces)
        parts.append(f'{prefix}namespace=~"{listed}"')
    if containers:
        parts += ['container!=""', 'container!="POD"', 'pod!=""']
    return "{" + ",".join(parts) + "}"


def cpu(selector: str, step: int) -> str:
    """Cores used by each container, averaged over each step.

    Three minutes at least, for a rate needs two samples and some are scraped only once a minute; for steps below a
    minute, which are asked for only where scrapes are frequent, three of them.
    """
    return f"max by (namespace,pod,container) (rate({CPU}{selector}[{max(step, min(180, 3 * step))}s]))"


def memory(selector: str, step: int) -> str:
    """Working set in bytes of each container: the highest of each step."""
    return f"max by (namespace,pod,container) (max_over_time({MEMORY}{selector}[{step}s]))"


def pod_owners(selector: str, seconds: int, prefix: str = "") -> str:
    """Every pod of the window with its controller, those that are gone too."""
    labels = f"{prefix}namespace,{prefix}pod,owner_kind,owner_name"
    return f"max by ({labels}) (max_over_time({POD_OWNER}{selector}[{seconds}s]))"


def controller_owners(series: str, own_label: str, selector: str, seconds: int, prefix: str = "") -> str:
    """Every ReplicaSet or Job of the window with its own controller."""
    labels = f"{prefix}namespace,{own_label},owner_kind,owner_name"
    return f"max by ({labels}) (max_over_time({series}{selector}[{seconds}s]))"


def restarts(selector: str, seconds: int, prefix: str = "") -> str:
    """Restarts of each container within the window."""
    return f"max by ({_container(prefix)}) (increase({RESTARTS}{selector}[{seconds}s]))"


def oom_kills(selector: str, seconds: int, prefix: str = "") -> str:
    """Containers whose last end within the window was an out-of-memory kill."""
    chosen = selector[:-1] + ("," if len(selector) > 2 else "") + 'reason="OOMKilled"}'
    return f"max by ({_container(prefix)}) (max_over_time({LAST_TERMINATED}{chosen}[{seconds}s]))"


def _container(prefix: str) -> str:
    return ",".join(f"{prefix}{label}" for label in ("namespace", "pod", "container"))


def renamed(fixed: Sequence[str], seconds: int) -> str:
    """Whether Prometheus has renamed the labels of kube-state-metrics (`exported_pod`), as it does without
    `honor_labels`: `pod` then names the exporter.
    """
    selector = matchers([*fixed, 'exported_pod!=""'])
    return f"count(last_over_time({POD_OWNER}{selector}[{seconds}s]))"


def presence(series: str, selector: str, seconds: int) -> str:
    """How many series of a name there are within the window."""
    return f"count(last_over_time({series}{selector}[{seconds}s]))"


def batches(weights: Mapping[str, int], points: int) -> Iterator[tuple[str, ...]]:
    """Namespaces in groups: the query stays short, and `points` samples of each weight stay few enough."""
    group: list[str] = []
    length = weight = 0
    for name in sorted(weights):
        full = group and (length + len(name) > LONGEST_QUERY // 2 or (weight + weights[name]) * points > MOST_SAMPLES)
        if full:
            yield tuple(group)
            group, length, weight = [], 0, 0
        group.append(name)
        length += len(name) + 2
        weight += weights[name]
    if group:
        yield tuple(group)


def pieces(window: Window, weight: int) -> Iterable[tuple[int, int]]:
    """Start and end of pieces of a window, both steps of it, that each hold few enough samples of `weight` series."""
    points = max(1, min(10_000, MOST_SAMPLES // max(1, weight)))
    start = window.start
    while start <= window.end:
        last = min(window.end, start + (points - 1) * window.step)
        yield start, last
        start = last + window.step
