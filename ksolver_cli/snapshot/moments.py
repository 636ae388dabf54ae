"""Inputs that show one cluster at several times: which belong together, and which of them is the newest."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

from ksolver_cli.snapshot.model import Snapshot, SnapshotError
from ksolver_cli.snapshot.read import Part, read_parts
from ksolver_cli.snapshot.spool import many_objects

_ONE_CLUSTER = "give snapshots of one cluster, or one snapshot at a time"
_OWN = "put what belongs to one time into a directory of its own, and give the directories"
_WHOLE = ("nodes", "pods")


@dataclass(frozen=True)
class Moment:
    """The cluster as one input shows it. `source` is the file or directory as it was given."""

    source: str
    snapshot: Snapshot
    again: tuple[str, ...] = ()
    """Other inputs that hold the very same."""


def read_moments(paths: Sequence[str | Path]) -> tuple[Moment, ...]:
    """The cluster at each time that the inputs show, the newest first; what is the same twice counts once.

    Each of our own snapshots is a time of its own. Lists are pieces of one picture, unless several have both nodes and
    pods, of the same nodes and the same namespaces. A directory is looked at by itself first. The newest is the one
    collected last; where any does not say when it was collected, the one given last. Raises SnapshotError where an
    input cannot be read, where it is not clear what belongs together, and where not all can be the same cluster.
    """
    with many_objects():
        groups = _apart([group for path in paths for group in _groups_of(path)])
        if len(groups) == 1:
            groups[0].where = ", ".join(map(str, paths))
        moments = [Moment(group.where, group.finished(group.where)) for group in groups]
    newest_first = _once(_by_time(moments))
    for moment in newest_first[1:]:
        _expect_same_cluster(newest_first[0], moment)
    return newest_first


def _groups_of(path: str | Path) -> list[Part]:
    groups = _apart(list(read_parts(path)))
    if len(groups) == 1:
        groups[0].where = str(path)
    return groups


def _apart(parts: list[Part]) -> list[Part]:
    """All parts as one picture; or, where some show the same at different times, each such by itself.

    Then nothing else may be among them: it would not be clear what it belongs to.
    """
    wholes = [part for part in parts if part.own or all(kind in part.objects for kind in _WHOLE)]
    seen = [_Seen.of(part) for part in wholes]
    pairs = list(combinations(seen, 2))
    if not any(one.repeats(other) for one, other in pairs):
        return [_merged(parts)]
    apart = next((other for one, other in pairs if not one.repeats(other)), None)
    pieces = [part for part in parts if part not in wholes]
    lost = next((piece.where for piece in pieces if piece.objects), apart.where if apart else "")
    if lost:
        times = [part.where for part in wholes if part.where != lost][:2]
        raise SnapshotError(f"{lost}: may belong to any of several times ({', '.join(times)}, …)", _OWN)
    for whole in wholes:
        for piece in pieces:
            whole.add(piece)
    return wholes


@dataclass(frozen=True)
class _Seen:
    """What a part shows, to tell whether another shows the same again."""

    where: str
    own: bool
    nodes: frozenset[str]
    namespaces: frozenset[str]

    @classmethod
    def of(cls, part: Part) -> "_Seen":
        namespaces = _names(part.objects.get("pods", ()), "namespace")
        return cls(part.where, bool(part.own), _names(part.objects.get("nodes", ())), namespaces)

    def repeats(self, other: "_Seen") -> bool:
        """Whether both show the same nodes and the same namespaces; our own snapshots always do."""
        if self.own and other.own:
            return True
        return not (self.namespaces.isdisjoint(other.namespaces) or self.nodes.isdisjoint(other.nodes))


def _merged(parts: Iterable[Part]) -> Part:
    whole = Part()
    for part in parts:
        whole.add(part)
    return whole


def _names(objects: Iterable[object], field: str = "name") -> frozenset[str]:
    metadata = (entry.get("metadata") for entry in objects if isinstance(entry, dict))
    names = (entry.get(field) for entry in metadata if isinstance(entry, dict))
    return frozenset(name for name in names if isinstance(name, str))


def _by_time(moments: list[Moment]) -> list[Moment]:
    """The newest first; of equal times, and where any is unknown, the one given last."""
    given_last_first = moments[::-1]
    times = [_time(moment.snapshot.collected_at) for moment in given_last_first]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return given_last_first
    order = sorted(range(len(known)), key=lambda index: known[index], reverse=True)
    return [given_last_first[index] for index in order]


def _time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _once(moments: Iterable[Moment]) -> tuple[Moment, ...]:
    kept: list[Moment] = []
    for moment in moments:
        same = next((i for i, other in enumerate(kept) if other.snapshot == moment.snapshot), None)
        if same is None:
            kept.append(moment)
        else:
            kept[same] = replace(kept[same], again=(*kept[same].again, moment.source))
    return tuple(kept)


def _expect_same_cluster(newest: Moment, other: Moment) -> None:
    """By the UID of the namespace kube-system where both have it, else by name; and they must share nodes."""
    for moment in (newest, other):
        redaction = moment.snapshot.extras.get("redaction")
        if isinstance(redaction, dict) and redaction.get("anonymous") is True:
            what = f"{moment.source}: is anonymous: its names are its own, so nothing in it can be found in another"
            raise SnapshotError(what, "give the snapshots as they were before --anonymize")
    ids = _cluster_id(newest.snapshot), _cluster_id(other.snapshot)
    names = newest.snapshot.cluster_name, other.snapshot.cluster_name
    if all(ids):
        if ids[0] != ids[1]:
            raise SnapshotError(f"{other.source}: is of another cluster than {newest.source} (by UID)", _ONE_CLUSTER)
    elif all(names) and names[0] != names[1]:
        what = f"{other.source}: is of cluster {names[1]}, and {newest.source} of cluster {names[0]}"
        raise SnapshotError(what, _ONE_CLUSTER)
    nodes = [_names(moment.snapshot.objects.get("nodes", ())) for moment in (newest, other)]
    if not nodes[0] & nodes[1]:
        raise SnapshotError(f"{other.source}: has no node in common with {newest.source}, the newest", _ONE_CLUSTER)


def _cluster_id(snapshot: Snapshot) -> str:
    for entry in snapshot.objects.get("namespaces", ()):
        metadata = entry.get("metadata")
        if isinstance(metadata, dict) and metadata.get("name") == "kube-system":
            return str(metadata.get("uid") or "")
    return ""
