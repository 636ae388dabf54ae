"""What `extras` of a snapshot holds beside objects: usage history."""

from ksolver_cli.snapshot.shape.vocabulary import NAME, WORDS, Each, Record, public

_BUCKETS = Each(WORDS)
_SERIES = Record(public("samples", "max_millicores", "max_bytes"), buckets=_BUCKETS)
_CONTAINER = Record(
    public("kind", "pods", "restarts", "oom_kills", "first", "last"),
    namespace=NAME,
    name=NAME,
    container=NAME,
    cpu=_SERIES,
    memory=_SERIES,
)
USAGE = Record(
    public("source", "point_in_time", "start", "end", "step_seconds", "cpu_first_millicores", "memory_first_bytes")
    | public("bucket_ratio", "unattributed_series"),
    missing=Each(Record(public("series", "reason"))),
    containers=Each(_CONTAINER),
)
"""CPU in millicores, memory in bytes. A bucket is [number, samples]: number 0 holds values below the first bound,
number i those from `first × ratio^(i-1)` up to, not including, `first × ratio^i`.
"""

EXTRAS = Record(usage=USAGE, redaction=Record(public("anonymous"), kept_labels=WORDS))
