"""What a solve gives back: a placement, and how far it is proven."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic

from ksolver_cli.domain.plan import Limits, Placement, Proof

Interrupted = Callable[[], bool]
"""Polled between steps; True makes the solver return the best it has."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Told whenever bound or placement improve. Costs in micro-dollars an hour."""

    phase: str
    cost_micros: int
    bound_micros: int


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class ComponentResult:
    """One connected component: node and pod counts, and its share of cost and bound."""

    nodes: int
    pods: int
    cost_micros: int
    bound_micros: int
    certificate_micros: int
    """The LP bound as recomputed from the duals; `bound_micros` may exceed it by a class MIP or an exact search."""
    method: str


@dataclass(frozen=True)
class Solution:
    """The cheapest placement found. `node_of` names a node for every bound pod and every pending pod that is demand."""

    node_of: Mapping[str, str]
    removed: tuple[str, ...]
    proof: Proof
    moved: int
    move_weight: int
    components: tuple[ComponentResult, ...] = field(default=())

    @property
    def placement(self) -> Placement:
        """The same as the domain's noun."""
        return Placement(node_of=self.node_of, removed=self.removed)


def never() -> bool:
    """An `Interrupted` that never strikes."""
    return False


def silent(progress: Progress) -> None:
    """An `OnProgress` that tells nobody."""


@dataclass(frozen=True, slots=True)
class Run:
    """Limits and callbacks of one solve, handed down together. The clock only guards; work is what is counted."""

    limits: Limits
    interrupted: Interrupted = never
    on_progress: OnProgress = silent
    started: float = field(default_factory=monotonic)
    _struck: list[str] = field(default_factory=list)

    def note_time(self) -> None:
        """Some step was ended by the clock before its work was done."""
        self._struck.append("time")

    @property
    def cut_short(self) -> bool:
        """Whether the clock ended some step."""
        return bool(self._struck)

    def limited_by(self) -> str | None:
        """What ended the run or any step of it early: `interrupt`, `time`, or None where only work did."""
        return self.stopped_by() or ("time" if self._struck else None)

    def left(self) -> float:
        """Seconds until the guard strikes, never below 0."""
        return max(0.0, self.limits.seconds - (monotonic() - self.started))

    def stopped_by(self) -> str | None:
        """`interrupt` or `time` if either struck, else None."""
        if self.interrupted():
            return "interrupt"
        return "time" if self.left() <= 0 else None

    def stopped(self) -> bool:
        """Whether to wind up."""
        return self.stopped_by() is not None

    def work(self, amount: int) -> int:
        """A work limit scaled by the effort asked for, at least 1."""
        return max(1, int(amount * self.limits.effort))
