"""`ksolver why`: every node's Filter verdict on one pod."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.explain.why import PodNotFoundError, Raw, Why, manifests_in, why_in_snapshot, why_manifest
from ksolver_cli.normalise.fields import FieldError, object_name
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.render.console import console_for
from ksolver_cli.render.why import render_why, why_record
from ksolver_cli.snapshot.model import Snapshot
from ksolver_cli.snapshot.read import read_snapshot

_SHOWN = 8
"""How many names an error lists."""


class Output(StrEnum):
    """Formats of this command."""

    TEXT = "text"
    JSON = "json"


def why(  # noqa: PLR0913 - what can be asked on the command line
    pod: Annotated[
        str | None, typer.Argument(metavar="[POD]", help="namespace/name; with -f it may be left out.")
    ] = None,
    snapshot: Annotated[
        str | None,
        typer.Argument(metavar="[SNAPSHOT]", help="A snapshot, a kubectl list, a directory, or - for stdin."),
    ] = None,
    manifest: Annotated[
        str | None,
        typer.Option("-f", "--filename", help="Judge the pod of this manifest instead of one that is there."),
    ] = None,
    namespace: Annotated[str | None, typer.Option("-n", "--namespace", help="Namespace of a POD without one.")] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="What the input lacks does not exist; nothing is unknown.")
    ] = False,
    kubernetes_version: Annotated[
        str | None, typer.Option("--kubernetes-version", help="Judge as this version does, such as 1.34.")
    ] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="How to print.")] = Output.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="The same as -o json.")] = False,
) -> None:
    """Say for one pod what every node's Filter phase says, and every plugin that rejects it.

    A bound pod is judged as if it had just been evicted. A pending pod and a manifest keep the node they name.
    """
    if manifest is not None and snapshot is None:
        pod, snapshot = None, pod
    if snapshot is None:
        raise CommandError(
            "no snapshot to judge the pod in",
            "ksolver why POD SNAPSHOT, with a file of `kubectl get nodes,pods,… -A -o json` or - for stdin",
            Exit.USAGE,
        )
    asked = _Asked(pod, namespace or "", manifest, complete, _version(kubernetes_version))
    facts = _from_manifest(read_snapshot([snapshot]), asked) if manifest else _from_snapshot(snapshot, asked)
    if as_json or output is Output.JSON:
        sys.stdout.write(json.dumps(why_record(facts), indent=2, ensure_ascii=False) + "\n")
    else:
        render_why(console_for(), facts)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked for on the command line."""

    pod: str | None
    namespace: str
    manifest: str | None
    complete: bool
    version: str | None


def _from_snapshot(path: str, asked: _Asked) -> Why:
    if not asked.pod:
        raise CommandError("no pod named", "ksolver why NAMESPACE/NAME SNAPSHOT, or -f MANIFEST", Exit.USAGE)
    bare = asked.namespace and "/" not in asked.pod
    name = f"{asked.namespace}/{asked.pod}" if bare else asked.pod
    try:
        return why_in_snapshot(read_snapshot([path]), name, complete=asked.complete, version=asked.version)
    except PodNotFoundError as error:
        raise _not_found(error, path) from error


def _from_manifest(snapshot: Snapshot, asked: _Asked) -> Why:
    raw = _chosen(manifests_in(read_snapshot([asked.manifest or ""])), asked)
    try:
        return why_manifest(snapshot, raw, namespace=asked.namespace, complete=asked.complete, version=asked.version)
    except FieldError as error:
        raise CommandError(
            f"{asked.manifest}: {error.path}: expected {error.expected}", "correct the manifest", Exit.SNAPSHOT
        ) from error


def _chosen(found: Sequence[Raw], asked: _Asked) -> Raw:
    """The one manifest, or the one that POD names."""
    names = [object_name(raw, index) for index, raw in enumerate(found)]
    wanted = asked.pod.rpartition("/")[2] if asked.pod else None
    matching = [raw for raw, name in zip(found, names, strict=True) if wanted in (None, name.rpartition("/")[2])]
    if len(matching) == 1:
        return matching[0]
    if not found:
        hint = "give a Pod, a Deployment, a StatefulSet, a DaemonSet, a ReplicaSet or a Job"
        raise CommandError(f"{asked.manifest}: no pod and no pod template in it", hint, Exit.USAGE)
    raise CommandError(
        f"{asked.manifest}: {f'no pod {wanted}' if wanted else 'more than one pod'} in it",
        f"name one of: {', '.join(names[:_SHOWN])}",
        Exit.USAGE,
    )


def _not_found(error: PodNotFoundError, path: str) -> CommandError:
    where = "stdin" if path == "-" else path
    if error.fault:
        return CommandError(f"{where}: {error.name} cannot be read: {error.fault}", "correct the object", Exit.SNAPSHOT)
    near = f"it has {', '.join(error.near[:_SHOWN])}" if error.near else "write it as namespace/name"
    problem = "is the name of several pods" if len(error.near) > 1 and "/" not in error.name else "is not in the input"
    return CommandError(f"{where}: pod {error.name} {problem}", near, Exit.USAGE)


def _version(text: str | None) -> str | None:
    if text is not None and parse_version(text) is None:
        raise CommandError(f"--kubernetes-version {text}: not a version", "write it as 1.36", Exit.USAGE)
    return text
