"""Files that appear whole or not at all, whatever ends the program: a full disk, Ctrl-C, kill -9, a power cut."""

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

OWNER_ONLY = 0o600
ANYONES = 0o666
"""Modes of files that hold a cluster, and of those that any program would write."""


@contextlib.contextmanager
def whole_file(path: Path, *, replace: bool, mode: int = OWNER_ONLY) -> Iterator[IO[bytes]]:
    """Yield a stream whose content is at `path` once the block has ended well; nothing is there otherwise.

    `mode` is the file's, less what the umask takes away. The file has no name while it is written, where the file
    system can do that, so that not even a killed process leaves anything behind. Pipes and devices are written to as
    they are. Raises OSError; FileExistsError where `path` is there and may not be replaced.
    """
    target = path.resolve()
    if target.exists() and not target.is_dir() and not stat.S_ISREG(target.stat().st_mode):
        with target.open("wb") as stream:
            yield stream
        return
    if target.exists() and not replace:
        raise FileExistsError(17, "there is such a file already", str(path))
    handle = _nameless(target.parent, mode)
    writing = _write_nameless(handle, target, replace) if handle is not None else _write_named(target, replace, mode)
    with writing as stream:
        yield stream


def _nameless(folder: Path, mode: int) -> int | None:
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), mode)
    except OSError:
        # Not every file system knows it; what is really wrong shows when the named file is made.
        return None


@contextlib.contextmanager
def _write_nameless(handle: int, target: Path, replace: bool) -> Iterator[IO[bytes]]:
    with os.fdopen(handle, "wb") as stream:
        yield stream
        stream.flush()
        os.fsync(handle)
        if not replace:
            _give_name(handle, target)
        else:
            spare = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
            _give_name(handle, spare)
            _rename(spare, target)
    _sync_folder(target.parent)


def _give_name(handle: int, path: Path) -> None:
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        # With a folder given, Python makes the system call that follows the link in /proc to the nameless file.
        os.link(f"/proc/self/fd/{handle}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


@contextlib.contextmanager
def _write_named(target: Path, replace: bool, mode: int) -> Iterator[IO[bytes]]:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    spare = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(handle)
        spare.chmod(mode & ~_umask())
        if not replace and target.exists():
            raise FileExistsError(17, "there is such a file already", str(target))
        _rename(spare, target)
    finally:
        spare.unlink(missing_ok=True)
    _sync_folder(target.parent)


def _umask() -> int:
    mask = os.umask(OWNER_ONLY)
    os.umask(mask)
    return mask


def _rename(spare: Path, target: Path) -> None:
    try:
        spare.replace(target)
    finally:
        spare.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    # Without this a power cut may still forget the name. Some file systems refuse it; then nothing more can be done.
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
