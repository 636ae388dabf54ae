"""A file appears whole or not at all, whatever ends the program."""

import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ksolver_cli.snapshot.files import atomic
from ksolver_cli.snapshot.files.atomic import whole_file
from tests.paths import ROOT

_SLOW_WRITER = """
import sys, time
from pathlib import Path
from ksolver_cli.snapshot.files.atomic import whole_file
with whole_file(Path(sys.argv[1]), replace=True) as stream:
    while True:
        stream.write(b"x" * 65536)
        stream.flush()
        print("wrote", flush=True)
        time.sleep(0.01)
"""


@pytest.fixture(params=["nameless", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to write: with a file that has no name yet, and with one beside the target."""
    if request.param == "named":
        monkeypatch.setattr(atomic, "_nameless", lambda folder, mode: None)
    return str(request.param)


def test_a_new_file_is_whole_and_its_owners_alone(tmp_path: Path, way: str) -> None:
    with whole_file(tmp_path / "x", replace=False) as stream:
        stream.write(b"all")
        assert not (tmp_path / "x").exists()
    assert (tmp_path / "x").read_bytes() == b"all"
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["x"]


def test_a_file_is_replaced_only_when_that_is_asked_for(tmp_path: Path, way: str) -> None:
    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(FileExistsError), whole_file(tmp_path / "x", replace=False):
        pass
    assert (tmp_path / "x").read_bytes() == b"before"
    with whole_file(tmp_path / "x", replace=True) as stream:
        stream.write(b"after")
    assert (tmp_path / "x").read_bytes() == b"after"
    assert os.listdir(tmp_path) == ["x"]


def test_one_that_appeared_meanwhile_is_not_replaced_either(tmp_path: Path, way: str) -> None:
    def write() -> None:
        with whole_file(tmp_path / "x", replace=False) as stream:
            stream.write(b"mine")
            (tmp_path / "x").write_bytes(b"theirs")

    with pytest.raises(FileExistsError):
        write()
    assert (tmp_path / "x").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["x"]


def test_an_error_in_the_middle_leaves_what_was_there(tmp_path: Path, way: str) -> None:
    def write() -> None:
        with whole_file(tmp_path / "x", replace=True) as stream:
            stream.write(b"half")
            raise RuntimeError

    (tmp_path / "x").write_bytes(b"before")
    with pytest.raises(RuntimeError):
        write()
    assert (tmp_path / "x").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["x"]


def test_a_disk_that_fills_up_leaves_what_was_there(tmp_path: Path, way: str) -> None:
    (tmp_path / "x").write_bytes(b"before")
    old_limits, old_handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, old_limits[1]))
    try:
        with pytest.raises(OSError, match="too large"), whole_file(tmp_path / "x", replace=True) as stream:
            stream.write(b"x" * 1_000_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old_limits)
        signal.signal(signal.SIGXFSZ, old_handler)
    assert (tmp_path / "x").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["x"]


def test_kill_minus_nine_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"before")
    command = [sys.executable, "-c", _SLOW_WRITER, str(tmp_path / "x")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as child:
        assert child.stdout is not None
        for _ in range(3):
            assert child.stdout.readline() == b"wrote\n"
        child.send_signal(signal.SIGKILL)
        child.wait()
    assert (tmp_path / "x").read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["x"]


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path, way: str) -> None:
    with pytest.raises(OSError, match="No space left"), whole_file(Path("/dev/full"), replace=True) as stream:
        stream.write(b"x" * 1_000_000)
    assert Path("/dev/full").is_char_device()


def test_a_pipe_is_written_to_as_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["/bin/cat", str(tmp_path / "pipe")], stdout=subprocess.PIPE)
    with whole_file(tmp_path / "pipe", replace=False) as stream:
        stream.write(b"through")
    assert reader.communicate(timeout=10)[0] == b"through"
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_link_keeps_pointing_to_its_file(tmp_path: Path, way: str) -> None:
    (tmp_path / "real").write_bytes(b"before")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole_file(tmp_path / "link", replace=True) as stream:
        stream.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"after"


def test_where_files_cannot_be_made_says_the_systems_word(tmp_path: Path, way: str) -> None:
    started = time.monotonic()
    with pytest.raises(OSError, match=r"No such file|Permission"), whole_file(tmp_path / "gone" / "x", replace=True):
        pass
    assert time.monotonic() - started < 5
