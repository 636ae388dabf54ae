"""A Prometheus in miniature: evaluates the few shapes of PromQL that the package sends, over samples in memory."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ksolver_cli.collect.prometheus_answer import Answer, PrometheusError, read_answer

_QUERY = re.compile(r"^(?:(\w+)\()?([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\[(\d+)([smh])\]\)?$", re.DOTALL)
_MATCHER = re.compile(r'(\w+)(=~|!=|=)"((?:[^"\\]|\\.)*)"')
_BLANK = re.compile(r'\\(["\\n])')

FUNCTIONS = {
    "max_over_time": max,
    "count_over_time": len,
    "last_over_time": lambda values: values[-1],
}


@dataclass
class MiniPrometheus:
    """Its samples by metric and labels, and the queries it was sent."""

    stored: list[tuple[str, Mapping[str, str], list[tuple[float, float]]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    refuse: tuple[str, ...] = ()

    def add(self, name: str, labels: Mapping[str, str], samples: Iterable[tuple[float, float]]) -> None:
        kept = {key: value for key, value in labels.items() if value and key != "__name__"}
        self.stored.append((name, kept, sorted(samples)))

    def document(self, query: str, at: float) -> dict[str, object]:
        """Return the body of an API answer."""
        self.asked.append(query)
        found = _QUERY.match(query)
        if found is None or any(word in query for word in self.refuse):
            return {"status": "error", "errorType": "bad_data", "error": f"cannot evaluate {query}"}
        function, metric, matchers, count, unit = found.groups()
        seconds = int(count) * {"s": 1, "m": 60, "h": 3600}[unit]
        result = []
        for name, labels, samples in self.stored:
            inside = [(t, v) for t, v in samples if at - seconds < t <= at]
            if name != metric or not inside or not _matches(labels, matchers or ""):
                continue
            result.append(_entry(function, {"__name__": name, **labels}, inside, at))
        return {"status": "success", "data": {"resultType": "vector" if function else "matrix", "result": result}}

    def query(self, promql: str, at: float | None = None) -> Answer:
        """Answer like a client."""
        assert at is not None
        return read_answer(self.document(promql, at))


def _entry(
    function: str | None, labels: dict[str, str], samples: list[tuple[float, float]], at: float
) -> dict[str, object]:
    if function is None:
        return {"metric": labels, "values": [[t, repr(v)] for t, v in samples]}
    kept = labels if function == "last_over_time" else {k: v for k, v in labels.items() if k != "__name__"}
    return {"metric": kept, "value": [at, repr(float(FUNCTIONS[function]([v for _, v in samples])))]}


def _matches(labels: Mapping[str, str], matchers: str) -> bool:
    for name, operator, raw in _MATCHER.findall(matchers):
        value = _BLANK.sub(lambda escape: {"n": "\n"}.get(escape[1], escape[1]), raw)
        held = labels.get(name, "")
        if operator == "=" and held != value:
            return False
        if operator == "=~" and not re.fullmatch(value, held):
            return False
    return True


__all__ = ["MiniPrometheus", "PrometheusError"]
