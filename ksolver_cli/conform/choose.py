"""Which pods and nodes are compared: pending pods first, in a random order that a seed fixes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import TypeVar

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod

T = TypeVar("T")


class Pods(StrEnum):
    """Which pods may be chosen."""

    PENDING = "pending"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Choice:
    """How many to choose; 0 is all."""

    pods: Pods = Pods.PENDING
    sample: int = 20
    max_nodes: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Chosen:
    """What will be compared, and what was there to choose from."""

    pods: tuple[Pod, ...]
    nodes: tuple[Node, ...]
    pods_total: int
    nodes_total: int
    cordoned: int


def choose(cluster: Cluster, choice: Choice) -> Chosen:
    """Choose pods, unbound ones first, and nodes that are not cordoned; both a random sample in a fixed order."""
    # Seeded choices that must be repeatable; nothing here is a secret.
    random = Random(choice.seed)  # noqa: S311
    living = [pod for pod in cluster.pods if not pod.is_finished]
    pending = _shuffled([pod for pod in living if not pod.is_bound], random)
    bound = _shuffled([pod for pod in living if pod.is_bound], random) if choice.pods is Pods.ALL else []
    candidates = [*pending, *bound]
    open_nodes = [node for node in cluster.nodes if not node.unschedulable]
    nodes = _shuffled(open_nodes, random)[: choice.max_nodes or None]
    return Chosen(
        pods=tuple(candidates[: choice.sample or None]),
        nodes=tuple(sorted(nodes, key=lambda node: node.name)),
        pods_total=len(candidates),
        nodes_total=len(cluster.nodes),
        cordoned=len(cluster.nodes) - len(open_nodes),
    )


def _shuffled(items: Sequence[T], random: Random) -> list[T]:
    return random.sample(items, len(items))
