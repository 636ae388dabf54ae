"""A cluster as one snapshot shows it, beside the newest snapshot, whose nodes and prices the plan speaks of."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from ksolver_cli.constraints.eviction import eviction_blockers, node_blockers
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster

Weights = Mapping[str, int | None]
"""What each node of the newest snapshot costs, in micro-units of the currency an hour; None keeps a node."""


@dataclass(frozen=True)
class World:
    """One snapshot, normalised and classified. Nodes are told by their names, since a plan's commands do so too."""

    cluster: Cluster
    classes: Classes

    @cached_property
    def names(self) -> frozenset[str]:
        """Every node there was."""
        return frozenset(node.name for node in self.cluster.nodes)

    def weights(self, weights: Weights, within: Collection[str] | None = None) -> dict[str, int | None]:
        """A weight for each node there was; None, which keeps it, for those that the newest snapshot does not have, and
        for those that are not `within`.
        """
        return {
            name: weights.get(name) if within is None or name in within else None
            for name in (node.name for node in self.cluster.nodes)
        }

    def removable(self, weights: Weights) -> frozenset[str]:
        """Nodes that cost something, that nothing keeps, and that hold no pod which may not be evicted."""
        blocked = eviction_blockers(self.cluster)
        pinned = {pod.node_name for pod in self.cluster.pods if pod.key in blocked}
        kept = pinned | set(node_blockers(self.cluster, weights))
        return frozenset(name for name in self.names - kept if weights.get(name))

    def lets_go(self, weights: Weights, nodes: frozenset[str]) -> frozenset[str]:
        """Those of these nodes that may be removed here, or are not here at all: there is nothing to drain then."""
        return nodes & self.removable(weights) | nodes - self.names
