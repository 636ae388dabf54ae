"""The next wave of a plan under way: facts for one page of commands."""

from dataclasses import dataclass

from ksolver_cli.catalog.facts import PricingOptions
from ksolver_cli.catalog.nodes import pricing_facts
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.catalog.userfile.model import UserPrices
from ksolver_cli.domain.plan import DrainPlan, Judgement, Limits, Wave
from ksolver_cli.domain.report.actions import Command
from ksolver_cli.explain.money import objective
from ksolver_cli.explain.steps.commands import LOOK, wave_commands
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.next_wave import remainder, search_on
from ksolver_cli.plan.search import Interrupted, Progress, SearchOptions
from ksolver_cli.snapshot.model import Snapshot


@dataclass(frozen=True)
class NextWave:
    """What is done, what is given back, and the commands of the next wave (empty when nothing is left to do).

    `plan` is the whole rest, to be stored for the wave after. Costs in micro-units of the currency an hour.
    """

    gone: tuple[str, ...]
    left: tuple[str, ...]
    given_back: tuple[str, ...]
    joined: tuple[str, ...]
    plan: DrainPlan
    judgement: Judgement
    prechecks: tuple[Command, ...]
    commands: tuple[Command, ...]


@dataclass(frozen=True)
class NextRequest:
    """What is asked: the waves of the plan, prices and limits."""

    planned: tuple[Wave, ...]
    user_prices: UserPrices | None
    pricing: PricingOptions
    limits: Limits
    options: SearchOptions
    complete: bool = False


def next_wave(snapshot: Snapshot, request: NextRequest, watch: tuple[Progress, Interrupted]) -> NextWave:
    """Look afresh at what is left of a plan, with what really happened since."""
    rest = remainder(normalise(snapshot, complete=request.complete), request.planned)
    prices = price_nodes([pricing_facts(n) for n in rest.cluster.nodes], request.user_prices, request.pricing)
    classes = classify(rest.cluster)
    weights = objective(rest.cluster, prices)
    found = search_on(rest, classes, weights, request.limits, request.options, watch)
    kept = set(found.plan.nodes)
    back = tuple(name for name in rest.left if name not in kept)
    commands = wave_commands(rest.cluster, classes, found.plan)
    uncordon = (Command(("kubectl", "uncordon", *back), "these stay: let pods come back"),) if back else ()
    return NextWave(
        gone=rest.gone,
        left=rest.left,
        given_back=back,
        joined=tuple(name for name in found.plan.nodes if name not in rest.left),
        plan=found.plan,
        judgement=found.judgement,
        prechecks=(LOOK,),
        commands=uncordon + (commands[0] if commands else ()),
    )
