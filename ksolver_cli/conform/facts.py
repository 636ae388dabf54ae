"""The facts of a comparison: pairs, buckets, counts, and what the gate says."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from ksolver_cli.collect.schedulers.exchange import Answer, Said
from ksolver_cli.conform.ours import Judged


class Outcome(StrEnum):
    """Two verdicts side by side. A false positive is a pair that we allow and the scheduler refuses."""

    AGREE = "agree"
    FALSE_POSITIVE = "false_positive"
    FALSE_NEGATIVE = "false_negative"
    NO_ANSWER = "no_answer"


LISTED = (Outcome.FALSE_POSITIVE, Outcome.FALSE_NEGATIVE, Outcome.NO_ANSWER)
"""Outcomes that are listed pair by pair, in this order."""


class Gate(StrEnum):
    """Whether strict pairs agree; empty when too few were answered to say."""

    PASS = "pass"  # noqa: S105 - a verdict, no password
    FAIL = "fail"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Pair:
    """One pod and one node with both verdicts. `expected` are the reasons to excuse a difference; none is strict."""

    pod: str
    node: str
    ours: Judged
    theirs: Answer
    expected: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """How the verdicts compare; no answer of either side is no answer."""
        if self.theirs.said is Said.NO_ANSWER or self.ours.unsure:
            return Outcome.NO_ANSWER
        passes = self.theirs.said is Said.PASS
        if passes != self.ours.rejects:
            return Outcome.AGREE
        return Outcome.FALSE_NEGATIVE if passes else Outcome.FALSE_POSITIVE


@dataclass(slots=True)
class Bucket:
    """Counts by outcome, and the pairs that do not agree."""

    counts: dict[Outcome, int] = field(default_factory=lambda: dict.fromkeys(Outcome, 0))
    listed: list[Pair] = field(default_factory=list)

    def add(self, pair: Pair) -> None:
        """Count the pair; keep it unless it agrees."""
        self.counts[pair.outcome] += 1
        if pair.outcome is not Outcome.AGREE:
            self.listed.append(pair)

    @property
    def answered(self) -> int:
        """Pairs with a verdict on both sides."""
        return sum(self.counts.values()) - self.counts[Outcome.NO_ANSWER]

    @property
    def mismatches(self) -> tuple[Pair, ...]:
        """Pairs that do not agree: false positives, then false negatives, then those without an answer."""
        return tuple(sorted(self.listed, key=lambda pair: (LISTED.index(pair.outcome), pair.pod, pair.node)))


@dataclass(frozen=True, slots=True)
class Asked:
    """Which scheduler was asked, and as which Kubernetes version our families judged."""

    source: str
    version: str
    judged_as: str


@dataclass(slots=True)
class Comparison:
    """Everything a report of the comparison says; it is filled pair by pair, so that it can end at any time."""

    asked: Asked
    nodes_total: int
    nodes_chosen: int
    cordoned: int
    pods_chosen: int
    pods_total: int
    min_pairs: int = 1
    unreadable: tuple[str, ...] = ()
    """Objects of the snapshot that could not be read, and so were not compared."""
    strict: Bucket = field(default_factory=Bucket)
    expected: Bucket = field(default_factory=Bucket)
    reason_counts: dict[str, int] = field(default_factory=dict)
    pods: dict[str, list[Pair]] = field(default_factory=dict)
    nodes: set[str] = field(default_factory=set)
    probes: int = 0
    interrupted: bool = False

    def add(self, pairs: Iterable[Pair]) -> None:
        """Put pairs into their buckets."""
        for pair in pairs:
            (self.expected if pair.expected else self.strict).add(pair)
            for reason in pair.expected:
                self.reason_counts[reason] = self.reason_counts.get(reason, 0) + 1
            self.pods.setdefault(pair.pod, []).append(pair)
            self.nodes.add(pair.node)

    @property
    def pairs_total(self) -> int:
        """Pairs compared, those without an answer included."""
        return sum(self.strict.counts.values()) + sum(self.expected.counts.values())

    @property
    def gate(self) -> Gate:
        """`fail` on any strict difference, `empty` when fewer strict pairs than asked for were answered."""
        counts = self.strict.counts
        if counts[Outcome.FALSE_POSITIVE] or counts[Outcome.FALSE_NEGATIVE]:
            return Gate.FAIL
        return Gate.PASS if self.strict.answered >= max(1, self.min_pairs) else Gate.EMPTY
