"""A progress bar for each kind that is read, on stderr, and only on a terminal."""

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ksolver_cli.collect.live import Progress as Report


@contextlib.contextmanager
def reading_bars() -> Iterator[Report]:
    """Yield whom the reader tells how far it is; finished kinds leave the screen, so that it never overflows."""
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:

        def tell(kind: str, done: int, total: int | None) -> None:
            if kind not in tasks:
                tasks[kind] = bar.add_task(kind, total=total)
            bar.update(tasks[kind], completed=done, total=total, visible=done != total)

        yield tell
