"""The drain plan as the report states it."""

from dataclasses import dataclass

from ksolver_cli.domain.plan import Move, Wave


@dataclass(frozen=True)
class PlanFacts:
    """Cordon everything first but the nodes of waves that are `alone`, evict in this order, remove wave by wave. Costs
    in micro-units of the currency an hour, of the priced nodes; None where no node has a price.
    """

    waves: tuple[Wave, ...]
    cost_before_micros: int | None
    cost_after_micros: int | None
    moves: tuple[Move, ...]
    """Where pods went in the reference replay; the cluster's scheduler chooses, so other runs may differ."""
    replays: int
    """Replays (exact and jittered) in which no pod pended."""
    notes: tuple[str, ...] = ()

    @property
    def nodes(self) -> tuple[str, ...]:
        """Every node removed, in order."""
        return tuple(node for wave in self.waves for node in wave.nodes)

    @property
    def saving_micros(self) -> int | None:
        """What the plan saves an hour; None where no node has a price."""
        if self.cost_before_micros is None or self.cost_after_micros is None:
            return None
        return self.cost_before_micros - self.cost_after_micros


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a plan with this many pod moves removes and saves, as judged; the saving is None where no node has a
    price.
    """

    moves: int
    nodes: int
    saving_micros: int | None
