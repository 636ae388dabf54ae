"""A progress bar on stderr, and Ctrl-C that asks for the best answer so far."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ksolver_cli.cli.common.interrupts import Stopper
from ksolver_cli.pipeline import Watch


@contextlib.contextmanager
def watching(seconds: float) -> Iterator[Watch]:
    """A watch for the pipeline. Nothing is drawn when stderr is not a terminal."""
    stopper = Stopper("the best plan so far", seconds)
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)

        def tell(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        with stopper.catching():
            yield Watch(tell, stopper, stopper.asked)
