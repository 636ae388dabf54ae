"""Answers: proofs, intervals, placements, drain plans and what the referee says of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ksolver_cli.domain.verdict import Rejection, Unknown


class Status(StrEnum):
    """How a solve ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a solve may spend. Work is counted, not timed, so that equal input gives equal output; `seconds` is only a
    guard.
    """

    seed: int = 0
    workers: int = 2
    seconds: float = 60.0
    effort: float = 1.0
    """Scales every work limit; 1.0 is the default budget."""


@dataclass(frozen=True, slots=True)
class Proof:
    """Travels with every number a solver gives. Costs in micro-dollars an hour; `bound` is never above the true
    optimum.
    """

    status: Status
    cost_micros: int
    bound_micros: int
    limits: Limits
    limited_by: str | None = None
    """`time`, `work`, `interrupt`, or None when the search ended by itself."""

    @property
    def gap(self) -> float:
        """Cost ÷ bound − 1; 0 when both are 0, infinite when only the bound is."""
        if self.bound_micros <= 0:
            return 0.0 if self.cost_micros <= 0 else float("inf")
        return self.cost_micros / self.bound_micros - 1


@dataclass(frozen=True, slots=True)
class Interval:
    """A saving in micro-units of the currency an hour: `at_least_micros` is judged by the referee, `at_most_micros`
    is proven by a bound.
    """

    at_least_micros: int
    at_most_micros: int


@dataclass(frozen=True, slots=True)
class Move:
    """One pod leaves `source` and comes back on `target`. Pods are named `namespace/name` as before the move."""

    pod: str
    source: str
    target: str


@dataclass(frozen=True)
class Placement:
    """Where every bound pod ends (by pod key), and the nodes that end empty and are removed."""

    node_of: Mapping[str, str]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Eviction:
    """Evict this pod from this node."""

    pod: str
    node: str


@dataclass(frozen=True)
class Wave:
    """Nodes cordoned together, pods evicted in this order, nodes removed at the end.

    A wave that is `alone` cordons its nodes only when it begins, and its pods may wait until its nodes are removed:
    with hard spread over hosts they have to, since a cordoned node stays a domain. Its evictions are those of the
    reference replay; what has come to its nodes by then leaves them too.
    """

    nodes: tuple[str, ...]
    evictions: tuple[Eviction, ...]
    steps: tuple[int, ...] = ()
    """Sizes of the groups into which the evictions fall: inside one the order is free (`kubectl drain` evicts in an
    order of its own), between them it is not. Empty: one by one.
    """
    alone: bool = False


@dataclass(frozen=True)
class DrainPlan:
    """A drain plan as searched: cordon everything first, evict in global order, remove wave by wave; then the waves
    that are `alone`, each with its own cordon. Costs in micro-dollars an hour.
    """

    waves: tuple[Wave, ...]
    cost_before_micros: int
    cost_after_micros: int
    moves: tuple[Move, ...] = ()
    """Where pods went in the reference replay, in its order; the cluster's scheduler chooses, so other runs may differ.
    A pod has several where waves that are alone move it again.
    """
    replays: int = 0
    """Replays (exact and jittered) in which no pod pended."""
    notes: tuple[str, ...] = field(default=())

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node removed, in order."""
        return tuple(n for w in self.waves for n in w.nodes)

    @property
    def evictions(self) -> int:
        """Pods evicted, one that moves twice counted twice."""
        return sum(len(w.evictions) for w in self.waves)

    @property
    def cordoned_first(self) -> tuple[str, ...]:
        """Nodes that are cordoned before the first eviction."""
        return tuple(n for w in self.waves if not w.alone for n in w.nodes)


class FaultKind(StrEnum):
    """What the referee can find wrong with a plan."""

    REJECTED = "rejected"
    UNKNOWN = "unknown"
    PENDING = "pending"
    BUDGET = "budget"
    NOT_EVICTABLE = "not-evictable"
    NODE_NOT_EMPTY = "node-not-empty"
    UNKNOWN_OBJECT = "unknown-object"
    COST = "cost"


@dataclass(frozen=True)
class Fault:
    """One objection: the step it came at (0-based, −1 for the end state), the pod and node, and the family verdicts."""

    kind: FaultKind
    step: int
    pod: str = ""
    node: str = ""
    verdicts: tuple[Rejection | Unknown, ...] = ()
    detail: str = ""


@dataclass(frozen=True)
class Judgement:
    """The referee's word on a plan; accepted only with no fault at all. Cost re-added from the nodes that are left."""

    faults: tuple[Fault, ...]
    cost_after_micros: int | None
    steps: int

    @property
    def accepted(self) -> bool:
        """Whether every step and the end state hold."""
        return not self.faults
