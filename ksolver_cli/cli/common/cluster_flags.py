"""Flags that several commands share as one value: a decorator instead of eight parameters each time."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ksolver_cli.cli.common import options as o

Options = Mapping[str, tuple[Any, Any]]
"""Parameter name to annotation and default, in the order of the help page."""

_CLUSTER: Options = {
    "context": (o.Context, None),
    "kubeconfig": (o.Kubeconfig, None),
    "namespace": (o.Namespaces, None),
    "all_namespaces": (o.AllNamespaces, False),
    "as_user": (o.AsUser, None),
    "as_group": (o.AsGroups, None),
    "request_timeout": (o.RequestTimeout, 60.0),
}

Url = Annotated[str | None, typer.Option(help="Usage from this Prometheus, Thanos, Mimir or VictoriaMetrics.")]
Discover = Annotated[bool, typer.Option("--discover-prometheus", help="Look for one among the cluster's services.")]
Username = Annotated[str | None, typer.Option(help="For basic authentication.")]
TokenFile = Annotated[Path | None, typer.Option(help="File with the bearer token, or the password of the username.")]
Tenant = Annotated[str | None, typer.Option(help="Sent as X-Scope-OrgID.")]
CaFile = Annotated[Path | None, typer.Option(help="A private authority, in PEM.")]
Insecure = Annotated[bool, typer.Option("--prometheus-insecure-skip-tls-verify", help="Trust any certificate.")]
Labels = Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Only series with this label.")]
UsageWindow = Annotated[str, typer.Option(metavar="DURATION", help="How far back usage goes.")]
UsageStep = Annotated[str, typer.Option(metavar="DURATION", help="How far samples are apart.")]

_PROMETHEUS: Options = {
    "prometheus_url": (Url, None),
    "discover_prometheus": (Discover, False),
    "prometheus_username": (Username, None),
    "prometheus_token_file": (TokenFile, None),
    "prometheus_tenant": (Tenant, None),
    "prometheus_ca_file": (CaFile, None),
    "prometheus_insecure_skip_tls_verify": (Insecure, False),
    "prometheus_label": (Labels, None),
    "usage_window": (UsageWindow, "14d"),
    "usage_step": (UsageStep, "5m"),
}


@dataclass(frozen=True, slots=True)
class ClusterFlags:
    """kubectl's flags as they were typed."""

    context: str | None = None
    kubeconfig: str | None = None
    namespace: Sequence[str] | None = None
    all_namespaces: bool = False
    as_user: str | None = None
    as_group: Sequence[str] | None = None
    request_timeout: float = 60.0

    @property
    def given(self) -> bool:
        """Whether any of them was typed."""
        return self != ClusterFlags()


@dataclass(frozen=True, slots=True)
class PrometheusOptions:
    """Flags about usage history as they were typed."""

    prometheus_url: str | None = None
    discover_prometheus: bool = False
    prometheus_username: str | None = None
    prometheus_token_file: Path | None = None
    prometheus_tenant: str | None = None
    prometheus_ca_file: Path | None = None
    prometheus_insecure_skip_tls_verify: bool = False
    prometheus_label: Sequence[str] | None = None
    usage_window: str = "14d"
    usage_step: str = "5m"


def with_cluster_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command kubectl's flags; it gets them as one argument, `cluster`."""
    return _with_flags(command, "cluster", ClusterFlags, _CLUSTER)


def with_live_flags(command: Callable[..., None]) -> Callable[..., None]:
    """The same for a command that has another `cluster` already; it gets them as `live`."""
    return _with_flags(command, "live", ClusterFlags, _CLUSTER)


def with_prometheus_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags about usage history; it gets them as one argument, `prometheus`."""
    return _with_flags(command, "prometheus", PrometheusOptions, _PROMETHEUS)


def _with_flags(
    command: Callable[..., None], name: str, flags: Callable[..., object], options: Options
) -> Callable[..., None]:
    own, hints = inspect.signature(command), inspect.get_annotations(command)
    added = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for option, (annotation, default) in options.items()
    ]

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        typed = {option: kwargs.pop(option) for option in options if option in kwargs}
        # A list that was not given comes as an empty one.
        given = {option: None if value == [] else value for option, value in typed.items()}
        command(*args, **kwargs, **{name: flags(**given)})

    signed: Any = run
    signed.__signature__ = own.replace(parameters=[*(p for p in own.parameters.values() if p.name != name), *added])
    signed.__annotations__ = {option: hint for option, hint in hints.items() if option != name}
    signed.__annotations__ |= {option: annotation for option, (annotation, _) in options.items()}
    return run
