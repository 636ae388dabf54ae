"""The guard over a search: a clock and an interrupt, and which of them struck."""

from collections.abc import Callable
from time import monotonic


class Clock:
    """Says when to stop; work limits end a search before it does, unless the machine is slow."""

    def __init__(self, seconds: float, interrupted: Callable[[], bool]) -> None:
        self._end = monotonic() + seconds
        self._interrupted = interrupted
        self._struck: str | None = None
        self._cut_short = False

    @property
    def struck(self) -> str | None:
        """What ended the search early, `interrupt` or `time`; `time` too where only a step of it was cut short."""
        return self._struck or ("time" if self._cut_short else None)

    def is_over(self) -> bool:
        """Whether the time is up or the user wants an end; once so, always so."""
        if self._struck is None:
            self._struck = "interrupt" if self._interrupted() else "time" if monotonic() > self._end else None
        return self._struck is not None

    def note_cut_short(self) -> None:
        """A step had a share of the time and needed more: the search goes on, but another run may end elsewhere."""
        self._cut_short = True

    def left(self) -> float:
        """Seconds until the time is up, never below 0."""
        return max(0.0, self._end - monotonic())
