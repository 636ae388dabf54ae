"""`ksolver vram-observe`: measured peak GPU memory per workload fingerprint, appended to a store."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Output(StrEnum):
    """Formats of this command."""

    TABLE = "table"
    JSON = "json"


StoreOption = Annotated[Path, typer.Option(envvar="KSOLVER_VRAM_STORE", help="The JSONL file that is appended to.")]
UrlOption = Annotated[
    str | None,
    typer.Option(help="Prometheus, Thanos, Mimir, VictoriaMetrics; path prefix included. Else KSOLVER_PROMETHEUS_URL."),
]
UsernameOption = Annotated[str | None, typer.Option(help="For basic authentication. Else KSOLVER_PROMETHEUS_USERNAME.")]
TokenOption = Annotated[
    Path | None,
    typer.Option(help="File with the bearer token, or the username's password. Else KSOLVER_PROMETHEUS_TOKEN."),
]
TenantOption = Annotated[str | None, typer.Option(help="Sent as X-Scope-OrgID.")]
CaOption = Annotated[Path | None, typer.Option(help="A private authority, in PEM.")]
InsecureOption = Annotated[bool, typer.Option(help="Trust any certificate.")]
TimeoutOption = Annotated[str, typer.Option(help="How long one answer may take.")]
LabelOption = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only series with this label; may be repeated.")
]
WindowOption = Annotated[str, typer.Option(help="How far back to look, such as 24h.")]
EndOption = Annotated[str | None, typer.Option(help="End of the window: RFC 3339 or Unix seconds; else now.")]
SnapshotOption = Annotated[
    str | None, typer.Option(help="Take pod specs from this snapshot or kubectl list, not from the live API.")
]
KubeconfigOption = Annotated[Path | None, typer.Option(help="For the live API; in a pod its service account is used.")]
ContextOption = Annotated[str | None, typer.Option(help="Context of the kubeconfig.")]
NamespaceOption = Annotated[
    list[str] | None, typer.Option("-n", "--namespace", help="Read pods of this namespace only; may be repeated.")
]
PruneOption = Annotated[str | None, typer.Option(help="Then drop rows older than this, such as 90d, and compact.")]
PartialOption = Annotated[bool, typer.Option(help="Also write what a partial answer says.")]
OutputOption = Annotated[Output, typer.Option("-o", "--output", help="How to print.")]
JsonOption = Annotated[bool, typer.Option("--json", help="The same as -o json.")]


def vram_observe(
    store: StoreOption,
    prometheus_url: UrlOption = None,
    prometheus_username: UsernameOption = None,
    prometheus_token_file: TokenOption = None,
    prometheus_tenant: TenantOption = None,
    prometheus_ca_file: CaOption = None,
    prometheus_insecure_skip_tls_verify: InsecureOption = False,
    prometheus_timeout: TimeoutOption = "30s",
    prometheus_label: LabelOption = None,
    window: WindowOption = "24h",
    end: EndOption = None,
    snapshot: SnapshotOption = None,
    kubeconfig: KubeconfigOption = None,
    context: ContextOption = None,
    namespace: NamespaceOption = None,
    prune: PruneOption = None,
    allow_partial: PartialOption = False,
    output: OutputOption = Output.TABLE,
    as_json: JsonOption = False,
) -> None:
    """Append the measured peak GPU memory of each pod over a window, joined to what the pod runs.

    A second run over the same window adds nothing. Nothing matched: nothing is written, and it says why.
    """
    from ksolver_cli.cli.gpu_memory.observing import Asked, Server, Specs, run

    server = Server(
        url=prometheus_url,
        username=prometheus_username,
        token_file=prometheus_token_file,
        tenant=prometheus_tenant,
        ca_file=prometheus_ca_file,
        insecure=prometheus_insecure_skip_tls_verify,
        timeout=prometheus_timeout,
        labels=prometheus_label or [],
    )
    specs = Specs(snapshot, kubeconfig, context, namespace or [])
    asked = Asked(store, server, specs, window, end, prune, allow_partial)
    run(asked, as_json=as_json or output is Output.JSON)
