"""From kubectl's flags to a connection, and errors of reading a cluster in two lines."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ksolver_cli.cli.common.exits import CommandError, Exit
from ksolver_cli.collect.access.settings import Connection
from ksolver_cli.collect.errors import ApiError, CollectError


@dataclass(frozen=True, slots=True)
class Flags:
    """kubectl's flags as they were typed."""

    context: str | None = None
    kubeconfig: str | None = None
    namespaces: Sequence[str] = ()
    all_namespaces: bool = False
    as_user: str | None = None
    as_groups: Sequence[str] = ()
    request_seconds: float = 60.0
    kind_seconds: float = 600.0

    def connection(self) -> Connection:
        """Return the connection; raises CommandError for flags that contradict each other."""
        if self.all_namespaces and self.namespaces:
            raise CommandError("-A and -n contradict each other", "give one of them", Exit.USAGE)
        return Connection(
            kubeconfig=self.kubeconfig,
            context=self.context,
            namespaces=tuple(dict.fromkeys(self.namespaces)),
            as_user=self.as_user,
            as_groups=tuple(self.as_groups),
            request_seconds=self.request_seconds,
            kind_seconds=max(self.kind_seconds, self.request_seconds),
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
