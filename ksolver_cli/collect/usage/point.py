"""Usage at one moment, from the metrics API: better than nothing, and marked so."""

from collections.abc import Iterable, Iterator, Mapping

from ksolver_cli.collect.usage.history import History, Usage
from ksolver_cli.collect.usage.owners import Owners
from ksolver_cli.collect.usage.queries import Window
from ksolver_cli.domain.quantity import QuantityError, parse_quantity


def point_in_time(metrics: Iterable[Mapping[str, object]], owners: Owners, at: int) -> dict[str, object]:
    """Return what a snapshot holds of usage when only PodMetrics are there: one sample a container."""
    found = History(Window(at, at, 0))
    for namespace, pod, container, cpu, memory in _read(metrics):
        owner = owners.workload(namespace, pod)
        if owner is None:
            found.unattributed.add((namespace, pod))
            continue
        usage = found.containers.setdefault((namespace, *owner, container), Usage(first=at, last=at))
        usage.pods.add(pod)
        usage.cpu.add([cpu])
        usage.memory.add([memory])
    return {**found.record(), "source": "metrics.k8s.io", "point_in_time": True}


def _read(metrics: Iterable[Mapping[str, object]]) -> Iterator[tuple[str, str, str, float, float]]:
    for entry in metrics:
        metadata, containers = entry.get("metadata"), entry.get("containers")
        if not isinstance(metadata, Mapping) or not isinstance(containers, list):
            continue
        for container in containers:
            usage = container.get("usage") if isinstance(container, Mapping) else None
            amounts = _amounts(usage)
            if amounts is not None:
                names = (str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))
                yield (*names, str(container.get("name") or ""), *amounts)


def _amounts(usage: object) -> tuple[float, float] | None:
    if not isinstance(usage, Mapping):
        return None
    try:
        return float(parse_quantity(usage["cpu"]).milli_value()), float(parse_quantity(usage["memory"]).value())
    except (KeyError, QuantityError):
        return None
