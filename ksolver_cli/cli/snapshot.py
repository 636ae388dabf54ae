"""`ksolver snapshot`: a cluster to one redacted file, and the check of such a file."""

from typing import Annotated

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.cluster_flags import (
    ClusterFlags,
    PrometheusOptions,
    with_cluster_flags,
    with_prometheus_flags,
)
from ksolver_cli.cli.common.exits import CommandError, Exit

Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
Anonymize = Annotated[bool, typer.Option("--anonymize", help="Replace every name by another.")]
NamesFile = Annotated[
    str | None, typer.Option("--names", metavar="FILE", help="Where the map of names goes; else OUT.names.json.")
]
KeepLabels = Annotated[
    list[str] | None,
    typer.Option("--keep-label", metavar="KEY", help="Keep this label (acme.com/*) although nothing selects by it."),
]
Verify = Annotated[str | None, typer.Option("--verify", metavar="FILE", help="Check a snapshot file; no cluster.")]
KindTimeout = Annotated[float, typer.Option(min=1, metavar="SECONDS", help="How long one kind may take.")]


@with_prometheus_flags
@with_cluster_flags
def snapshot(
    out: o.Out = None,
    force: Force = False,
    anonymize: Anonymize = False,
    names: NamesFile = None,
    keep_label: KeepLabels = None,
    verify: Verify = None,
    kind_timeout: KindTimeout = 600,
    *,
    cluster: ClusterFlags,
    prometheus: PrometheusOptions,
) -> None:
    """Write what analysis needs of a cluster to one redacted file. Only reads the cluster.

    What may not be seen is named in the file as a gap. Nothing of secrets, configmaps, env values and command lines
    gets into it.
    """
    if verify is not None:
        from ksolver_cli.cli.cluster.verifying import check

        return check(verify)
    if out is None:
        raise CommandError("no file to write to", "give --out cluster.json.zst, or --out - for stdout", Exit.USAGE)
    from ksolver_cli.cli.cluster.taking import Target, take

    target = Target(out, force, anonymize, names, tuple(keep_label or ()))
    return take(cluster, prometheus, target, kind_timeout)
