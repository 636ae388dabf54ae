"""Verdicts that are written down answer the same questions later, and no others."""

import json
from pathlib import Path

import pytest

from ksolver_cli.collect.schedulers.exchange import SchedulerUnusableError
from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.facts import Comparison, Outcome
from ksolver_cli.conform.recording import Recorder, Replay, question_key
from ksolver_cli.conform.run import Options, compare
from ksolver_cli.render.conform.record import comparison_record
from ksolver_cli.snapshot.model import Snapshot
from tests.unit.conform.samples import Json, node, pod, snapshot
from tests.unit.conform.schedulers import FamilyScheduler

EVERY = Options(Choice(Pods.ALL, 0))


def cluster(cpu: str = "1") -> Snapshot:
    tainted = node("b", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    return snapshot([node("a"), tainted], [pod("p", cpu), pod("q", "9")])


def recorded(path: Path, scheduler: FamilyScheduler | None = None, version: str = "1.36") -> Comparison:
    with Recorder(scheduler or FamilyScheduler(), path, version) as recorder:
        return compare(cluster(), recorder, EVERY)


def replayed(path: Path, judged: Snapshot, version: str = "1.36") -> Comparison:
    replay = Replay(path)
    replay.fix_version(version)
    return compare(judged, replay, Options(EVERY.choice, kubernetes_version=version))


def plain(found: Comparison) -> Json:
    record = json.loads(json.dumps(comparison_record(found)))
    del record["scheduler"]
    return dict(record)


def test_a_replay_reports_what_the_recorded_run_reported(tmp_path: Path) -> None:
    live = recorded(tmp_path / "v.jsonl")
    assert plain(replayed(tmp_path / "v.jsonl", cluster())) == plain(live)


def test_what_the_recorded_source_could_not_carry_is_missing_in_the_replay_too(tmp_path: Path) -> None:
    live = recorded(tmp_path / "v.jsonl", FamilyScheduler(carries=frozenset()))
    assert plain(replayed(tmp_path / "v.jsonl", cluster())) == plain(live)


@pytest.mark.parametrize(("cpu", "version"), [("2", "1.36"), ("1", "1.37")])
def test_a_changed_pod_or_version_is_not_in_the_recording(cpu: str, version: str, tmp_path: Path) -> None:
    recorded(tmp_path / "v.jsonl")
    found = replayed(tmp_path / "v.jsonl", cluster(cpu), version)
    assert found.strict.counts[Outcome.NO_ANSWER] == (2 if version == "1.36" else 4)
    assert found.strict.mismatches[0].theirs.reason == "not in the recording"


def test_one_file_holds_several_versions_and_the_last_verdict_counts(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    recorded(path)
    recorded(path, FamilyScheduler(version="v1.37.0"), "1.37")
    assert Replay(path).versions == ("1.36", "1.37")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    other = {"pass": "fail", "fail": "pass"}[lines[0]["verdict"]]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {**lines[0], "verdict": other}]))
    replay = Replay(path)
    assert len(replay) == 8
    replay.fix_version("1.36")
    judged = Options(EVERY.choice, kubernetes_version="1.36")
    assert compare(cluster(), replay, judged).strict.counts[Outcome.AGREE] == 3


def test_pairs_without_an_answer_are_not_recorded(tmp_path: Path) -> None:
    recorded(tmp_path / "v.jsonl", FamilyScheduler(silent_on=lambda question: question.node_name == "a"))
    assert {json.loads(line)["node"] for line in (tmp_path / "v.jsonl").read_text().splitlines()} == {"b"}


def test_the_key_depends_on_everything_but_the_order_of_keys() -> None:
    scheduler = FamilyScheduler()
    compare(cluster(), scheduler, EVERY)
    first = scheduler.asked[0]
    same = type(first)(dict(reversed(first.node.items())), dict(reversed(first.pod.items())), first.beside)
    assert question_key(same, "1.36") == question_key(first, "1.36")
    keys = {question_key(question, version) for question in scheduler.asked for version in ("1.36", "1.37")}
    assert len(keys) == 2 * len(scheduler.asked)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "line 1: no recorded verdict"),
        ('{"schema": "other"}', "line 1: no recorded verdict"),
        ('{"schema": "ksolver.conform-record/1", "key": "k", "kubernetes_version": "1.36"}', "neither pass nor fail"),
    ],
)
def test_a_file_that_is_no_recording_is_refused(text: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text(text)
    with pytest.raises(SchedulerUnusableError, match=what):
        Replay(path)
