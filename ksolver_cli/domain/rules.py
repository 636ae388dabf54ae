"""The small vocabulary in which constraint families tell every solver what they demand of counts.

Pod classes are named by their index in `Classes.pods`; topology domains by the value of a node label key.
Each rule names the family and the object it came from, so that an explanation can drop exactly one and look.
"""

from dataclasses import dataclass

from ksolver_cli.domain.verdict import Family, ObjectRef


@dataclass(frozen=True, slots=True)
class RuleSource:
    """Where a rule comes from."""

    family: Family
    source: ObjectRef


@dataclass(frozen=True, slots=True)
class CapPerDomain:
    """In each domain of `key` at most `limit` pods of `members` (hostname anti-affinity with itself, host port: limit
    1).

    A domain that already holds more keeps them: the rule binds pods that move, not those that stay.
    """

    source: RuleSource
    key: str
    members: frozenset[int]
    limit: int = 1


@dataclass(frozen=True, slots=True)
class Exclude:
    """No domain of `key` holds pods of both sides (anti-affinity against others, in either direction; disk or port
    conflicts).
    """

    source: RuleSource
    key: str
    left: frozenset[int]
    right: frozenset[int]


@dataclass(frozen=True, slots=True)
class Require:
    """A pod of `dependents` needs, in its domain of `key`, a pod of `anchors` (required pod affinity).

    `self_start`: a dependent matches itself, so the first one may start an empty group when no anchor exists anywhere.
    """

    source: RuleSource
    key: str
    dependents: frozenset[int]
    anchors: frozenset[int]
    self_start: bool = False


@dataclass(frozen=True, slots=True)
class Spread:
    """topologySpreadConstraint with DoNotSchedule of the pods of `movers`; `counted` are the classes its selector
    counts.

    `eligible` holds the node classes whose domains count for it (its own node affinity, and taints when honoured).
    """

    source: RuleSource
    key: str
    movers: frozenset[int]
    counted: frozenset[int]
    max_skew: int
    min_domains: int | None
    eligible: frozenset[int]
    self_match: bool = True


@dataclass(frozen=True, slots=True)
class Gang:
    """Pods that must share one node or move as one group (a shared node-bound claim)."""

    source: RuleSource
    key: str
    members: frozenset[int]


Rule = CapPerDomain | Exclude | Require | Spread | Gang
