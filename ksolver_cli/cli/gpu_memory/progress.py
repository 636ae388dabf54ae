"""What is being done, on stderr, while a server is asked; nothing where stderr is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ksolver_cli.cli.common.exits import one_line
from ksolver_cli.collect.prometheus_answer import Answer
from ksolver_cli.vram.dcgm.reading import Asks

Tell = Callable[[str], None]
_SHOWN = 50


@contextmanager
def telling() -> Iterator[Tell]:
    """Yield a function that says what is being done now; how much is left is not known, so that no bar fills."""
    console = Console(stderr=True, markup=False, emoji=False)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)
        yield lambda what: bar.update(task, description=what)


@dataclass(frozen=True)
class Told:
    """Whoever is asked, telling each question first."""

    asked: Asks
    tell: Tell

    def query(self, promql: str, at: float | None = None) -> Answer:
        """Return the answer; raises PrometheusError."""
        self.tell(f"asking Prometheus: {one_line(promql)[:_SHOWN]}")
        return self.asked.query(promql, at)
