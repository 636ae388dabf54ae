"""`ksolver snapshot`: a cluster to one redacted file, and the check of such a file."""

from typing import Annotated

import typer

from ksolver_cli.cli.common import options as o
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


def snapshot(
    out: o.Out = None,
    force: Force = False,
    anonymize: Anonymize = False,
    names: NamesFile = None,
    keep_label: KeepLabels = None,
    verify: Verify = None,
    context: o.Context = None,
    kubeconfig: o.Kubeconfig = None,
    namespace: o.Namespaces = None,
    all_namespaces: o.AllNamespaces = False,
    as_user: o.AsUser = None,
    as_group: o.AsGroups = None,
    request_timeout: o.RequestTimeout = 60,
    kind_timeout: KindTimeout = 600,
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
    from ksolver_cli.cli.cluster.connection import Flags
    from ksolver_cli.cli.cluster.taking import Target, take

    flags = Flags(
        context, kubeconfig, namespace or (), all_namespaces, as_user, as_group or (), request_timeout, kind_timeout
    )
    return take(flags, Target(out, force, anonymize, names, tuple(keep_label or ())))
