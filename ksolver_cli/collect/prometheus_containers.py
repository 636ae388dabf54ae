"""Per-container values out of cAdvisor series: without pause containers, pod sums and cgroup totals."""

import math

from ksolver_cli.collect.prometheus_answer import Answer

ContainerKey = tuple[str, str, str]

_PAUSE = "POD"


def container_values(answer: Answer) -> dict[ContainerKey, float]:
    """Return the last value by (namespace, pod, container); of duplicate series the highest.

    cAdvisor also exports the pause container (`container="POD"`), the pod's own cgroup (no container) and the cgroups
    above it (no pod); adding those up would count memory two and three times.
    """
    found: dict[ContainerKey, float] = {}
    for series in answer.series:
        names = [series.labels.get(label, "") for label in ("namespace", "pod", "container")]
        value = series.last
        if value is None or not math.isfinite(value) or not all(names) or names[2] == _PAUSE:
            continue
        key = (names[0], names[1], names[2])
        found[key] = max(found.get(key, value), value)
    return found
