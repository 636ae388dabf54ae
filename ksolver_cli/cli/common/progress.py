"""A progress bar on stderr, and Ctrl-C that asks for the best answer so far instead of ending the program."""

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ksolver_cli.pipeline import Watch


class _Stopper:
    """Says stop after Ctrl-C or when time is up; a second Ctrl-C ends the program."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._asked = False

    def __call__(self) -> bool:
        return self._asked or time.monotonic() > self._end

    def asked(self) -> bool:
        """Whether it was Ctrl-C that said so."""
        return self._asked

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        sys.stderr.write("\nksolver: stopping; the best plan so far follows (Ctrl-C again ends at once)\n")


@contextlib.contextmanager
def watching(seconds: float) -> Iterator[Watch]:
    """A watch for the pipeline. Nothing is drawn when stderr is not a terminal."""
    stopper = _Stopper(seconds)
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)

        def tell(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        with _interrupts(stopper):
            yield Watch(tell, stopper, stopper.asked)


@contextlib.contextmanager
def _interrupts(stopper: _Stopper) -> Iterator[None]:
    try:
        before = signal.signal(signal.SIGINT, stopper.on_signal)
    except ValueError:
        # Only the main thread may set handlers; elsewhere Ctrl-C is not ours to catch.
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
