"""The comparison as JUnit XML: a test case for each pod in each bucket, and one for the gate."""

from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from ksolver_cli.conform.facts import LISTED, Comparison, Gate, Outcome, Pair
from ksolver_cli.render.conform.record import words
from ksolver_cli.render.safe import plain

_SUITE = "ksolver conform"
_WRONG = (Outcome.FALSE_POSITIVE, Outcome.FALSE_NEGATIVE)


def to_junit(found: Comparison) -> str:
    """A strict difference is a failure, an expected one and a pod without any answer is skipped; so is nothing else."""
    pods = sorted(found.pods.items(), key=lambda item: (min(map(_worst, item[1])), item[0]))
    cases = [case for pod, pairs in pods for case in _of_pod(pod, pairs)]
    gate = f"strict-gate: {found.gate.value}"
    # A gate that had nothing to look at must not read as passed.
    cases.append(_case("strict-gate", "gate", "" if found.gate is Gate.PASS else _element("failure", gate, [])))
    return _suite(cases)


def skipped_junit(why: str, *, failed: bool) -> str:
    """The one test case of a run that had no scheduler to ask: skipped, or failed where a gate was asked for."""
    return _suite([_case("strict-gate", "gate", _element("failure" if failed else "skipped", why, []))])


def _of_pod(pod: str, pairs: Sequence[Pair]) -> list[str]:
    strict = sorted((pair for pair in pairs if not pair.expected), key=_order)
    expected = sorted((pair for pair in pairs if pair.expected), key=_order)
    found = []
    if strict:
        found.append(_case(pod, "strict", _outcome(strict, "failure")))
    if expected:
        found.append(_case(pod, "expected-divergence", _outcome(expected, "skipped")))
    return found


def _worst(pair: Pair) -> int:
    """Strict differences before excused ones, false positives before all others."""
    place = LISTED.index(pair.outcome) if pair.outcome in LISTED else len(LISTED)
    return 2 * place + bool(pair.expected)


def _order(pair: Pair) -> tuple[int, str]:
    return _worst(pair), pair.node


def _outcome(pairs: Sequence[Pair], element: str) -> str:
    wrong = [pair for pair in pairs if pair.outcome in _WRONG]
    silent = [pair for pair in pairs if pair.outcome is Outcome.NO_ANSWER]
    if wrong:
        return _element(element, f"{len(wrong)} of {len(pairs)} nodes differ", [_line(pair) for pair in wrong])
    if len(silent) == len(pairs):
        return _element("skipped", "no answer on any node", [])
    return _element("system-out", "", [_line(pair) for pair in silent]) if silent else ""


def _line(pair: Pair) -> str:
    ours = "; ".join(map(words, pair.ours.objections)) or "fits"
    theirs = pair.theirs.reason or pair.theirs.said.value
    return f"{pair.outcome.value} {pair.node}: ours: {ours}; scheduler: {theirs}"


def _suite(cases: Sequence[str]) -> str:
    counts = (
        f'tests="{len(cases)}" failures="{_with(cases, "<failure")}" errors="0" skipped="{_with(cases, "<skipped")}"'
    )
    body = "\n".join(cases)
    head = f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name={quoteattr(_SUITE)} {counts}>\n'
    return f"{head}<testsuite name={quoteattr(_SUITE)} {counts}>\n{body}\n</testsuite>\n</testsuites>\n"


def _with(cases: Sequence[str], tag: str) -> int:
    return sum(tag in case for case in cases)


def _case(name: str, group: str, body: str) -> str:
    head = f"<testcase classname={quoteattr(f'conform.{group}')} name={quoteattr(plain(name))}"
    return f"{head}>{body}</testcase>" if body else f"{head}/>"


def _element(tag: str, message: str, lines: Sequence[str]) -> str:
    attributes = f" message={quoteattr(plain(message))}" if message else ""
    return f"<{tag}{attributes}>{_text(lines)}</{tag}>" if lines else f"<{tag}{attributes}/>"


def _text(lines: Sequence[str]) -> str:
    text = "\n".join(plain(line) for line in lines)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
