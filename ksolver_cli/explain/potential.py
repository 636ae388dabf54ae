"""What a perfect repacking could reach, with today's constraints and without them."""

from dataclasses import dataclass

from ksolver_cli.domain.plan import Proof


@dataclass(frozen=True, slots=True)
class Potential:
    """Proofs of two solves: today's constraints in force, and every droppable one dropped. A cost counts only where the
    referee accepted the placement; otherwise it is the cost of the step before.
    """

    repack: Proof
    relaxed: Proof
    repack_moves: int
    limited_by: str | None
