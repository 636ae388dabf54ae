"""From kubectl's flags to a connection or a snapshot, and errors of reading a cluster in two lines."""

import contextlib
import re
from collections.abc import Iterator

from ksolver_cli.cli.cluster.bars import reading_bars
from ksolver_cli.cli.common.cluster_flags import ClusterFlags
from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.errors import ApiError, CollectError
from ksolver_cli.collect.live import read_cluster
from ksolver_cli.snapshot.model import Snapshot

_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
KIND_SECONDS = 600.0
"""How long one kind may take."""


def connection_of(flags: ClusterFlags, kind_seconds: float = KIND_SECONDS) -> Connection:
    """Return the connection; raises CommandError for flags that contradict each other."""
    namespaces = tuple(dict.fromkeys(flags.namespace or ()))
    if flags.all_namespaces and namespaces:
        raise CommandError("-A and -n contradict each other", "give one of them", Exit.USAGE)
    for namespace in namespaces:
        if not _NAMESPACE.fullmatch(namespace):
            hint = "a namespace has lower-case letters, digits and dashes; leave -n out for all of them"
            raise CommandError(f"-n {namespace}: no namespace is called that", hint, Exit.USAGE)
    return Connection(
        kubeconfig=flags.kubeconfig,
        context=flags.context,
        namespaces=namespaces,
        as_user=flags.as_user,
        as_groups=tuple(flags.as_group or ()),
        request_seconds=flags.request_timeout,
        kind_seconds=max(kind_seconds, flags.request_timeout),
    )


@contextlib.contextmanager
def cluster_errors_told() -> Iterator[None]:
    """Turn what goes wrong with a cluster into the error that the command ends with (exit 3)."""
    try:
        yield
    except CollectError as error:
        raise CommandError(error.what, error.hint, Exit.CLUSTER) from error
    except ApiError as error:
        raise CommandError(f"the cluster: {error}", "try again, or run `ksolver doctor`", Exit.CLUSTER) from error


def read_live(flags: ClusterFlags) -> Snapshot:
    """Return the cluster that the flags lead to, in memory, with a bar for each kind; raises CommandError."""
    connection = connection_of(flags)
    with cluster_errors_told(), reading_bars() as bars:
        return read_cluster(connection, bars)
