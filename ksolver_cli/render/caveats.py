"""Caveats and gaps in words."""

from collections.abc import Sequence

from ksolver_cli.domain.cluster import Caveat, CaveatKind, Gap
from ksolver_cli.render.safe import plain

WORDS: dict[CaveatKind, str] = {
    CaveatKind.FOREIGN_SCHEDULER: "placed by another scheduler, left where it is",
    CaveatKind.UNMODELLED: "not modelled, left where it is",
    CaveatKind.BAD_OBJECT: "cannot be read and was left out",
    CaveatKind.NODE_MISSING: "bound to a node that the input does not hold",
    CaveatKind.OVERCOMMITTED_NODE: "more is requested than the node can allocate",
    CaveatKind.VIRTUAL_NODE: "virtual node, left out of packing",
    CaveatKind.IMAGE_ARCH_UNKNOWN: "the image's architecture is unknown",
    CaveatKind.SHARED_GPU: "GPU shared between pods, not isolated",
    CaveatKind.NOT_READY: "node is not ready",
    CaveatKind.OTHER: "note",
}
SHOWN_OBJECTS = 5


def _objects(names: Sequence[str]) -> str:
    shown = ", ".join(plain(name) for name in names[:SHOWN_OBJECTS])
    rest = len(names) - SHOWN_OBJECTS
    return f"{shown} and {rest} more" if rest > 0 else shown


def caveat_words(caveat: Caveat) -> str:
    """One caveat on one line, with the first objects it touches."""
    objects = f": {_objects(caveat.objects)}" if caveat.objects else ""
    words = "" if caveat.kind is CaveatKind.OTHER else f"{WORDS[caveat.kind]}: "
    return f"caveat: {words}{plain(caveat.detail)}{objects}"


def gap_words(gap: Gap) -> str:
    """One gap on one line: what could not be seen, where, and why."""
    where = f" in {plain(gap.object)}" if gap.object else ""
    return f"gap: {plain(gap.kind)}{where}: {plain(gap.reason)}"
