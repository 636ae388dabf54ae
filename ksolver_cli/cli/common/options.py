"""Options that commands share, as typed aliases: one place for each name, metavar and help text."""

from pathlib import Path
from typing import Annotated

import typer

Snapshots = Annotated[
    list[str] | None,
    typer.Argument(metavar="[SNAPSHOT]...", help="Snapshot, kubectl list, directory, or - for stdin."),
]
Moments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SNAPSHOT]...",
        help="Snapshot, kubectl list, directory, or - for stdin. Snapshots of several times: the plan holds in all.",
    ),
]
Demo = Annotated[bool, typer.Option("--demo", help="Use the bundled sample cluster.")]
Sample = Annotated[str | None, typer.Option(metavar="NAME", help="Use one of the bundled samples.")]
Prices = Annotated[Path | None, typer.Option(metavar="FILE", help="Your own prices (YAML or CSV).")]
Region = Annotated[str | None, typer.Option(help="Region of nodes that do not tell theirs.")]
SpotFactor = Annotated[
    str | None, typer.Option(metavar="FACTOR", help="Price spot nodes without a spot price at FACTOR × on-demand.")
]
StrictPrices = Annotated[bool, typer.Option("--strict-prices", help="Exit 1 when a node has no price.")]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FORMAT", help="text or json.")]
Json = Annotated[bool, typer.Option("--json", help="The same as -o json.")]
Out = Annotated[str | None, typer.Option("--out", metavar="FILE", help="Write the result to a file; - is stdout.")]
AllNodes = Annotated[bool, typer.Option("--all-nodes", help="Every node and every command on a terminal too.")]
Complete = Annotated[bool, typer.Option("--complete", help="What the input lacks does not exist.")]
KubernetesVersion = Annotated[
    str | None, typer.Option(metavar="VERSION", help="Judge by this version instead of the snapshot's.")
]
MoveBudget = Annotated[
    str | None, typer.Option(metavar="N|P%", help="Move at most this many pods, or this share of them.")
]
CpuHeadroom = Annotated[str, typer.Option(metavar="P%", help="Share of allocatable CPU to keep free.")]
MemoryHeadroom = Annotated[str, typer.Option(metavar="P%", help="Share of allocatable memory to keep free.")]
Overcommit = Annotated[str, typer.Option(metavar="RATIO", help="Multiply allocatable CPU and memory.")]
IgnoreTaints = Annotated[bool, typer.Option("--ignore-taints", help="As if no team had tainted a node.")]
RelaxAntiAffinity = Annotated[bool, typer.Option("--relax-anti-affinity", help="Ignore required pod anti-affinity.")]
RelaxAffinity = Annotated[
    bool, typer.Option("--relax-affinity", help="Ignore required pod and node affinity and node selectors.")
]
VramStore = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Measured GPU memory, as vram-observe keeps it: adds class advice.")
]
Seed = Annotated[int, typer.Option(help="Seed of the search; same seed, same answer.")]
Workers = Annotated[int, typer.Option(min=1, help="Solver threads.")]
TimeLimit = Annotated[float, typer.Option(min=0, metavar="SECONDS", help="Stop the search after this long.")]
Effort = Annotated[
    float | None, typer.Option(min=0.01, help="Scale the search's work limits; 1 unless it is the demo.")
]
FailOn = Annotated[
    list[str] | None, typer.Option(metavar="NAME[=N]", help="Exit 1 when the report reaches this; may be repeated.")
]
Context = Annotated[str | None, typer.Option("--context", help="Context of the kubeconfig.")]
Kubeconfig = Annotated[str | None, typer.Option("--kubeconfig", metavar="FILE", help="Instead of KUBECONFIG.")]
Namespaces = Annotated[
    list[str] | None, typer.Option("--namespace", "-n", help="Read only this namespace; may be repeated.")
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="Read all namespaces (the default).")]
AsUser = Annotated[str | None, typer.Option("--as", metavar="USER", help="Impersonate this user.")]
AsGroups = Annotated[
    list[str] | None, typer.Option("--as-group", metavar="GROUP", help="Impersonate this group; may be repeated.")
]
RequestTimeout = Annotated[
    float, typer.Option("--request-timeout", min=1, metavar="SECONDS", help="How long one answer may take.")
]
