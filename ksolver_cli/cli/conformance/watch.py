"""A progress bar over pairs, and Ctrl-C that ends the comparison with a report of what is known."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ksolver_cli.conform.run import Watch


class _Stopper:
    """Says stop after Ctrl-C; a second one ends the program."""

    def __init__(self) -> None:
        self._asked = False

    def __call__(self) -> bool:
        return self._asked

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        sys.stderr.write("\nksolver: stopping; the report so far follows (Ctrl-C again ends at once)\n")


@contextlib.contextmanager
def watching() -> Iterator[Watch]:
    """A watch for the comparison. Nothing is drawn when stderr is not a terminal."""
    stopper = _Stopper()
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (TextColumn("comparing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, planned: int) -> None:
            bar.update(task, completed=done, total=planned)

        with _interrupts(stopper):
            yield Watch(tell, stopper)


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
