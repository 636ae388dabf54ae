"""The PromQL that is asked, in one place."""

from collections.abc import Iterable, Mapping


def quoted(value: str) -> str:
    """Return a string literal of PromQL."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def selector(metric: str, matchers: Iterable[str] = ()) -> str:
    """Return an instant selector, `metric{matcher,…}`."""
    inside = ",".join(matchers)
    return f"{metric}{{{inside}}}" if inside else metric


def equal(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return equality matchers of labels."""
    return tuple(f"{name}={quoted(value)}" for name, value in labels.items())


def one_of(label: str, values: Iterable[str]) -> str:
    """Return a matcher for any of several values, each taken literally (RE2 syntax)."""
    return f"{label}=~{quoted('|'.join(map(_literal, values)))}"


def _literal(value: str) -> str:
    return "".join(f"\\{character}" if character in r"\.+*?()|[]{}^$" else character for character in value)


def spelled(seconds: int) -> str:
    """Return a length of time in the largest whole unit: `24h`, `90m`, `45s`."""
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def over(function: str, metric: str, window_seconds: int, matchers: Iterable[str] = ()) -> str:
    """Return `function(metric{…}[window])`."""
    return f"{function}({samples(metric, window_seconds, matchers)})"


def samples(metric: str, window_seconds: int, matchers: Iterable[str] = ()) -> str:
    """Return a range selector: an instant query of it answers the samples themselves."""
    return f"{selector(metric, matchers)}[{spelled(window_seconds)}]"
