"""The store: what it accepts, what it refuses, and that it grows only by news."""

import contextlib
import gzip
import json
import os
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ksolver_cli.vram import store
from ksolver_cli.vram.observation import BadLine, Observation, from_line, to_line

WHOLE = Observation(
    image="img:1",
    command_hash="a" * 64,
    peak_mib=19_000,
    observed_at="2026-11-30T00:00:00+00:00",
    window="24h",
    namespace="ml",
    pod="train-0",
    workload="Job/train",
    pod_uid="uid-1",
    gpu_model="NVIDIA H100 80GB HBM3",
    gpu_count=2,
    mig_profile=None,
    capacity_mib=81_559,
    samples=1_440,
    oom=False,
    hints={"batch_size": 8.0},
)
FIELDS = {
    "schema", "image", "command_hash", "peak_mib", "observed_at", "window", "namespace", "workload", "pod_uid",
    "gpu_model", "gpu_count", "mig_profile", "shared", "capacity_mib", "samples", "oom", "hints",
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vram.jsonl"


def another(uid: str, **changes: object) -> Observation:
    return replace(WHOLE, pod_uid=uid, **changes)  # type: ignore[arg-type]


def test_a_line_has_every_field_and_reads_back_equal() -> None:
    line = to_line(WHOLE)
    assert line.count(b"\n") == 1
    assert set(json.loads(line)) >= FIELDS
    assert from_line(line) == WHOLE


def test_the_short_form_is_an_observation_and_each_line_its_own(path: Path) -> None:
    short = '{"image": "i", "command_hash": "h", "peak_mib": 1000.5}\n'
    path.write_text(short * 3)
    contents = store.read(path)
    assert [entry.peak_mib for entry in contents.observations] == [1001, 1001, 1001]
    assert not contents.problems
    assert not contents.observations[0].shared
    assert contents.observations[0].oom is None


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        "null",
        '{"image": "i", "command_hash": "h"}',
        '{"image": "i", "command_hash": "h", "peak_mib": 0}',
        '{"image": "i", "command_hash": "h", "peak_mib": -5}',
        '{"image": "i", "command_hash": "h", "peak_mib": true}',
        '{"image": "i", "command_hash": "h", "peak_mib": "9"}',
        '{"image": "i", "command_hash": "h", "peak_mib": 9223372036854775794}',
        '{"image": "", "command_hash": "h", "peak_mib": 9}',
        '{"image": "i", "command_hash": "h", "peak_mib": 9, "schema": "other/1"}',
        '{"image": "i", "command_hash": "h", "peak_mib": 9, "schema": "ksolver.vram/2"}',
    ],
)
def test_a_line_that_is_no_observation_is_reported_and_skipped(path: Path, line: str) -> None:
    path.write_bytes(to_line(WHOLE) + b"\n" + line.encode() + b"\n" + to_line(another("uid-2")))
    contents = store.read(path)
    assert [entry.pod_uid for entry in contents.observations] == ["uid-1", "uid-2"]
    assert [problem.line for problem in contents.problems] == [3]


def test_an_absent_store_is_empty_and_a_folder_is_an_error(path: Path, tmp_path: Path) -> None:
    assert store.read(path) == store.Contents(())
    with pytest.raises(store.StoreError, match="cannot read"):
        store.read(tmp_path)


def test_a_second_run_adds_nothing(path: Path) -> None:
    rows = [WHOLE, another("uid-2")]
    assert store.append(path, rows) == store.Appended(new=2, raised=0, unchanged=0)
    before = path.read_bytes()
    assert store.append(path, rows) == store.Appended(new=0, raised=0, unchanged=2)
    later = [replace(row, observed_at="2026-12-01T00:00:00+00:00", samples=1) for row in rows]
    assert store.append(path, later).written == 0
    assert path.read_bytes() == before


def test_rows_given_twice_in_one_run_are_written_once(path: Path) -> None:
    assert store.append(path, [WHOLE, WHOLE]).written == 1


def test_a_pod_without_uid_is_known_by_its_name(path: Path) -> None:
    nameless = replace(WHOLE, pod_uid=None)
    assert store.append(path, [nameless]).written == 1
    assert store.append(path, [nameless]).written == 0
    assert store.append(path, [replace(nameless, pod="train-1")]).written == 1


@pytest.mark.parametrize("change", [{"peak_mib": 20_000}, {"shared": True}, {"oom": True}])
def test_news_about_a_known_pod_supersedes_its_line(path: Path, change: dict[str, object]) -> None:
    store.append(path, [WHOLE])
    assert store.append(path, [replace(WHOLE, **change)]) == store.Appended(0, 1, 0)  # type: ignore[arg-type]
    (only,) = store.read(path).observations
    assert only == replace(WHOLE, **change)  # type: ignore[arg-type]


def test_a_lower_peak_never_lowers_what_is_known(path: Path) -> None:
    store.append(path, [WHOLE])
    store.append(path, [replace(WHOLE, peak_mib=5, shared=True)])
    (only,) = store.read(path).observations
    assert (only.peak_mib, only.shared) == (19_000, True)


