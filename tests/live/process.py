"""Child processes of the live tests: started with a log file each, and ended by their own id."""

import base64
import ctypes
import os
import secrets
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

LOCALHOST = "127.0.0.1"
_PR_SET_PDEATHSIG = 1
_STOP_SECONDS = 10.0


class ServerError(RuntimeError):
    """A server did not come up, ended on its own, or refused what a test asked of it."""


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody holds now; all are held together while they are drawn, so they differ."""
    held = [socket.socket() for _ in range(count)]
    try:
        for sock in held:
            sock.bind((LOCALHOST, 0))
        return [sock.getsockname()[1] for sock in held]
    finally:
        for sock in held:
            sock.close()


def _die_with_parent() -> None:
    """Have the kernel end this child when the test run is killed, which no handler of ours would see."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """One running program; its output goes to `log`."""

    def __init__(self, command: Sequence[str | Path], log: Path) -> None:
        self.name = Path(command[0]).name
        self.log = log
        with log.open("wb") as sink:
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                cwd=log.parent,
                env={"PATH": os.environ.get("PATH", ""), "HOME": str(log.parent)},
                preexec_fn=_die_with_parent,  # noqa: PLW1509 # one system call, no lock is taken
            )

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def check(self) -> None:
        """Raise where the program has ended."""
        if self._process.poll() is not None:
            raise ServerError(f"{self.name} ended with {self._process.returncode}:\n{self.tail()}")

    def tail(self) -> str:
        """Last lines of the log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the program do nothing until the block ends."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Ask the program to end, and end it where it does not."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def signing_key() -> str:
    """New P-256 private key as PEM (SEC 1, without the optional public half, which readers derive)."""
    order_bound = bytes([0x7F]) + secrets.token_bytes(31)
    curve = bytes.fromhex("a00a06082a8648ce3d030107")
    body = bytes.fromhex("020101") + b"\x04\x20" + order_bound + curve
    der = bytes([0x30, len(body)]) + body
    text = base64.encodebytes(der).decode().strip()
    return f"-----BEGIN EC PRIVATE KEY-----\n{text}\n-----END EC PRIVATE KEY-----\n"
