"""Options that change what is asked of the cluster: reserves, overcommitment, and kinds of constraint ignored.

They are applied to the cluster itself, before anything is solved, so that plan, bound and referee all see the same.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Resources
from ksolver_cli.domain.report.report import OptionFact
from ksolver_cli.explain.whatif.relaxed import Dropped, without


@dataclass(frozen=True, slots=True)
class WhatIf:
    """All off by default. Headrooms are shares of allocatable kept free; overcommit multiplies allocatable cpu and
    memory, before headroom is taken off. Amounts are rounded down.
    """

    cpu_headroom: Fraction = Fraction(0)
    memory_headroom: Fraction = Fraction(0)
    overcommit: Fraction = Fraction(1)
    ignore_taints: bool = False
    relax_anti_affinity: bool = False
    relax_affinity: bool = False

    def facts(self) -> tuple[OptionFact, ...]:
        """The options that are on, as the report shows them."""
        shares = (("CPU headroom", self.cpu_headroom), ("memory headroom", self.memory_headroom))
        found = [OptionFact(name, f"{float(100 * share):g} %") for name, share in shares if share]
        if self.overcommit != 1:
            found.append(OptionFact("overcommit ratio", f"{float(self.overcommit):g}"))
        flags = (
            ("taints", self.ignore_taints),
            ("pod anti-affinity", self.relax_anti_affinity),
            ("pod and node affinity", self.relax_affinity),
        )
        return (*found, *(OptionFact(name, "ignored") for name, on in flags if on))

    @property
    def loosens(self) -> bool:
        """Whether any option lets through what today's rules reject."""
        return self.overcommit > 1 or self.ignore_taints or self.relax_anti_affinity or self.relax_affinity


def applied(cluster: Cluster, what_if: WhatIf) -> Cluster:
    """The cluster as the options want it looked at."""
    if what_if == WhatIf():
        return cluster
    affinity = what_if.relax_affinity
    dropped = Dropped(what_if.ignore_taints, affinity, affinity, what_if.relax_anti_affinity)
    loosened = without(cluster, dropped)
    return replace(loosened, nodes=tuple(_resized(node, what_if) for node in loosened.nodes))


def _resized(node: Node, what_if: WhatIf) -> Node:
    factors = {
        "cpu": what_if.overcommit * (1 - what_if.cpu_headroom),
        "memory": what_if.overcommit * (1 - what_if.memory_headroom),
    }
    allocatable: Resources = {name: int(amount * factors.get(name, 1)) for name, amount in node.allocatable.items()}
    return replace(node, allocatable=allocatable)
