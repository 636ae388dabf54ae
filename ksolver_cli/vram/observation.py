"""One observation: the measured peak GPU memory of one pod, as one JSON line."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace

import orjson

from ksolver_cli.domain.gpu_workload.raw import RawObject, mapping, text

SCHEMA = "ksolver.vram/1"
_SCHEMA_FAMILY, _, _SCHEMA_MAJOR = SCHEMA.partition("/")
_LARGEST_PEAK_MIB = 16 * 1024 * 1024

Identity = tuple[str, ...]


@dataclass(frozen=True)
class Observation:
    """A pod's measured peak on its fullest card, in MiB; everything but the first three may be unknown (None)."""

    image: str
    command_hash: str
    peak_mib: int
    observed_at: str | None = None
    window: str | None = None
    namespace: str | None = None
    pod: str | None = None
    workload: str | None = None
    pod_uid: str | None = None
    gpu_model: str | None = None
    gpu_count: int | None = None
    mig_profile: str | None = None
    shared: bool = False
    capacity_mib: int | None = None
    samples: int | None = None
    oom: bool | None = None
    hints: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The fingerprint key, `image|hash`."""
        return f"{self.image}|{self.command_hash}"

    @property
    def identity(self) -> Identity | None:
        """What makes two lines speak of the same pod; None for the short form, where each line stands alone."""
        if self.pod_uid:
            return ("uid", self.pod_uid, self.image, self.command_hash)
        if self.namespace and self.pod:
            return ("pod", self.namespace, self.pod, self.image, self.command_hash)
        return None


class BadLine(ValueError):  # noqa: N818 - reads as what it is in `except BadLine`
    """A line of the store that is no observation; the message says why."""


def to_line(observation: Observation) -> bytes:
    """Return the observation as one JSON line with its newline; unknown facts are null."""
    document = {"schema": SCHEMA} | {entry.name: getattr(observation, entry.name) for entry in fields(Observation)}
    document["hints"] = dict(observation.hints)
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)


def from_line(line: bytes) -> Observation:
    """Return the observation of a line; raises BadLine.

    Needs `image`, `command_hash` and `peak_mib` alone. Fields it does not know are passed over; fields of a wrong
    type read as unknown, for the measurement is still true.
    """
    found = _document(line)
    image, command_hash = text(found.get("image")), text(found.get("command_hash"))
    if image is None or command_hash is None:
        raise BadLine("image or command_hash is missing")
    return Observation(
        image=image,
        command_hash=command_hash,
        peak_mib=_peak(found.get("peak_mib")),
        observed_at=text(found.get("observed_at")),
        window=text(found.get("window")),
        namespace=text(found.get("namespace")),
        pod=text(found.get("pod")),
        workload=text(found.get("workload")),
        pod_uid=text(found.get("pod_uid")),
        gpu_model=text(found.get("gpu_model")),
        gpu_count=_count(found.get("gpu_count")),
        mig_profile=text(found.get("mig_profile")),
        shared=found.get("shared") is True,
        capacity_mib=_count(found.get("capacity_mib")),
        samples=_count(found.get("samples")),
        oom=_flag(found.get("oom")),
        hints=_hints(found.get("hints")),
    )


def _document(line: bytes) -> RawObject:
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadLine("not a whole JSON object") from error
    if not isinstance(document, dict):
        raise BadLine("not a JSON object")
    family, _, major = str(document.get("schema", SCHEMA)).partition("/")
    if family != _SCHEMA_FAMILY or major.partition(".")[0] != _SCHEMA_MAJOR:
        raise BadLine(f"schema is not {SCHEMA}")
    return mapping(document)


def _peak(value: object) -> int:
    # JSON `true` is an int to Python.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadLine("peak_mib is not a number")
    if not math.isfinite(value) or not 0 < value <= _LARGEST_PEAK_MIB:
        raise BadLine("peak_mib is not a possible amount of memory")
    return math.ceil(value)


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _hints(value: object) -> dict[str, float]:
    return {name: float(hint) for name, hint in mapping(value).items() if isinstance(hint, int | float)}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def merge(old: Observation, new: Observation) -> Observation:
    """Return what two lines about one pod say together: the higher peak; sharing and an OOM once seen stay seen."""
    # A tie goes to the older line, so that merging the same line again changes nothing.
    higher, lower = (new, old) if new.peak_mib > old.peak_mib else (old, new)
    oom = None if old.oom is None and new.oom is None else bool(old.oom or new.oom)
    return replace(
        higher,
        shared=old.shared or new.shared,
        oom=oom,
        capacity_mib=higher.capacity_mib or lower.capacity_mib,
        hints=higher.hints or lower.hints,
    )


def adds_to(old: Observation, new: Observation) -> bool:
    """Tell whether a line would change what is known about its pod: a higher peak, new sharing or a new OOM."""
    return new.peak_mib > old.peak_mib or (new.shared and not old.shared) or (new.oom is True and old.oom is not True)


def collapse(observations: Iterable[Observation]) -> list[Observation]:
    """Return one observation a pod, in order of first mention; lines without identity stand as they are."""
    by_pod: dict[Identity | int, Observation] = {}
    for number, observation in enumerate(observations):
        key = observation.identity or number
        by_pod[key] = merge(by_pod[key], observation) if key in by_pod else observation
    return list(by_pod.values())
