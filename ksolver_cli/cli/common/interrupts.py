"""Ctrl-C that asks for what is known so far instead of ending the program."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType


class Stopper:
    """Says stop after Ctrl-C or when time is up; a second Ctrl-C ends the program.

    `follows` is what the person gets after the first one, such as `the report so far`.
    """

    def __init__(self, follows: str, seconds: float = float("inf")) -> None:
        self._follows = follows
        self._end = time.monotonic() + seconds
        self._asked = False

    def __call__(self) -> bool:
        """Whether to stop now."""
        return self._asked or time.monotonic() > self._end

    def asked(self) -> bool:
        """Whether it was Ctrl-C that said so."""
        return self._asked

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        sys.stderr.write(f"\nksolver: stopping; {self._follows} follows (Ctrl-C again ends at once)\n")

    @contextlib.contextmanager
    def catching(self) -> Iterator[None]:
        """Catch Ctrl-C until the block ends; what caught it before does so again afterwards."""
        try:
            before = signal.signal(signal.SIGINT, self._on_signal)
        except ValueError:
            # Only the main thread may set handlers; elsewhere Ctrl-C is not ours to catch.
            yield
            return
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
