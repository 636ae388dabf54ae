"""A progress bar over pairs, and Ctrl-C that ends the comparison with a report of what is known."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ksolver_cli.cli.common.interrupts import Stopper
from ksolver_cli.conform.run import Watch


@contextlib.contextmanager
def watching() -> Iterator[Watch]:
    """A watch for the comparison. Nothing is drawn when stderr is not a terminal."""
    stopper = Stopper("the report so far")
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (TextColumn("comparing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(done: int, planned: int) -> None:
            bar.update(task, completed=done, total=planned)

        with stopper.catching():
            yield Watch(tell, stopper)
