"""`ksolver analyze`: from a snapshot to the report."""

import sys

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.cluster_flags import ClusterFlags, with_cluster_flags
from ksolver_cli.cli.common.exits import Exit

DEMO_EFFORT = 0.05
"""The demo answers in seconds; a real analysis takes the time that a real saving is worth."""


@with_cluster_flags
def analyze(
    snapshot: o.Moments = None,
    demo: o.Demo = False,
    sample: o.Sample = None,
    prices: o.Prices = None,
    region: o.Region = None,
    spot_factor: o.SpotFactor = None,
    strict_prices: o.StrictPrices = False,
    output: o.Output = "text",
    json: o.Json = False,
    out: o.Out = None,
    all_nodes: o.AllNodes = False,
    complete: o.Complete = False,
    kubernetes_version: o.KubernetesVersion = None,
    move_budget: o.MoveBudget = None,
    cpu_headroom: o.CpuHeadroom = "0",
    memory_headroom: o.MemoryHeadroom = "0",
    overcommit: o.Overcommit = "1",
    ignore_taints: o.IgnoreTaints = False,
    relax_anti_affinity: o.RelaxAntiAffinity = False,
    relax_affinity: o.RelaxAffinity = False,
    vram_store: o.VramStore = None,
    seed: o.Seed = 0,
    workers: o.Workers = 2,
    time_limit: o.TimeLimit = 300,
    effort: o.Effort = None,
    fail_on: o.FailOn = None,
    *,
    cluster: ClusterFlags,
) -> None:
    """How much the cluster overpays, what stops it from paying less, and how to get there."""
    from ksolver_cli.cli.analysis import Asked, Priced, Searching, Showing, run, what_if

    source = "demo" if demo else sample
    showing = Showing("json" if json else output, out, all_nodes, strict_prices, tuple(fail_on or ()))
    searching = Searching(move_budget, seed, workers, time_limit, effort or (DEMO_EFFORT if demo else 1.0))
    places = Priced(prices, region, spot_factor, vram_store)
    asked = Asked(tuple(snapshot or ()), source, complete, kubernetes_version, places, cluster)
    relax = (ignore_taints, relax_anti_affinity, relax_affinity)
    _end(run(asked, searching, showing, what_if((cpu_headroom, memory_headroom, overcommit), relax)))


def _end(code: Exit) -> None:
    if code is not Exit.DONE:
        sys.stdout.flush()
        raise typer.Exit(code)
