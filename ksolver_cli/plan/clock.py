"""The guard over a search: a clock and an interrupt, and which of them struck."""

from collections.abc import Callable
from time import monotonic


class Clock:
    """Says when to stop; work limits end a search before it does, unless the machine is slow."""

    def __init__(self, seconds: float, interrupted: Callable[[], bool]) -> None:
        self._end = monotonic() + seconds
        self._interrupted = interrupted
        self.struck: str | None = None

    def is_over(self) -> bool:
        """Whether the time is up or the user wants an end; once so, always so."""
        if self.struck is None:
            self.struck = "interrupt" if self._interrupted() else "time" if monotonic() > self._end else None
        return self.struck is not None

    def left(self) -> float:
        """Seconds until the time is up, never below 0."""
        return max(0.0, self._end - monotonic())
