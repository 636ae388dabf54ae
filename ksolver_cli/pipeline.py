"""The spine: snapshot → report, one page of calls, no I/O."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ksolver_cli import __version__
from ksolver_cli.catalog.facts import PricingOptions
from ksolver_cli.catalog.nodes import pricing_facts
from ksolver_cli.catalog.pricing import price_nodes
from ksolver_cli.catalog.tables import bundled_catalog
from ksolver_cli.catalog.userfile.model import UserPrices
from ksolver_cli.domain.cluster import Caveat, CaveatKind, Cluster
from ksolver_cli.domain.plan import Limits
from ksolver_cli.domain.report.gpu_class import WrongGpuClass
from ksolver_cli.domain.report.report import Report
from ksolver_cli.explain.assemble import Answers, assemble
from ksolver_cli.explain.money import objective
from ksolver_cli.explain.potential import Solver, potential
from ksolver_cli.explain.robust_facts import Several, robust_facts
from ksolver_cli.explain.whatif.options import WhatIf, applied
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.plan.robust.robust import robust
from ksolver_cli.plan.robust.worlds import World
from ksolver_cli.plan.search import SearchOptions, search
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.moments import Moment
from ksolver_cli.vram.observation import Observation
from ksolver_cli.vram.right_class.advice import wrong_classes

Progress = Callable[[str, float], None]
"""Told what is being done, and how much of it is done (0 … 1)."""

INTERRUPT, TIME = "interrupt", "time"
"""What `limited_by` says of an end that was not the search's own."""


@dataclass(frozen=True)
class Request:
    """What is asked of an analysis, besides the snapshot."""

    user_prices: UserPrices | None = None
    pricing: PricingOptions = field(default_factory=PricingOptions)
    limits: Limits = field(default_factory=Limits)
    search: SearchOptions = field(default_factory=SearchOptions)
    what_if: WhatIf = field(default_factory=WhatIf)
    observations: tuple[Observation, ...] = ()
    """Measured GPU memory, for right-class advice; none, no advice."""
    complete: bool = False
    kubernetes_version: str | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told about progress, and who may stop the search."""

    progress: Progress = lambda what, share: None
    interrupted: Callable[[], bool] = lambda: False
    asked: Callable[[], bool] = lambda: True
    """Whether a person interrupted it; if not, an interrupt was the clock's."""


def analyze(snapshot: Snapshot, request: Request, watch: Watch) -> Report:
    """The whole report. An interrupt ends the search with the best plan found so far, never without a report."""
    return analyze_all((Moment("", snapshot),), request, watch)


def analyze_all(moments: Sequence[Moment], request: Request, watch: Watch) -> Report:
    """The report of the first, the newest snapshot, with a plan that holds in all of them."""
    watch.progress("reading objects", 0.0)
    newest, *others = (_world(moment, request) for moment in moments)
    cluster, classes = newest.cluster, newest.classes
    prices = price_nodes([pricing_facts(node) for node in cluster.nodes], request.user_prices, request.pricing)
    weights = objective(cluster, prices)
    callbacks = (watch.progress, watch.interrupted)
    held = robust((newest, *others), weights, request.limits, request.search, callbacks) if others else None
    found = held.found if held else search(cluster, classes, weights, request.limits, request.search, callbacks)
    watch.progress("proving what no plan can beat", 0.6)
    solver = Solver(request.limits, watch.interrupted, lambda progress: watch.progress(progress.phase, 0.7))
    reachable = potential(cluster, classes, weights, found.plan, solver) if any(weights.values()) else None
    several = None
    if held is not None:
        sources = [moment.source for moment in moments]
        several = Several(sources, (newest, *others), weights, held, reachable)
    watch.progress("explaining", 0.9)
    options, loosens = request.what_if.facts(), request.what_if.loosens
    report = assemble(
        Answers(cluster, classes, prices, weights, found, request.limits, reachable, options, loosens), __version__
    )
    report = replace(report, gpu_classes=_gpu_classes(moments[0].snapshot, request))
    if several is not None:
        priced = cluster.knows("pods") and report.prices.priced_nodes > 0
        report = replace(report, robust=robust_facts(several, solver, priced=priced))
    return report if watch.asked() else _ended_by_clock(report)


def _world(moment: Moment, request: Request) -> World:
    """One snapshot under the options in force."""
    snapshot = moment.snapshot
    seen = normalise(snapshot, complete=request.complete, kubernetes_version=request.kubernetes_version)
    told = _with_version_told(seen, snapshot, request)
    if moment.again:
        again = f"{', '.join(moment.again)}: the same once more; it counts once"
        told = replace(told, caveats=(Caveat(CaveatKind.OTHER, again), *told.caveats))
    cluster = applied(told, request.what_if)
    return World(cluster, classify(cluster))


def _ended_by_clock(report: Report) -> Report:
    """The report with the clock named where the stages only know that they were interrupted."""
    numbers = report.numbers
    if numbers is not None and numbers.repack.limited_by == INTERRUPT:
        numbers = replace(numbers, repack=replace(numbers.repack, limited_by=TIME))
    return replace(report, numbers=numbers, limited_by=TIME if report.limited_by == INTERRUPT else report.limited_by)


def _gpu_classes(snapshot: Snapshot, request: Request) -> tuple[WrongGpuClass, ...]:
    """Right-class advice; speaks of list prices, whatever the user pays."""
    if not request.observations:
        return ()
    found = wrong_classes(request.observations, snapshot.objects, bundled_catalog(), request.pricing)
    return tuple(
        WrongGpuClass(
            workload=f"{advice.namespace}/{advice.workload}",
            pods=advice.pods,
            gpus=advice.gpus,
            gpu=advice.gpu,
            memory_mib=advice.memory_mib,
            peak_mib=advice.peak_mib,
            observations=advice.samples,
            fits_gpu=advice.offer.gpu,
            fits_memory_mib=advice.offer.memory_mib,
            instance_type=advice.offer.instance_type,
            less_micros=advice.micros_per_hour_less,
            blocked_by=advice.blocked_by,
        )
        for advice in found
    )


def _with_version_told(cluster: Cluster, snapshot: Snapshot, request: Request) -> Cluster:
    """The cluster with a caveat where its Kubernetes version is assumed: kubectl's lists do not say it."""
    if any(parse_version(text or "") for text in (request.kubernetes_version, snapshot.server_version)):
        return cluster
    assumed = ".".join(map(str, cluster.kubernetes_version))
    told = f"the input does not say its Kubernetes version; judged as {assumed} (--kubernetes-version sets it)"
    return replace(cluster, caveats=(Caveat(CaveatKind.OTHER, told), *cluster.caveats))
