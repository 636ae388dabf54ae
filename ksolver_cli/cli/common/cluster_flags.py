"""kubectl's flags on every command that can read a cluster: one decorator instead of eight parameters each time."""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ksolver_cli.cli.common import options as o

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "context": (o.Context, None),
    "kubeconfig": (o.Kubeconfig, None),
    "namespace": (o.Namespaces, None),
    "all_namespaces": (o.AllNamespaces, False),
    "as_user": (o.AsUser, None),
    "as_group": (o.AsGroups, None),
    "request_timeout": (o.RequestTimeout, 60.0),
}
"""Parameter name to annotation and default, in the order of the help page."""


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


def with_cluster_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command kubectl's flags; it gets them as one argument, `cluster`."""
    own = inspect.signature(command)
    hints = inspect.get_annotations(command)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in _OPTIONS.items()
    ]
    kept = [parameter for name, parameter in own.parameters.items() if name != "cluster"]
    names = [entry.name for entry in fields(ClusterFlags)]

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        typed = {name: kwargs.pop(name) for name in names if name in kwargs}
        typed |= {name: typed[name] or None for name in ("namespace", "as_group") if name in typed}
        command(*args, **kwargs, cluster=ClusterFlags(**typed))

    signed: Any = run
    signed.__signature__ = own.replace(parameters=[*kept, *added])
    signed.__annotations__ = {
        **{name: hint for name, hint in hints.items() if name != "cluster"},
        **{name: annotation for name, (annotation, _) in _OPTIONS.items()},
    }
    return run
