"""The spine: snapshot → report, one page of calls, no I/O."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ksolver_cli import __version__
from ksolver_cli.catalog.facts import PricingOptions
from ksolver_cli.catalog.nodes import pricing_facts
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.catalog.userfile.model import UserPrices
from ksolver_cli.domain.plan import Limits
from ksolver_cli.domain.report.report import Report
from ksolver_cli.explain.assemble import Answers, assemble
from ksolver_cli.explain.money import objective
from ksolver_cli.explain.potential import Solver, potential
from ksolver_cli.explain.whatif import WhatIf, applied
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.search import SearchOptions, search
from ksolver_cli.snapshot.model import Snapshot

Progress = Callable[[str, float], None]
"""Told what is being done, and how much of it is done (0 … 1)."""


@dataclass(frozen=True)
class Request:
    """What is asked of an analysis, besides the snapshot."""

    user_prices: UserPrices | None = None
    pricing: PricingOptions = field(default_factory=PricingOptions)
    limits: Limits = field(default_factory=Limits)
    search: SearchOptions = field(default_factory=SearchOptions)
    what_if: WhatIf = field(default_factory=WhatIf)
    complete: bool = False
    kubernetes_version: str | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told about progress, and who may stop the search."""

    progress: Progress = lambda what, share: None
    interrupted: Callable[[], bool] = lambda: False


def analyze(snapshot: Snapshot, request: Request, watch: Watch) -> Report:
    """The whole report. An interrupt ends the search with the best plan found so far, never without a report."""
    watch.progress("reading objects", 0.0)
    seen = normalise(snapshot, complete=request.complete, kubernetes_version=request.kubernetes_version)
    cluster = applied(seen, request.what_if)
    prices = price_nodes([pricing_facts(node) for node in cluster.nodes], request.user_prices, request.pricing)
    weights = objective(cluster, prices)
    classes = classify(cluster)
    found = search(cluster, classes, weights, request.limits, request.search, (watch.progress, watch.interrupted))
    watch.progress("proving what no plan can beat", 0.6)
    solver = Solver(request.limits, watch.interrupted, lambda progress: watch.progress(progress.phase, 0.7))
    reachable = potential(cluster, classes, weights, found.plan, solver) if any(weights.values()) else None
    watch.progress("explaining", 0.9)
    options = request.what_if.facts()
    return assemble(Answers(cluster, classes, prices, weights, found, request.limits, reachable, options), __version__)
