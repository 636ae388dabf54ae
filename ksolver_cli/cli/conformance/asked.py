"""What was asked of `ksolver conform`, in parts that belong together."""

from dataclasses import dataclass, field
from pathlib import Path

from ksolver_cli.cli.common.cluster_flags import ClusterFlags


@dataclass(frozen=True, slots=True)
class Input:
    """The cluster to take pods and nodes from."""

    paths: tuple[str, ...]
    demo: bool = False
    cluster: str | None = None
    kubernetes_version: str | None = None
    live: ClusterFlags = field(default_factory=ClusterFlags)
    """Where to read when no snapshot is named; never the control plane whose verdicts are asked for."""


@dataclass(frozen=True, slots=True)
class Source:
    """Whom to ask for the scheduler's verdicts, and where to keep them."""

    scheduler: str | None = None
    url: str | None = None
    kubeconfig: Path | None = None
    context: str | None = None
    seconds: float = 10.0
    record: Path | None = None


@dataclass(frozen=True, slots=True)
class Sampling:
    """Which pairs to compare."""

    pods: str = "pending"
    sample: int = 20
    max_nodes: int = 0
    dedup: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Gating:
    """What makes the process exit 1."""

    strict_all: bool = False
    false_positive: bool = False
    any_strict: bool = False
    allow_skip: bool = False
    min_pairs: int = 1

    @property
    def asked(self) -> bool:
        """Whether some --fail-on flag was given."""
        return self.false_positive or self.any_strict


@dataclass(frozen=True, slots=True)
class Showing:
    """What to print, and where."""

    format: str = "text"
    out: str | None = None
    junit: str | None = None