def test_a_torn_tail_is_ended_not_eaten(path: Path) -> None:
    path.write_bytes(to_line(WHOLE) + to_line(another("uid-2"))[:-30])
    assert len(store.read(path).problems) == 1
    appended = store.append(path, [another("uid-2"), another("uid-3")])
    assert (appended.written, len(appended.problems)) == (2, 1)
    contents = store.read(path)
    assert [entry.pod_uid for entry in contents.observations] == ["uid-1", "uid-2", "uid-3"]
    assert len(contents.problems) == 1


def test_a_whole_last_line_without_newline_counts(path: Path) -> None:
    path.write_bytes(to_line(WHOLE)[:-1])
    assert store.append(path, [WHOLE, another("uid-2")]).written == 1
    assert len(store.read(path).observations) == 2


def test_a_full_disk_leaves_the_store_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.append(path, [WHOLE])
    before, write = path.read_bytes(), os.write

    def half(descriptor: int, data: bytes) -> int:
        if len(data) > 100:
            return write(descriptor, bytes(data)[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(store.StoreError, match="No space left"):
        store.append(path, [another("uid-2"), another("uid-3", peak_mib=7)])
    assert path.read_bytes() == before


def test_a_gz_archive_is_read_whole_or_up_to_its_damage_and_never_appended_to(tmp_path: Path) -> None:
    archive = tmp_path / "old.jsonl.gz"
    content = gzip.compress(to_line(WHOLE) + to_line(another("uid-2")))
    archive.write_bytes(content)
    assert len(store.read(archive).observations) == 2
    archive.write_bytes(content[:-12])
    damaged = store.read(archive)
    assert damaged.problems[-1].reason == "the archive ends early or is damaged"
    archive.write_bytes(b"plain text")
    assert len(store.read(archive).problems) == 1
    with pytest.raises(store.StoreError, match="archives are read only"):
        store.append(archive, [WHOLE])


CUT = datetime(2026, 11, 1, tzinfo=UTC)


def test_prune_drops_old_superseded_and_torn_lines_and_keeps_the_rest(path: Path) -> None:
    old = another("old", observed_at="2026-10-31T23:59:59+00:00")
    short = b'{"image": "i", "command_hash": "h", "peak_mib": 7}\n'
    newer = b'{"schema": "ksolver.vram/2", "anything": 1}\n'
    path.write_bytes(
        to_line(old) + to_line(WHOLE) + short + newer + b"{torn\n" + to_line(replace(WHOLE, peak_mib=20_000))
    )
    path.chmod(0o640)
    assert store.prune(path, CUT) == store.Pruned(kept=3, expired=1, superseded=1, unreadable=1)
    assert newer in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    contents = store.read(path)
    assert [entry.peak_mib for entry in contents.observations] == [20_000, 7]
    again = path.read_bytes()
    assert store.prune(path, CUT) == store.Pruned(kept=3, expired=0, superseded=0, unreadable=0)
    assert sorted(path.read_bytes().splitlines()) == sorted(again.splitlines())


def test_an_archive_is_pruned_too(tmp_path: Path) -> None:
    archive = tmp_path / "old.jsonl.gz"
    archive.write_bytes(gzip.compress(to_line(another("u", observed_at="2020-01-01T00:00:00+00:00")) + to_line(WHOLE)))
    assert store.prune(archive, datetime(2026, 1, 1, tzinfo=UTC)) == store.Pruned(1, 1, 0, 0)
    assert store.read(archive).observations == (WHOLE,)
    assert gzip.decompress(archive.read_bytes()) == to_line(WHOLE)


def test_prune_of_an_absent_store_does_nothing(path: Path) -> None:
    assert store.prune(path, CUT) == store.Pruned(0, 0, 0, 0)
    assert not path.exists()


def test_the_store_behind_a_symlink_is_pruned_in_place(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    store.append(link, [another("old", observed_at="2020-01-01T00:00:00+00:00")])
    store.prune(link, CUT)
    assert link.is_symlink()
    assert path.read_bytes() == b""


ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 5), st.booleans(), st.sampled_from([None, True, False])),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.lists(ROWS, max_size=4))
def test_any_order_of_runs_ends_in_the_highest_peak_a_pod(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[tuple[str, int, bool, bool | None]]]
) -> None:
    path = tmp_path_factory.mktemp("s") / "vram.jsonl"
    for run in runs:
        store.append(path, [another(uid, peak_mib=peak, shared=shared, oom=oom) for uid, peak, shared, oom in run])
    everything = [row for run in runs for row in run]
    found = {entry.pod_uid: entry for entry in store.read(path).observations}
    assert {uid: entry.peak_mib for uid, entry in found.items()} == {
        uid: max(peak for other, peak, *_ in everything if other == uid) for uid, *_ in everything
    }
    for uid, entry in found.items():
        mine = [row for row in everything if row[0] == uid]
        assert entry.shared == any(shared for _, _, shared, _ in mine)
        assert (entry.oom is True) == any(oom for *_, oom in mine)


@given(st.binary(max_size=200))
def test_no_bytes_crash_the_reader(content: bytes) -> None:
    for line in content.splitlines():
        with contextlib.suppress(BadLine):
            assert from_line(line).peak_mib > 0
