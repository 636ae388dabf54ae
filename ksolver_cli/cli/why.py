"""`ksolver why`: every node's Filter verdict on one pod."""

import json as json_module
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ksolver_cli.cli.common import options as o
from ksolver_cli.cli.common.cluster_flags import ClusterFlags, with_cluster_flags
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.cli.common.output import emit
from ksolver_cli.snapshot.model import Snapshot

if TYPE_CHECKING:
    from ksolver_cli.explain.why import PodNotFoundError, Raw, Why

_SHOWN = 8
"""How many names an error lists."""

_FORMATS = ("text", "json")

PodName = Annotated[str | None, typer.Argument(metavar="POD", help="namespace/name; with -f it may be left out.")]
Where = Annotated[
    str | None,
    typer.Argument(metavar="SNAPSHOT", help="A snapshot, a kubectl list, a directory, or - for stdin."),
]
Manifest = Annotated[
    str | None, typer.Option("-f", "--filename", metavar="FILE", help="Judge the pod of this manifest instead.")
]


@with_cluster_flags
def why(
    pod: PodName = None,
    snapshot: Where = None,
    filename: Manifest = None,
    complete: o.Complete = False,
    kubernetes_version: o.KubernetesVersion = None,
    output: o.Output = "text",
    json: o.Json = False,
    *,
    cluster: ClusterFlags,
) -> None:
    """Say for one pod what every node's Filter phase says, and every plugin that rejects it.

    A bound pod is judged as if it had just been evicted. A pending pod and a manifest keep the node they name. Without
    a snapshot the cluster of the current context is read; -n is the namespace of a POD written without one.
    """
    if filename is not None and snapshot is None:
        pod, snapshot = None, pod
    if output not in _FORMATS:
        raise CommandError(f"-o {output}: no such format", f"formats are {', '.join(_FORMATS)}", Exit.USAGE)
    asked = _Asked(pod, snapshot, filename, complete, _version(kubernetes_version), cluster)
    _print(_from_manifest(asked) if filename else _from_snapshot(asked), as_json=json or output == "json")


def _print(facts: "Why", *, as_json: bool) -> None:
    from ksolver_cli.render.console import capture, console_for, tidy
    from ksolver_cli.render.why import render_why, why_record

    console = console_for()
    if as_json:
        emit(json_module.dumps(why_record(facts), indent=2, ensure_ascii=False) + "\n", None, exact=True)
    elif console.is_terminal:
        render_why(console, facts)
    else:
        pipe, buffer = capture(console.width)
        render_why(pipe, facts)
        emit(tidy(buffer.getvalue()), None)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for on the command line."""

    pod: str | None
    source: str | None
    manifest: str | None
    complete: bool
    version: str | None
    cluster: ClusterFlags

    @property
    def namespace(self) -> str:
        """The namespace of names written without one; empty when none was given."""
        return next(iter(self.cluster.namespace or ()), "")

    @property
    def where(self) -> str:
        """The input's name for people."""
        return {None: "the cluster", "-": "stdin"}.get(self.source, str(self.source))

    def snapshot(self) -> Snapshot:
        """The input, whole: `-n` says whose pod is meant, never what is read."""
        flags = replace(self.cluster, namespace=None)
        if self.source is None:
            from ksolver_cli.cli.cluster.connection import read_live

            return read_live(flags)
        if flags.given:
            raise CommandError("a snapshot and kubectl's flags for a cluster", "give one of them", Exit.USAGE)
        from ksolver_cli.snapshot.read import read_snapshot

        return read_snapshot([self.source])


def _from_snapshot(asked: _Asked) -> "Why":
    from ksolver_cli.explain.why import PodNotFoundError, why_in_snapshot

    if not asked.pod:
        raise CommandError("no pod named", "ksolver why NAMESPACE/NAME SNAPSHOT, or -f MANIFEST", Exit.USAGE)
    bare = asked.namespace and "/" not in asked.pod
    name = f"{asked.namespace}/{asked.pod}" if bare else asked.pod
    try:
        return why_in_snapshot(asked.snapshot(), name, complete=asked.complete, version=asked.version)
    except PodNotFoundError as error:
        raise _not_found(error, asked.where) from error


def _from_manifest(asked: _Asked) -> "Why":
    from ksolver_cli.explain.why import manifests_in, why_manifest
    from ksolver_cli.normalise.fields import FieldError
    from ksolver_cli.snapshot.read import read_snapshot

    file = asked.manifest or ""
    if file == asked.source == "-":
        raise CommandError("stdin cannot be both the manifest and the snapshot", "give one of them a file", Exit.USAGE)
    raw = _chosen(manifests_in(read_snapshot([file])), asked)
    snapshot, version = asked.snapshot(), asked.version
    try:
        return why_manifest(snapshot, raw, namespace=asked.namespace, complete=asked.complete, version=version)
    except FieldError as error:
        what = f"{file}: {error.path}: expected {error.expected}"
        raise CommandError(what, "correct the manifest", Exit.SNAPSHOT) from error


def _chosen(found: Sequence["Raw"], asked: _Asked) -> "Raw":
    """The one manifest, or the one that POD names."""
    from ksolver_cli.normalise.fields import object_name

    names = [object_name(raw, index) for index, raw in enumerate(found)]
    wanted = asked.pod.rpartition("/")[2] if asked.pod else None
    matching = [raw for raw, name in zip(found, names, strict=True) if wanted in (None, name.rpartition("/")[2])]
    if len(matching) == 1:
        return matching[0]
    if not found:
        hint = "give a Pod, a Deployment, a StatefulSet, a DaemonSet, a ReplicaSet, a Job or a CronJob"
        raise CommandError(f"{asked.manifest}: no pod and no pod template in it", hint, Exit.USAGE)
    raise CommandError(
        f"{asked.manifest}: {f'no pod {wanted}' if wanted else 'more than one pod'} in it",
        f"name one of: {', '.join(names[:_SHOWN])}",
        Exit.USAGE,
    )


def _not_found(error: "PodNotFoundError", where: str) -> CommandError:
    if error.fault:
        return CommandError(f"{where}: {error.name} cannot be read: {error.fault}", "correct the object", Exit.SNAPSHOT)
    near = f"it has {', '.join(error.near[:_SHOWN])}" if error.near else "write it as namespace/name"
    problem = "is the name of several pods" if len(error.near) > 1 and "/" not in error.name else "is not in the input"
    return CommandError(f"{where}: pod {error.name} {problem}", near, Exit.USAGE)


def _version(text: str | None) -> str | None:
    from ksolver_cli.normalise.version import parse_version

    if text is not None and parse_version(text) is None:
        raise CommandError(f"--kubernetes-version {text}: not a version", "write it as 1.36", Exit.USAGE)
    return text
