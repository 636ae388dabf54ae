"""Compact histograms with geometric buckets: a percentile read from one is off by less than one part in twenty."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

RATIO = 1.05
CPU_FIRST_MILLICORES = 1.0
MEMORY_FIRST_BYTES = 1_000_000.0

_LOG_RATIO = math.log(RATIO)


def bucket_of(value: float, first: float) -> int:
    """Return 0 for values below `first`, and i for those from `first × RATIO^(i-1)` up to `first × RATIO^i`."""
    if value < first:
        return 0
    found = 1 + int(math.log(value / first) / _LOG_RATIO)
    # The logarithm may be off by a hair at a bound.
    while value >= first * RATIO**found:
        found += 1
    while found > 1 and value < first * RATIO ** (found - 1):
        found -= 1
    return found


@dataclass
class Histogram:
    """Counts of samples by bucket, and the highest value exactly. Negative and infinite values are passed over."""

    first: float
    samples: int = 0
    highest: float = 0.0
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, values: Iterable[float]) -> None:
        """Count values."""
        for value in values:
            if value < 0 or not math.isfinite(value):
                continue
            self.samples += 1
            self.highest = max(self.highest, value)
            bucket = bucket_of(value, self.first)
            self.counts[bucket] = self.counts.get(bucket, 0) + 1

    def record(self, highest_name: str) -> dict[str, object]:
        """Return what a snapshot holds of it; the highest value is rounded up to a whole unit."""
        buckets = [[bucket, self.counts[bucket]] for bucket in sorted(self.counts)]
        return {"samples": self.samples, highest_name: math.ceil(self.highest), "buckets": buckets}
