"""The waterfall and the three numbers, from nested solves."""

from dataclasses import dataclass

from ksolver_cli.domain.plan import Interval, Proof
from ksolver_cli.domain.report.waterfall import Step, StepKind, ThreeNumbers, Waterfall

NO_HISTORY = "no usage history in the input"


@dataclass(frozen=True, slots=True)
class Found:
    """What the solves found, in micro-units of the currency an hour.

    `repack` and `relaxed` carry the cost of a placement that the referee accepted, or of the step before where it
    did not; their bounds hold either way.
    """

    current: int
    drain: int
    repack: Proof
    relaxed: Proof


def waterfall(found: Found) -> Waterfall:
    """Steps that nest: each starts where the one before ended, so that they sum exactly to `current − floor`."""
    bound = found.repack.bound_micros
    lowest = min(bound, found.relaxed.bound_micros)
    steered = min(found.drain, found.repack.cost_micros)
    floor = min(steered, found.relaxed.cost_micros)
    steps = (
        _step(StepKind.CONSOLIDATION, found.current, found.drain, bound),
        _step(StepKind.STEERING, found.drain, steered, bound),
        Step(StepKind.RIGHTSIZING, steered, steered, None, NO_HISTORY),
        _step(StepKind.RELAXATION, steered, floor, lowest),
    )
    return Waterfall(found.current, steps, floor, lowest)


def _step(kind: StepKind, before: int, after: int, bound: int) -> Step:
    return Step(kind, before, after, Interval(before - after, max(before - after, before - bound)))


@dataclass(frozen=True, slots=True)
class Moves:
    """How many pods could move, and how many do in the best placement and in the drain plan."""

    movable: int
    repack: int
    drain: int


def three_numbers(found: Found, moves: Moves) -> ThreeNumbers:
    """Floor, repack potential and drain plan side by side."""
    room = found.current - found.repack.bound_micros
    return ThreeNumbers(
        floor_micros=found.repack.bound_micros,
        repack_micros=min(found.drain, found.repack.cost_micros),
        drain_micros=found.drain,
        realised_share=(found.current - found.drain) / room if room > 0 else None,
        repack=found.repack,
        repack_moves=moves.repack,
        drain_moves=moves.drain,
        movable_pods=moves.movable,
    )
