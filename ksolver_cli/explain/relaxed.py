"""The cluster with every constraint dropped that a team could drop by editing a manifest.

What stays is physics and identity: resources, pod slots, host ports, volumes and where they live, devices, architecture
and operating system, bare and static pods. The floor of the waterfall is what this cluster could cost.
"""

from dataclasses import replace

from ksolver_cli.constraints.eviction import DO_NOT_DISRUPT, SAFE_TO_EVICT, SCALE_DOWN_DISABLED
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels, NodeSelector, NodeSelectorTerm, Requirement
from ksolver_cli.domain.node import Node, Taint
from ksolver_cli.domain.pod import Pod, PodSpec

PLATFORM_KEYS = frozenset(
    {"kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os"},
)
"""Node labels that say what a machine is able to run; a selector on them is no choice of a team."""

_SYSTEM_TAINTS = "node.kubernetes.io/"
_DROPPED_ANNOTATIONS = frozenset({DO_NOT_DISRUPT, SAFE_TO_EVICT, SCALE_DOWN_DISABLED})


def relaxed(cluster: Cluster) -> Cluster:
    """A copy without taints of the operators' own, selectors beyond the platform, affinities, spread, disruption
    budgets and do-not-disrupt marks. Pods that shared a spec share one again.
    """
    specs: dict[int, PodSpec] = {}

    def spec_of(spec: PodSpec) -> PodSpec:
        if id(spec) not in specs:
            specs[id(spec)] = _relaxed_spec(spec)
        return specs[id(spec)]

    pods = tuple(_relaxed_pod(pod, spec_of(pod.spec)) for pod in cluster.pods)
    return replace(cluster, pods=pods, nodes=tuple(_relaxed_node(node) for node in cluster.nodes), budgets=())


def _relaxed_pod(pod: Pod, spec: PodSpec) -> Pod:
    if pod.is_daemon or pod.is_static:
        # They keep their node's name in their affinity, and go with it.
        return pod
    return replace(pod, spec=spec, annotations=_without(pod.annotations))


def _relaxed_node(node: Node) -> Node:
    taints = tuple(taint for taint in node.taints if _is_system(taint))
    return replace(node, taints=taints, annotations=_without(node.annotations))


def _is_system(taint: Taint) -> bool:
    return taint.key.startswith(_SYSTEM_TAINTS)


def _without(annotations: Labels) -> Labels:
    return {key: value for key, value in annotations.items() if key not in _DROPPED_ANNOTATIONS}


def _relaxed_spec(spec: PodSpec) -> PodSpec:
    return replace(
        spec,
        node_selector=tuple((key, value) for key, value in spec.node_selector if key in PLATFORM_KEYS),
        node_affinity=_platform_only(spec.node_affinity),
        preferred_node_affinity=(),
        affinity=(),
        anti_affinity=(),
        preferred_affinity=(),
        preferred_anti_affinity=(),
        spread=(),
    )


def _platform_only(affinity: NodeSelector | None) -> NodeSelector | None:
    """The affinity as far as it is about the platform; terms are alternatives: one that asks nothing asks nothing."""
    if affinity is None:
        return None
    terms = []
    for term in affinity.terms:
        if not term.expressions and not term.fields:
            continue
        kept = tuple(requirement for requirement in term.expressions if _is_platform(requirement))
        if not kept:
            return None
        terms.append(NodeSelectorTerm(kept))
    return NodeSelector(tuple(terms)) if terms else affinity


def _is_platform(requirement: Requirement) -> bool:
    return requirement.key in PLATFORM_KEYS
