"""What-ifs that change the model; each only ever loosens or tightens it, so answers are monotone in it."""

from dataclasses import dataclass
from fractions import Fraction

from ksolver_cli.domain.rules import CapPerDomain, Exclude, Require, Rule
from ksolver_cli.domain.verdict import Family


@dataclass(frozen=True, slots=True)
class Options:
    """Reserves and relaxations, all off by default. Shares are exact fractions of allocatable."""

    cpu_headroom: Fraction = Fraction(0)
    memory_headroom: Fraction = Fraction(0)
    overcommit: Fraction = Fraction(1)
    """Factor on allocatable CPU and memory."""
    ignore_taints: bool = False
    relax_anti_affinity: bool = False
    """Drop pod anti-affinity (host port and volume conflicts stay)."""
    relax_affinity: bool = False
    """Drop pod affinity, node affinity and node selectors."""

    def factor(self, resource: str) -> Fraction:
        """What is left of a resource's allocatable."""
        headroom = {"cpu": self.cpu_headroom, "memory": self.memory_headroom}.get(resource)
        return Fraction(1) if headroom is None else self.overcommit * (1 - headroom)

    def ignored_families(self) -> frozenset[Family]:
        """Families whose verdict on an empty node is left out."""
        ignored: set[Family] = set()
        if self.ignore_taints:
            ignored.add(Family.TAINT_TOLERATION)
        if self.relax_affinity:
            ignored.update({Family.NODE_AFFINITY, Family.INTER_POD_AFFINITY})
        return frozenset(ignored)

    def keeps(self, rule: Rule) -> bool:
        """Whether a rule stays in force."""
        if rule.source.family is not Family.INTER_POD_AFFINITY:
            return True
        if isinstance(rule, CapPerDomain | Exclude):
            return not self.relax_anti_affinity
        return not (self.relax_affinity and isinstance(rule, Require))


NO_OPTIONS = Options()
