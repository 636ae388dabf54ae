"""The waterfall: nested steps from the current cost to the floor; they sum exactly."""

from dataclasses import dataclass
from enum import StrEnum

from ksolver_cli.domain.plan import Interval, Proof


class StepKind(StrEnum):
    """The steps, in their order."""

    CONSOLIDATION = "consolidation"
    STEERING = "steering"
    RIGHTSIZING = "rightsizing"
    RELAXATION = "relaxation"


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `saving.at_least_micros` is exactly `before − after`; None where nothing was measured, with the
    reason.
    """

    kind: StepKind
    before_micros: int
    after_micros: int
    saving: Interval | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Micro-units of the currency an hour. `floor_micros` is what is left after the last step; `bound_micros` is
    proven:
    nothing can cost less, with or without the constraints that the last step dropped.
    """

    current_micros: int
    steps: tuple[Step, ...]
    floor_micros: int
    bound_micros: int


@dataclass(frozen=True, slots=True)
class ThreeNumbers:
    """Floor (proven bound under today's constraints), repack potential (best placement found) and drain plan (as
    replayed).
    """

    floor_micros: int
    repack_micros: int
    drain_micros: int
    realised_share: float | None
    """(cost now − drain plan) ÷ (cost now − floor); None when there is nothing to realise."""
    repack: Proof
    repack_moves: int
    drain_moves: int
    movable_pods: int
