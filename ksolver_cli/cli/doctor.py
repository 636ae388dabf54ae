"""`ksolver doctor`: what works, what does not, and what to do about it."""

from typing import Annotated

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.cluster_flags import (
    ClusterFlags,
    PrometheusOptions,
    with_cluster_flags,
    with_prometheus_flags,
)

Format = Annotated[str, typer.Option("--output", "-o", metavar="FORMAT", help="text or json.")]


@with_prometheus_flags
@with_cluster_flags
def doctor(
    output: Format = "text",
    json: o.Json = False,
    *,
    cluster: ClusterFlags,
    prometheus: PrometheusOptions,
) -> None:
    """Check configuration, rights, versions and Prometheus, and say what to fix. Only asks, changes nothing.

    Exit 0: nothing stands in the way. Exit 1: something does. Exit 3: the cluster cannot be reached.
    """
    from ksolver_cli.cli.cluster.examining import run

    run(cluster, prometheus, "json" if json else output)
