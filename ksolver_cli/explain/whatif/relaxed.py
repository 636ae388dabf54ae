"""The cluster with constraints dropped that a team could drop by editing a manifest.

What is never dropped is physics and identity: resources, pod slots, host ports, volumes and where they live, devices,
architecture and operating system, bare and static pods.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ksolver_cli.constraints.eviction import DO_NOT_DISRUPT, SAFE_TO_EVICT, SCALE_DOWN_DISABLED
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels, NodeSelector, NodeSelectorTerm
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodSpec

PLATFORM_KEYS = frozenset(
    {"kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os"},
)
"""Node labels that say what a machine is able to run; a selector on them is no choice of a team."""

_SYSTEM_TAINTS = "node.kubernetes.io/"
_DISRUPTION_MARKS = frozenset({DO_NOT_DISRUPT, SAFE_TO_EVICT, SCALE_DOWN_DISABLED})


@dataclass(frozen=True, slots=True)
class Dropped:
    """Which kinds of constraint are dropped, on every object."""

    taints: bool = False
    """Taints that people set; those of the node lifecycle (`node.kubernetes.io/…`) stay."""
    node_affinity: bool = False
    """Node selectors and required node affinity beyond the platform."""
    pod_affinity: bool = False
    anti_affinity: bool = False
    spread: bool = False
    disruption: bool = False
    """Disruption budgets, do-not-disrupt and safe-to-evict marks."""


EVERYTHING = Dropped(True, True, True, True, True, True)
"""All that can be dropped: the floor of the waterfall is what this cluster could cost."""


def without(cluster: Cluster, dropped: Dropped) -> Cluster:
    """A copy without what is dropped. Pods that shared a spec share one again."""
    specs: dict[int, PodSpec] = {}

    def spec_of(spec: PodSpec) -> PodSpec:
        if id(spec) not in specs:
            specs[id(spec)] = _spec(spec, dropped)
        return specs[id(spec)]

    return replace(
        cluster,
        pods=tuple(_pod(pod, dropped, spec_of) for pod in cluster.pods),
        nodes=tuple(_node(node, dropped) for node in cluster.nodes),
        budgets=() if dropped.disruption else cluster.budgets,
    )


def _pod(pod: Pod, dropped: Dropped, spec_of: Callable[[PodSpec], PodSpec]) -> Pod:
    if pod.is_daemon or pod.is_static:
        # They keep their node's name in their affinity, and go with it.
        return pod
    return replace(pod, spec=spec_of(pod.spec), annotations=_marks(pod.annotations, dropped))


def _node(node: Node, dropped: Dropped) -> Node:
    taints = node.taints
    if dropped.taints:
        taints = tuple(taint for taint in taints if taint.key.startswith(_SYSTEM_TAINTS))
    return replace(node, taints=taints, annotations=_marks(node.annotations, dropped))


def _marks(annotations: Labels, dropped: Dropped) -> Labels:
    if not dropped.disruption:
        return annotations
    return {key: value for key, value in annotations.items() if key not in _DISRUPTION_MARKS}


def _spec(spec: PodSpec, dropped: Dropped) -> PodSpec:
    if dropped.node_affinity:
        kept = tuple((key, value) for key, value in spec.node_selector if key in PLATFORM_KEYS)
        spec = replace(spec, node_selector=kept, node_affinity=_platform_only(spec.node_affinity))
    if dropped.pod_affinity:
        spec = replace(spec, affinity=())
    if dropped.anti_affinity:
        spec = replace(spec, anti_affinity=())
    if dropped.spread:
        spec = replace(spec, spread=tuple(constraint for constraint in spec.spread if not constraint.hard))
    return spec


def _platform_only(affinity: NodeSelector | None) -> NodeSelector | None:
    """The affinity as far as it is about the platform; terms are alternatives: one that asks nothing asks nothing."""
    if affinity is None:
        return None
    terms = []
    for term in affinity.terms:
        if not term.expressions and not term.fields:
            continue
        kept = tuple(requirement for requirement in term.expressions if requirement.key in PLATFORM_KEYS)
        if not kept:
            return None
        terms.append(NodeSelectorTerm(kept))
    return NodeSelector(tuple(terms)) if terms else affinity
