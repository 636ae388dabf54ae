"""A small reader of the Prometheus text format, for feeding exposition files to tests."""

import re
from dataclasses import dataclass

_LINE = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+\d+)?$")
_LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"\s*,?\s*')
_ESCAPES = {r"\n": "\n", r"\"": '"', r"\\": "\\"}


@dataclass(frozen=True)
class Exposed:
    """One sample line."""

    name: str
    labels: dict[str, str]
    value: float


def parse(text: str) -> list[Exposed]:
    """Return the samples of an exposition; raises ValueError for a line that is none."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.match(line.strip())
        if match is None:
            raise ValueError(line)
        labels = {name: _unescaped(value) for name, value in _LABEL.findall(match[2] or "")}
        found.append(Exposed(match[1], labels, float(match[3])))
    return found


def _unescaped(value: str) -> str:
    return re.sub(r'\\[n"\\]', lambda escape: _ESCAPES[escape[0]], value)


def scraped(exposed: Exposed, target: dict[str, str], *, honor_labels: bool) -> dict[str, str]:
    """Return the labels after scraping a target, by the rules of Prometheus' `honor_labels`."""
    own = {name: value for name, value in exposed.labels.items() if value}
    if honor_labels:
        return {**target, **own}
    renamed = {f"exported_{name}" if name in target else name: value for name, value in own.items()}
    return {**renamed, **target}
