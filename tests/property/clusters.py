"""Tiny random clusters with constraints of every kind that depends on other pods."""

from hypothesis import strategies as st

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import LabelSelector, NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.domain.node import Node, Taint
from ksolver_cli.domain.pod import (
    Effect,
    HostPort,
    Phase,
    Pod,
    PodAffinityTerm,
    PodSpec,
    SpreadConstraint,
    Toleration,
    WorkloadRef,
)

ZONE, HOST, POOL = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "pool"
APPS = ("a", "b")
NAMESPACES = {"one": {"team": "x"}, "two": {}}

selectors = st.sampled_from(
    (
        *(LabelSelector((Requirement("app", Operator.IN, (app,)),)) for app in APPS),
        LabelSelector((Requirement("app", Operator.NOT_IN, ("a",)),)),
        LabelSelector((Requirement("app", Operator.EXISTS),)),
        LabelSelector(),
        None,
    )
)
keys = st.sampled_from((ZONE, HOST, POOL))
taints = st.sampled_from((Taint("gpu", "", Effect.NO_SCHEDULE), Taint("old", "yes", Effect.PREFER_NO_SCHEDULE)))
tolerations = st.sampled_from(
    (Toleration("gpu", "Exists"), Toleration("", "Exists"), Toleration("node.kubernetes.io/unschedulable", "Exists"))
)
affinities = st.sampled_from(
    (
        NodeSelector((NodeSelectorTerm((Requirement(ZONE, Operator.IN, ("z0", "z1")),)),)),
        NodeSelector((NodeSelectorTerm((Requirement(POOL, Operator.DOES_NOT_EXIST),)),)),
        NodeSelector((NodeSelectorTerm((), (Requirement("metadata.name", Operator.IN, ("n0",)),)),)),
        NodeSelector((NodeSelectorTerm((Requirement("gen", Operator.GT, ("1",)),)), NodeSelectorTerm())),
    )
)
ports = st.sampled_from((HostPort(80), HostPort(80, "UDP"), HostPort(80, "TCP", "10.0.0.1"), HostPort(81)))


@st.composite
def nodes(draw: st.DrawFn, name: str) -> Node:
    labels = {HOST: name} if draw(st.integers(0, 9)) else {}
    labels |= draw(st.sampled_from(({}, {ZONE: "z0"}, {ZONE: "z1"}, {ZONE: "z2"})))
    labels |= draw(st.sampled_from(({}, {POOL: "p"}, {POOL: "q", "gen": "2"})))
    room = draw(st.sampled_from((1000, 2000, 4000)))
    return Node(
        name=name,
        allocatable={"cpu": room, "memory": 1 << 30, "pods": draw(st.integers(1, 4))},
        labels=labels,
        taints=tuple(draw(st.lists(taints, max_size=1))),
        unschedulable=not draw(st.integers(0, 7)),
    )


@st.composite
def terms(draw: st.DrawFn, namespace: str) -> PodAffinityTerm:
    own = draw(st.booleans())
    wide = None if own else draw(st.sampled_from((LabelSelector(), _TEAM, None)))
    named = (namespace,) if own else draw(st.sampled_from(((), ("one",), ("one", "two"))))
    return PodAffinityTerm(draw(keys), draw(selectors), named, wide)


_TEAM = LabelSelector((Requirement("team", Operator.IN, ("x",)),))


@st.composite
def spreads(draw: st.DrawFn) -> SpreadConstraint:
    return SpreadConstraint(
        max_skew=draw(st.integers(1, 2)),
        topology_key=draw(keys),
        hard=draw(st.integers(0, 4)) > 0,
        selector=draw(selectors),
        min_domains=draw(st.sampled_from((None, None, 2, 3))),
        honor_node_affinity=draw(st.booleans()),
        honor_node_taints=draw(st.booleans()),
        match_label_keys=draw(st.sampled_from(((), (), ("rev",)))),
    )


@st.composite
def specs(draw: st.DrawFn, namespace: str) -> PodSpec:
    def some(strategy: st.SearchStrategy, odds: int) -> tuple:
        return tuple(draw(st.lists(strategy, min_size=1, max_size=2))) if not draw(st.integers(0, odds)) else ()

    return PodSpec(
        requests={"cpu": draw(st.sampled_from((0, 500, 1500)))},
        node_selector=draw(st.sampled_from(((), (), ((POOL, "p"),)))),
        node_affinity=draw(affinities) if not draw(st.integers(0, 4)) else None,
        affinity=some(terms(namespace), 4),
        anti_affinity=some(terms(namespace), 2),
        spread=some(spreads(), 2),
        tolerations=some(tolerations, 2),
        host_ports=tuple(dict.fromkeys(some(ports, 4))),
    )


@st.composite
def clusters(draw: st.DrawFn, max_nodes: int = 5, max_workloads: int = 4, max_replicas: int = 3) -> Cluster:
    """Workloads of one to three pods, none of them placed."""
    pods = []
    for number in range(draw(st.integers(1, max_workloads))):
        namespace = draw(st.sampled_from(tuple(NAMESPACES)))
        spec = draw(specs(namespace))
        labels = draw(st.sampled_from(({}, *({"app": app, "rev": rev} for app in APPS for rev in "12"))))
        workload = WorkloadRef("Deployment", namespace, f"w{number}")
        pods += [
            Pod(namespace, f"w{number}-{replica}", spec, labels=labels, workload=workload, phase=Phase.PENDING)
            for replica in range(draw(st.integers(1, max_replicas)))
        ]
    made = tuple(draw(nodes(f"n{number}")) for number in range(draw(st.integers(1, max_nodes))))
    return Cluster(nodes=made, pods=tuple(pods), namespaces=NAMESPACES, complete=True)
