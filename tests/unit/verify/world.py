"""Small clusters for the referee and the planner, written down as they would be said."""

from collections.abc import Iterable

from ksolver_cli.domain.cluster import Cluster, DisruptionBudget
from ksolver_cli.domain.labels import LabelSelector, Operator, Requirement
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import (
    Pod,
    PodAffinityTerm,
    PodSpec,
    SpreadConstraint,
    WorkloadRef,
)

GIB = 2**30
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def node(name: str, zone: str = "a", cpu: int = 4000, memory: int = 16 * GIB, **facts: object) -> Node:
    labels = {HOSTNAME: name, ZONE: zone}
    return Node(name, {"cpu": cpu, "memory": memory, "pods": 58}, labels=labels, **facts)  # type: ignore[arg-type] # facts of a Node


def app(value: str) -> LabelSelector:
    return LabelSelector((Requirement("app", Operator.IN, (value,)),))


def apart(value: str, key: str = HOSTNAME) -> tuple[PodAffinityTerm, ...]:
    return (PodAffinityTerm(key, app(value), ("default",)),)


def spread(value: str, key: str = ZONE, skew: int = 1) -> tuple[SpreadConstraint, ...]:
    return (SpreadConstraint(skew, key, True, app(value)),)


def spec(cpu: int = 1000, memory: int = GIB, **facts: object) -> PodSpec:
    return PodSpec({"cpu": cpu, "memory": memory}, **facts)  # type: ignore[arg-type] # facts of a PodSpec


def pod(name: str, on: str, what: PodSpec, value: str = "", kind: str = "ReplicaSet", **facts: object) -> Pod:
    value = value or name.rsplit("-", 1)[0]
    owner = WorkloadRef(kind, "default", value) if kind else None
    return Pod(
        "default",
        name,
        what,
        labels={"app": value},
        node_name=on,
        controller=owner,
        workload=owner,
        **facts,  # type: ignore[arg-type] # facts of a Pod
    )


def cluster(nodes: Iterable[Node], pods: Iterable[Pod], budgets: Iterable[DisruptionBudget] = ()) -> Cluster:
    return Cluster(tuple(nodes), tuple(pods), budgets=tuple(budgets), complete=True)


def prices(of: Cluster, micros: int = 100_000) -> dict[str, int | None]:
    return {n.name: micros for n in of.nodes}
