"""Where our verdicts are known to differ from the scheduler's, so that a random run does not fail on it again.

Each entry is on the conformance page. An entry is a debt: it goes when the family is put right.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Divergence:
    """Worlds in which one family may differ, in these versions."""

    family: str
    versions: tuple[str, ...]
    what: str
    concerns: Callable[[Json], bool]


def _distinct_among_alternatives(world: Json) -> bool:
    for claim in world.get("resourceclaims", ()):
        devices = claim["spec"].get("devices", {})
        distinct = any("distinctAttribute" in constraint for constraint in devices.get("constraints", ()))
        if distinct and any("firstAvailable" in request for request in devices.get("requests", ())):
            return True
    return False


DIVERGENCES = (
    Divergence(
        "DynamicResources",
        ("1.34",),
        "a claim with `distinctAttribute` over a request with alternatives (`firstAvailable`), one of them for all "
        "devices: the scheduler may allocate where we see an error",
        _distinct_among_alternatives,
    ),
)


def known(world: Json, version: str) -> frozenset[str]:
    """Families that may differ in this world."""
    return frozenset(d.family for d in DIVERGENCES if version in d.versions and d.concerns(world))
