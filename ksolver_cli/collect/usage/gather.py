"""The usage part of a snapshot: from Prometheus if one is named or found, else from the metrics API, else none."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ksolver_cli.collect.api.client import ApiClient
from ksolver_cli.collect.live import Reading
from ksolver_cli.collect.prometheus import PrometheusClient
from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.collect.prometheus_settings import PrometheusSettings
from ksolver_cli.collect.usage.find import ProxyTransport, find_prometheus
from ksolver_cli.collect.usage.history import Historian, Progress
from ksolver_cli.collect.usage.owners import Owners
from ksolver_cli.collect.usage.point import point_in_time
from ksolver_cli.collect.usage.queries import Window
from ksolver_cli.domain.cluster import Gap
from ksolver_cli.snapshot.kinds import by_plural

_OWNED = ("replicasets", "jobs")


@dataclass(frozen=True)
class UsageRequest:
    """Where usage history comes from. Without settings: from a Prometheus that is looked for, where `discover` says so,
    else from the metrics API.
    """

    settings: PrometheusSettings | None = None
    discover: bool = False
    seconds: int = 14 * 86_400
    step: int = 300
    fixed: Sequence[str] = ()
    clock: Callable[[], float] = time.time


def add_usage(reading: Reading, client: ApiClient, request: UsageRequest, progress: Progress) -> None:
    """Put usage into the extras of what was read; what fails becomes a gap. Raises CollectError when a Prometheus was
    to be found and there is none.
    """
    owners = _owners(reading)
    prometheus = prometheus_of(client, request)
    if prometheus is not None:
        with prometheus:
            if _from_prometheus(reading, prometheus, owners, request, progress):
                return
    if reading.spool.count("podmetrics"):
        at = int(request.clock())
        reading.extras["usage"] = point_in_time(reading.spool.objects("podmetrics"), owners, at)


def prometheus_of(client: ApiClient, request: UsageRequest) -> PrometheusClient | None:
    """Return a client of the Prometheus that was named or is to be found; None for neither. Raises CollectError."""
    if request.settings is not None:
        return PrometheusClient(request.settings)
    if not request.discover:
        return None
    place = find_prometheus(client)
    settings = PrometheusSettings(place.url(client.access))
    return PrometheusClient(settings, transport=None if client.access.in_cluster else ProxyTransport(client.access))


def _from_prometheus(
    reading: Reading, client: PrometheusClient, owners: Owners, request: UsageRequest, progress: Progress
) -> bool:
    end = int(request.clock()) // request.step * request.step
    window = Window(end - request.seconds // request.step * request.step, end, request.step)
    historian = Historian(client, window, owners, _weights(reading), request.fixed, progress)
    try:
        history = historian.history()
    except PrometheusError as error:
        reading.gaps.append(Gap("usage", f"Prometheus gave none: {error}"))
        return False
    reading.extras["usage"] = history.record()
    reading.gaps += [Gap("usage", reason, series) for series, reason in sorted(history.missing.items())]
    return True


def _owners(reading: Reading) -> Owners:
    owners = Owners()
    owners.take_objects("Pod", reading.spool.objects("pods"))
    for plural in _OWNED:
        kind = by_plural(plural)
        if kind is not None:
            owners.take_objects(kind.kind, reading.spool.objects(plural))
    return owners


def _weights(reading: Reading) -> Mapping[str, int]:
    """Containers of each namespace; namespaces without pods count too, for pods that are gone."""
    weights: dict[str, int] = {}
    for namespace in reading.spool.objects("namespaces"):
        weights[_text(namespace, "name")] = 1
    for namespace_name, containers in _containers(reading):
        weights[namespace_name] = weights.get(namespace_name, 0) + containers
    return weights


def _containers(reading: Reading) -> Iterator[tuple[str, int]]:
    for pod in reading.spool.objects("pods"):
        spec = pod.get("spec")
        containers = spec.get("containers") if isinstance(spec, dict) else None
        yield _text(pod, "namespace"), len(containers) if isinstance(containers, list) else 0


def _text(raw: Mapping[str, object], key: str) -> str:
    metadata = raw.get("metadata")
    return str(metadata.get(key) or "") if isinstance(metadata, Mapping) else ""
