"""`ksolver conform`: our feasibility against kube-scheduler's Filter phase, pair by pair."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.cluster_flags import ClusterFlags, with_live_flags
from ksolver_cli.cli.common.exits import Exit

SchedulerOption = Annotated[
    str | None, typer.Option(metavar="SOURCE", help="simulator (the default with a URL), replay:FILE, or cluster.")
]
UrlOption = Annotated[
    str | None,
    typer.Option(metavar="URL", envvar="KSOLVER_SCHEDULER_SIMULATOR_URL", help="Where kube-scheduler-simulator is."),
]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A disposable control plane without nodes; never the cluster under analysis."),
]
ContextOption = Annotated[str | None, typer.Option(metavar="NAME", help="Context of --scheduler-kubeconfig.")]
TimeoutOption = Annotated[float, typer.Option(min=0.1, metavar="SECONDS", help="How long one pair may take.")]
PodsOption = Annotated[str, typer.Option(metavar="pending|all", help="Pending pods alone, or bound ones after them.")]
SampleOption = Annotated[int, typer.Option(min=0, metavar="N", help="Compare at most N pods; 0 is all.")]
MaxNodesOption = Annotated[int, typer.Option(min=0, metavar="N", help="Compare on at most N nodes; 0 is all.")]
DedupOption = Annotated[bool, typer.Option("--dedup-nodes", help="Ask once for nodes that a pod cannot tell apart.")]
SeedOption = Annotated[int, typer.Option(help="Seed of the samples; same seed, same pairs.")]
ClusterOption = Annotated[str | None, typer.Option(metavar="NAME", help="The cluster that the snapshot must be of.")]
RecordOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Append verdicts, to be replayed later.")]
JunitOption = Annotated[str | None, typer.Option(metavar="FILE", help="Write JUnit XML too.")]
StrictAllOption = Annotated[
    bool, typer.Option("--strict-all", help="Hold pod affinity and spread to account as well, where modelled.")
]
PositiveOption = Annotated[
    bool, typer.Option("--fail-on-strict-false-positive", help="Exit 1 when we allow what the scheduler refuses.")
]
AnyOption = Annotated[bool, typer.Option("--fail-on-any-strict", help="Exit 1 on any strict difference.")]
MinPairsOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="With --fail-on-*: exit 1 when fewer strict pairs were answered.")
]
AllowSkipOption = Annotated[
    bool, typer.Option("--allow-skip", help="With --fail-on-*: exit 0 all the same when no scheduler is configured.")
]


@with_live_flags
def conform(
    snapshot: o.Snapshots = None,
    demo: o.Demo = False,
    scheduler: SchedulerOption = None,
    simulator_url: UrlOption = None,
    scheduler_kubeconfig: KubeconfigOption = None,
    scheduler_context: ContextOption = None,
    timeout: TimeoutOption = 10.0,
    pods: PodsOption = "pending",
    sample: SampleOption = 20,
    max_nodes: MaxNodesOption = 0,
    dedup_nodes: DedupOption = False,
    seed: SeedOption = 0,
    cluster: ClusterOption = None,
    kubernetes_version: o.KubernetesVersion = None,
    record: RecordOption = None,
    strict_all: StrictAllOption = False,
    fail_on_strict_false_positive: PositiveOption = False,
    fail_on_any_strict: AnyOption = False,
    min_pairs: MinPairsOption = 1,
    allow_skip: AllowSkipOption = False,
    junit: JunitOption = None,
    output: o.Output = "text",
    json: o.Json = False,
    out: o.Out = None,
    *,
    live: ClusterFlags,
) -> None:
    """Compare our feasibility with kube-scheduler's Filter phase, one pod and one empty node at a time."""
    from ksolver_cli.cli.conformance import asked, running

    code = running.run(
        asked.Input(tuple(snapshot or ()), demo, cluster, kubernetes_version, live),
        asked.Source(scheduler, simulator_url, scheduler_kubeconfig, scheduler_context, timeout, record),
        asked.Sampling(pods, sample, max_nodes, dedup_nodes, seed),
        asked.Gating(strict_all, fail_on_strict_false_positive, fail_on_any_strict, allow_skip, min_pairs),
        asked.Showing("json" if json else output, out, junit),
    )
    _end(code)


def _end(code: Exit) -> None:
    if code is not Exit.DONE:
        sys.stdout.flush()
        raise typer.Exit(code)
