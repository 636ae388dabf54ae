"""Verdicts kept in a file: one JSON line each, under a hash of the whole question and the Kubernetes version.

The hash covers the pod, the node and all they refer to, so that a verdict is never taken for another question's.
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import orjson

from ksolver_cli.collect.schedulers.exchange import Answer, Question, Said, SchedulerUnusableError
from ksolver_cli.conform.sources import Scheduler

SCHEMA = "ksolver.conform-record/1"


def question_key(question: Question, version: str) -> str:
    """SHA-256 over the question and the version, the same for equal objects in any order of their keys."""
    beside = {kind: sorted(map(_canonical, objects)) for kind, objects in question.beside.items() if objects}
    whole = [version, _canonical(question.pod), _canonical(question.node), beside]
    return hashlib.sha256(_canonical(whole)).hexdigest()


def _canonical(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=bytes.decode)


class Recorder:
    """A scheduler that writes down every verdict of another one; questions without an answer are left out."""

    def __init__(self, scheduler: Scheduler, path: Path, version: str) -> None:
        self.source = scheduler.source
        self.version = scheduler.version
        self._scheduler = scheduler
        self._path = path
        self._judged_as = version
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        try:
            # Appended, so that one file can hold several versions; of equal questions the last verdict counts.
            self._file = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise SchedulerUnusableError(
                f"{self._path}: {error.strerror or error}", "give --record a file that can be written"
            ) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def prepare(self, question: Question) -> Question:
        """As the recorded scheduler prepares it."""
        return self._scheduler.prepare(question)

    def ask(self, question: Question) -> Answer:
        """Ask, and write the verdict down at once."""
        answer = self._scheduler.ask(question)
        # What a source rewrites for itself is not part of the question; what it cannot carry is no part of the answer.
        kinds = sorted(self.prepare(question).beside)
        if self._file is not None and answer.said is not Said.NO_ANSWER:
            line = {
                "schema": SCHEMA,
                "key": question_key(question.only(kinds), self._judged_as),
                "pod": f"{question.namespace}/{question.pod_name}",
                "node": question.node_name,
                "kubernetes_version": self._judged_as,
                "scheduler_version": self.version,
                "source": self.source,
                "kinds": kinds,
                "verdict": answer.said.value,
                "reason": answer.reason,
            }
            self._file.write(orjson.dumps(line).decode() + "\n")
            self._file.flush()
        return answer


class Replay:
    """A scheduler that answers from a recording alone."""

    source = "replay"

    def __init__(self, path: Path) -> None:
        """Read the recording; raises SchedulerUnusableError when it is none."""
        self._answers: dict[str, Answer] = {}
        versions: dict[str, str] = {}
        self._kinds: dict[tuple[str, ...], None] = {}
        for line in _lines(path):
            self._answers[line["key"]] = Answer(Said(line["verdict"]), line.get("reason", ""))
            versions[line["kubernetes_version"]] = line.get("scheduler_version") or line["kubernetes_version"]
            self._kinds[tuple(line.get("kinds", ()))] = None
        self.versions = tuple(versions)
        self.version = versions[self.versions[0]] if len(self.versions) == 1 else ""
        self.judged_as = self.versions[0] if len(self.versions) == 1 else ""

    def __len__(self) -> int:
        """How many verdicts there are."""
        return len(self._answers)

    def fix_version(self, version: str) -> None:
        """Look for verdicts of this version, such as `1.36`."""
        self.judged_as = version

    def prepare(self, question: Question) -> Question:
        """The world in which the verdict was recorded: its source may have carried less than the whole."""
        for kinds in self._kinds:
            carried = question.only(kinds)
            if question_key(carried, self.judged_as) in self._answers:
                return carried
        return question

    def ask(self, question: Question) -> Answer:
        """The recorded verdict, or no answer."""
        found = self._answers.get(question_key(self.prepare(question), self.judged_as))
        return found or Answer(Said.NO_ANSWER, "not in the recording")


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SchedulerUnusableError(
            f"{path}: cannot be read ({error})", "give replay: a file that `ksolver conform --record` wrote"
        ) from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield _checked(path, number, line)


def _checked(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        entry = orjson.loads(line)
    except orjson.JSONDecodeError:
        entry = None
    known = isinstance(entry, dict) and entry.get("schema") == SCHEMA
    if not known or not all(isinstance(entry.get(key), str) for key in ("key", "kubernetes_version")):
        raise _no_record(path, number, "no recorded verdict")
    if entry.get("verdict") not in (Said.PASS.value, Said.FAIL.value):
        raise _no_record(path, number, "the verdict is neither pass nor fail")
    return dict(entry)


def _no_record(path: Path, number: int, what: str) -> SchedulerUnusableError:
    return SchedulerUnusableError(f"{path}: line {number}: {what}", "record it again with `ksolver conform --record`")
