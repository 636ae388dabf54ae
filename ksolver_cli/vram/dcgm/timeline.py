"""When there were samples: runs without gaps, time covered, and whether two owners held a card at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

Run = tuple[float, float]

_GAP_FACTOR = 2.5
_SMALLEST_GAP_SECONDS = 5.0


def runs(times: Sequence[float]) -> list[Run]:
    """Return one series' stretches without a gap, in order; a gap is over two and a half times the usual step."""
    ordered = sorted(set(times))
    if not ordered:
        return []
    steps = [later - earlier for earlier, later in pairwise(ordered)]
    longest = max(_SMALLEST_GAP_SECONDS, _GAP_FACTOR * median(steps)) if steps else 0.0
    found = [(ordered[0], ordered[0])]
    for moment in ordered[1:]:
        start, end = found[-1]
        if moment - end > longest:
            found.append((moment, moment))
        else:
            found[-1] = (start, moment)
    return found


@dataclass
class Presence:
    """The moments and runs of all series that tell of one thing; two replicas of a server tell of it twice."""

    times: set[float] = field(default_factory=set)
    runs: list[Run] = field(default_factory=list)

    def add(self, times: Iterable[float]) -> None:
        """Take in the sample times of one series."""
        moments = list(times)
        self.times.update(moments)
        self.runs.extend(runs(moments))

    def covered_seconds(self) -> float:
        """Return how long there were samples; time inside gaps is unknown and does not count."""
        total, reached = 0.0, float("-inf")
        for start, end in sorted(self.runs):
            total += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        return total

    def at_once_with(self, other: "Presence") -> bool:
        """Tell whether two owners of a device had it at the same time.

        Two samples of one inside a run of the other are needed (one, when there are no more): two servers scrape at
        slightly different moments, so that owners who follow each other may seem to touch.
        """
        return _inside(self.times, other.runs) or _inside(other.times, self.runs)


def _inside(times: set[float], stretches: Sequence[Run]) -> bool:
    inside = sum(any(start <= moment <= end for start, end in stretches) for moment in times)
    return inside >= min(2, len(times)) > 0
