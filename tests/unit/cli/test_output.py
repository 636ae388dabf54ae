"""Results in files: whole or not at all, and where a path leads, not in its place."""

import os
import stat
import threading
from pathlib import Path

import pytest

from ksolver_cli.cli.common.exits import CommandError
from ksolver_cli.cli.common.output import emit, expect_writable


def test_a_result_replaces_a_file_and_is_readable_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("before")
    emit("after é\n", str(tmp_path / "x"))
    (tmp_path / "y").touch()
    assert (tmp_path / "x").read_bytes() == "after é\n".encode()
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "y").stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "x")
    expect_writable(tmp_path / "link")
    emit("text", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "x").read_text() == "text"


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
    reader.start()
    expect_writable(tmp_path / "pipe")
    emit("text", str(tmp_path / "pipe"))
    reader.join(10)
    assert got == ["text"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


@pytest.mark.parametrize("path", [".", "gone/x", "file/x"])
def test_what_cannot_be_written_is_said_with_its_flag(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for write in (lambda out: expect_writable(out, "--junit"), lambda out: emit("text", out, flag="--junit")):
        with pytest.raises(CommandError) as caught:
            write(str(tmp_path / path))
        assert "--junit" in caught.value.hint
        assert str(tmp_path / path) in caught.value.what
