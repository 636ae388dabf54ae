"""Asking a Prometheus for the memory of every device over a window."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ksolver_cli.collect.prometheus_answer import Answer, PrometheusError, Series
from ksolver_cli.vram.dcgm import promql
from ksolver_cli.vram.dcgm.devices import Device, Devices
from ksolver_cli.vram.dcgm.labels import Labels, Scrapes
from ksolver_cli.vram.dcgm.values import FREE, RESERVED, TOTAL, USED, mib

log = logging.getLogger(__name__)

_DEVICES_A_QUERY = 20


class Asks(Protocol):
    """Whoever can evaluate an expression at a moment."""

    def query(self, promql: str, at: float | None = None) -> Answer:
        """Return the answer; raises PrometheusError."""
        ...


@dataclass(frozen=True)
class Window:
    """The stretch of time that is looked at: Unix seconds of its end, and its length."""

    end: float
    seconds: int

    @property
    def start(self) -> float:
        """Unix seconds of its beginning."""
        return self.end - self.seconds


@dataclass(frozen=True)
class Reading:
    """What Prometheus knows of the devices, how whole that knowledge is, and which clusters the series name."""

    devices: tuple[Device, ...]
    series: int
    warnings: tuple[str, ...] = ()
    partial: bool = False
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Asker:
    ask: Asks
    window: Window
    matchers: tuple[str, ...]

    def must(self, function: str, metric: str) -> Answer:
        return self.ask.query(promql.over(function, metric, self.window.seconds, self.matchers), self.window.end)

    def may(self, function: str, metric: str) -> Answer:
        return self._try(promql.over(function, metric, self.window.seconds, self.matchers))

    def samples(self, metric: str, matcher: str) -> Answer:
        return self._try(promql.samples(metric, self.window.seconds, (*self.matchers, matcher)))

    def _try(self, query: str) -> Answer:
        try:
            return self.ask.query(query, self.window.end)
        except PrometheusError as error:
            log.warning("went on without the answer to `%.80s`: %s", query, error)
            return Answer()


def read_devices(ask: Asks, window: Window, matchers: Sequence[str] = ()) -> Reading:
    """Return every device with its peak over the window, its owners, its capacity and whether it is shared.

    `max_over_time` per series; samples are fetched only for devices with several owners in the window or a blank value
    among their samples. Raises PrometheusError when the peaks cannot be had; without the rest the reading is poorer
    but true (no capacity; several owners count as sharing).
    """
    asker = _Asker(ask, window, tuple(matchers))
    # Today's name must be answered; a server may refuse names it never heard of.
    answers = {USED[0]: asker.must("max_over_time", USED[0])}
    answers |= {name: asker.may("max_over_time", name) for name in USED[1:]}
    names = [name for name, answer in answers.items() if answer.series]
    devices = Devices(Scrapes.among(series.labels for answer in answers.values() for series in answer.series))
    for name in names:
        devices.add_peaks(answers[name].series)
        devices.add_counts(asker.may("count_over_time", name).series)
    _look_closer(asker, names, devices)
    for labels, capacity in _capacities(asker, names):
        devices.add_capacity(labels, capacity)
    devices.judge_sharing()
    warnings = dict.fromkeys(warning for answer in answers.values() for warning in answer.warnings)
    partial = any(answer.partial for answer in answers.values())
    count = sum(len(answer.series) for answer in answers.values())
    named = {series.labels.get("cluster", "") for answer in answers.values() for series in answer.series}
    return Reading(tuple(devices.all()), count, tuple(warnings), partial, tuple(sorted(named - {""})))


def _look_closer(asker: _Asker, names: Sequence[str], devices: Devices) -> None:
    contested = [device for device in devices.contested() if device.tag.uuid is not None]
    # Few devices at a time: a day of samples each would fill a server's or our memory.
    for first in range(0, len(contested), _DEVICES_A_QUERY):
        uuids = [device.tag.uuid or "" for device in contested[first : first + _DEVICES_A_QUERY]]
        for name in names:
            for label in ("UUID", "uuid"):
                devices.add_peaks(asker.samples(name, promql.one_of(label, uuids)).series)


def _capacities(asker: _Asker, names: Sequence[str]) -> Iterator[tuple[Labels, float]]:
    for name in names:
        spelling = USED.index(name)
        families = (family[spelling] for family in (USED, FREE, RESERVED, TOTAL))
        used, free, reserved, total = (_by_labels(asker.may("last_over_time", family)) for family in families)
        for labels, one in used.items():
            whole = total.get(labels)
            # Where the driver reports what it reserves, `used` leaves that out.
            if whole is None and labels in free:
                whole = one + free[labels] + reserved.get(labels, 0.0)
            if whole:
                yield dict(labels), whole


def _by_labels(answer: Answer) -> dict[tuple[tuple[str, str], ...], float]:
    found: dict[tuple[tuple[str, str], ...], float] = {}
    for series in answer.series:
        value = mib(series.last)
        if value is not None:
            found[_without_name(series)] = value
    return found


def _without_name(series: Series) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, value) for name, value in series.labels.items() if name != "__name__"))
