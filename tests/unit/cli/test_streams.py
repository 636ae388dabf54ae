"""What the process says to pipes, full disks, odd encodings and narrow terminals: never a traceback, never a lie."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.paths import ROOT

KSOLVER = Path(sys.executable).with_name("ksolver")
SAMPLE = str(ROOT / "snapshots/pdb-allows-none/snapshot.json")
POD = "payments/ledger-45hhkg8lt-7h46g"
COMMANDS = [
    ["analyze", SAMPLE],
    ["analyze", SAMPLE, "--json"],
    ["why", POD, SAMPLE],
    ["catalog", "show", "m5.xlarge"],
]
each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: "-".join(command[:1] + command[2:]))


def _run(command: list[str], **settings: str) -> subprocess.CompletedProcess[bytes]:
    environment = {**os.environ, **settings}
    return subprocess.run([str(KSOLVER), *command], capture_output=True, env=environment, check=False)


@each_command
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_stream_that_knows_few_characters_gets_stand_ins(command: list[str], encoding: str) -> None:
    done = _run(command, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8" if "--json" in command else encoding)


@each_command
def test_a_full_disk_is_told_in_two_lines(command: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([str(KSOLVER), *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 5
    assert len(done.stderr.splitlines()) == 2
    assert "No space left" in done.stderr


@each_command
def test_a_reader_that_goes_away_ends_it_in_silence(command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([str(KSOLVER), *command], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_gate_counts_though_the_reader_went_away() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [str(KSOLVER), "analyze", "--sample", "two-idle-nodes", "--fail-on", "removable-nodes=1"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.returncode == 1
    assert "removable-nodes" in done.stderr


def test_json_is_utf_8_whatever_the_locale() -> None:
    done = _run(["analyze", SAMPLE, "--json"], LC_ALL="C", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout.decode("utf-8"))["schema"] == "ksolver.report/1"


@pytest.mark.parametrize("columns", ["1", "40", "200", "x", "-5"])
def test_a_pipe_gets_whole_words_without_trailing_blanks_at_any_width(columns: str) -> None:
    text = _run(["analyze", SAMPLE], COLUMNS=columns).stdout.decode()
    assert not any(line.endswith(" ") for line in text.splitlines())
    assert "…" not in text.replace(" … ", "")
    if columns != "40":
        # Narrower than a person can have asked for is no width at all.
        for name in ("ip-10-0-0-10.ec2.internal", "ip-10-0-0-13.ec2.internal", "payments/ledger"):
            assert name in text


@pytest.mark.parametrize(
    ("out", "complaint"),
    [("/", "is a directory"), ("/no/such/place/x", "no directory"), ("/proc/x", "No such file")],
)
def test_a_result_that_cannot_be_written_is_a_usage_error(out: str, complaint: str) -> None:
    done = _run(["analyze", SAMPLE, "--out", out])
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 2
    assert complaint in done.stderr.decode()
