"""Pods that are gone, as kube-state-metrics remembers them: uid, owner, images, and whether they were OOM-killed."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from ksolver_cli.collect.prometheus_answer import PrometheusError
from ksolver_cli.vram.dcgm import promql
from ksolver_cli.vram.dcgm.labels import Labels
from ksolver_cli.vram.dcgm.reading import Asks, Window

log = logging.getLogger(__name__)

PodName = tuple[str, str]

_PODS_A_QUERY = 50
_INFO = "kube_pod_info"
_OWNER = "kube_pod_owner"
_CONTAINER = "kube_pod_container_info"
_TERMINATED = ("kube_pod_container_status_terminated_reason", "kube_pod_container_status_last_terminated_reason")


@dataclass(frozen=True)
class Remembered:
    """What is known of a pod without its spec."""

    uid: str | None = None
    node: str | None = None
    owner: tuple[str, str] | None = None
    images: frozenset[str] = field(default_factory=frozenset)
    oom: bool | None = None
    several: bool = False


def remembered(
    ask: Asks, window: Window, pods: Sequence[PodName], matchers: Sequence[str] = ()
) -> dict[PodName, Remembered]:
    """Return what kube-state-metrics knew of pods during the window; pods it never knew are absent.

    Understands both label modes of scraping. A name that stood for pods of different uids is marked `several`, since
    its series cannot be told apart.
    """
    found: dict[PodName, Remembered] = {}
    for first in range(0, len(pods), _PODS_A_QUERY):
        for metric, labels in _series(ask, window, pods[first : first + _PODS_A_QUERY], matchers):
            place = _place(labels)
            if place in pods:
                found[place] = _with(found.get(place, Remembered()), metric, labels)
    return found


def _series(
    ask: Asks, window: Window, pods: Sequence[PodName], matchers: Sequence[str]
) -> Iterator[tuple[str, Labels]]:
    names = sorted({name for _, name in pods})
    for metric in (_INFO, _OWNER, _CONTAINER, *_TERMINATED):
        for label in ("pod", "exported_pod"):
            narrowed = (*matchers, promql.one_of(label, names))
            query = promql.over("last_over_time", metric, window.seconds, narrowed)
            try:
                answer = ask.query(query, window.end)
            except PrometheusError as error:
                log.warning("went on without %s: %s", metric, error)
                continue
            yield from ((metric, series.labels) for series in answer.series if series.last)


def _place(labels: Labels) -> PodName:
    if labels.get("exported_pod"):
        return labels.get("exported_namespace", ""), labels["exported_pod"]
    return labels.get("namespace", ""), labels.get("pod", "")


def _with(known: Remembered, metric: str, labels: Labels) -> Remembered:
    if metric == _INFO:
        uid = labels.get("uid") or None
        several = known.several or (known.uid is not None and uid != known.uid)
        # A pod that has run is in the terminated series only if it ended; until then nothing is known of an OOM.
        return replace(known, uid=uid, node=labels.get("node") or None, several=several)
    if metric == _OWNER:
        kind, name = labels.get("owner_kind", ""), labels.get("owner_name", "")
        return replace(known, owner=(kind, name)) if kind and name else known
    if metric == _CONTAINER:
        image = labels.get("image_spec") or labels.get("image") or ""
        return replace(known, images=known.images | {image})
    return replace(known, oom=bool(known.oom) or labels.get("reason") == "OOMKilled")
