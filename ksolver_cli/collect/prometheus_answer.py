"""What the Prometheus HTTP API answers, read without trusting it.

Source: https://prometheus.io/docs/prometheus/latest/querying/api/ (format, result types, warnings);
`isPartial` is VictoriaMetrics' word for the same thing.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Sample = tuple[float, float]
"""Unix time in seconds, value. Never NaN: a stale marker or an undefined result is no sample."""

_MESSAGE_LENGTH = 300


class PrometheusError(Exception):
    """Prometheus gave no usable answer; the message says what happened, never a secret."""


@dataclass(frozen=True)
class Series:
    """One time series of an answer."""

    labels: Mapping[str, str]
    samples: tuple[Sample, ...]

    @property
    def last(self) -> float | None:
        """The value of the last sample: the value itself for an instant query."""
        return self.samples[-1][1] if self.samples else None

    @property
    def highest(self) -> float | None:
        """The highest value among the samples."""
        return max((value for _, value in self.samples), default=None)


@dataclass(frozen=True)
class Answer:
    """The series of a result, and what the server said about its completeness."""

    series: tuple[Series, ...] = ()
    warnings: tuple[str, ...] = ()
    partial: bool = False


def read_answer(document: object) -> Answer:
    """Return the answer in a decoded response body; raises PrometheusError for an error payload or a foreign shape.

    Entries that make no sense (no labels, no samples, native histograms) are passed over, for one odd series must
    not cost the others.
    """
    if not isinstance(document, dict):
        raise PrometheusError("the answer is not a Prometheus API object")
    if document.get("status") == "error":
        raise PrometheusError(_error_text(document))
    data = document.get("data")
    if document.get("status") != "success" or not isinstance(data, dict):
        raise PrometheusError("the answer is not a Prometheus API object")
    warnings = tuple(_shortened(str(entry)) for entry in _list(document.get("warnings")))
    partial = document.get("isPartial") is True or data.get("isPartial") is True
    return Answer(tuple(_series(data)), warnings, partial)


def _error_text(document: Mapping[str, object]) -> str:
    kind, message = document.get("errorType"), document.get("error")
    return _shortened(f"{kind or 'error'}: {message or 'no reason given'}")


def _shortened(message: str) -> str:
    flat = " ".join(message.split())
    return flat if len(flat) <= _MESSAGE_LENGTH else flat[: _MESSAGE_LENGTH - 1] + "…"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _series(data: Mapping[str, object]) -> Iterable[Series]:
    result = data.get("result")
    if data.get("resultType") == "scalar":
        sample = _sample(result)
        return [Series({}, (sample,))] if sample is not None else []
    return [_one_series(entry) for entry in _list(result) if isinstance(entry, dict)]


def _one_series(entry: Mapping[str, object]) -> Series:
    raw_labels = entry.get("metric")
    labels = raw_labels if isinstance(raw_labels, dict) else {}
    points = [*_list(entry.get("values")), entry.get("value")]
    samples = (_sample(point) for point in points)
    kept = sorted(sample for sample in samples if sample is not None)
    return Series({str(name): value for name, value in labels.items() if isinstance(value, str)}, tuple(kept))


def _sample(point: object) -> Sample | None:
    if not isinstance(point, list) or len(point) != 2:
        return None
    time, value = _number(point[0]), _number(point[1])
    if time is None or value is None or not math.isfinite(time) or math.isnan(value):
        return None
    return time, value


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def merge_answers(answers: Iterable[Answer]) -> Answer:
    """Return several answers as one; series with the same labels are joined in time, a repeated moment kept once."""
    joined: dict[tuple[tuple[str, str], ...], dict[float, float]] = {}
    warnings: dict[str, None] = {}
    partial = False
    for answer in answers:
        partial = partial or answer.partial
        warnings |= dict.fromkeys(answer.warnings)
        for series in answer.series:
            joined.setdefault(tuple(sorted(series.labels.items())), {}).update(series.samples)
    merged = tuple(Series(dict(labels), tuple(sorted(samples.items()))) for labels, samples in joined.items())
    return Answer(merged, tuple(warnings), partial)
