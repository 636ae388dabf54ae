"""What is read but judged only in part: other schedulers, virtual and unready nodes, shared GPUs, unknown images."""

from collections.abc import Iterable, Mapping

from ksolver_cli.domain.cluster import CaveatKind
from ksolver_cli.domain.labels import NodeSelectorTerm
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodSpec
from ksolver_cli.normalise.fields import Problems

DEFAULT_SCHEDULER = "default-scheduler"
_ARCH_KEYS = frozenset({"kubernetes.io/arch", "beta.kubernetes.io/arch"})
_SHARING_LABEL = "nvidia.com/gpu.sharing-strategy"
_SHARED_RESOURCES = (
    "nvidia.com/gpu.shared",
    "nvidia.com/gpumem",
    "nvidia.com/gpucores",
    "aliyun.com/gpu-mem",
    "alibabacloud.com/gpu-milli",
    "tencent.com/vcuda-core",
)


def note_caveats(nodes: Iterable[Node], pods: Iterable[Pod], problems: Problems) -> None:
    """Record what later stages leave alone or can judge only in part, with the pods and nodes it touches."""
    by_name = {node.name: node for node in nodes}
    living = [pod for pod in pods if not pod.is_finished]
    _note_pods(living, by_name, problems)
    _note_nodes(by_name.values(), problems)
    _note_overcommitted(living, by_name, problems)
    _note_unknown_arch(living, by_name.values(), problems)


def _note_pods(pods: Iterable[Pod], nodes: Mapping[str, Node], problems: Problems) -> None:
    for pod in pods:
        if pod.is_bound and pod.node_name not in nodes:
            problems.note(CaveatKind.NODE_MISSING, f"node {pod.node_name}", pod.key)
        if pod.spec.scheduler_name != DEFAULT_SCHEDULER and not pod.is_static:
            problems.note(CaveatKind.FOREIGN_SCHEDULER, f"scheduler {pod.spec.scheduler_name}", pod.key)
        home = nodes.get(pod.node_name) if pod.is_bound else None
        if home is not None and _is_silent(home) and not pod.is_daemon and not pod.is_static:
            problems.note(CaveatKind.NOT_READY, "an eviction may never end, its kubelet is not heard of", pod.key)


def _note_nodes(nodes: Iterable[Node], problems: Problems) -> None:
    for node in nodes:
        if node.is_virtual:
            problems.note(CaveatKind.VIRTUAL_NODE, "no machine of its own", node.name)
        elif _is_silent(node):
            problems.note(CaveatKind.NOT_READY, "Ready is not True", node.name)
        shared = [name for name in _SHARED_RESOURCES if node.allocatable.get(name)]
        if node.labels.get(_SHARING_LABEL, "none") not in ("", "none"):
            shared.append(f"{_SHARING_LABEL}={node.labels[_SHARING_LABEL]}")
        for name in shared:
            problems.note(CaveatKind.SHARED_GPU, name, node.name)


def _is_silent(node: Node) -> bool:
    """Whether a kubelet that there ought to be does not say that it is well."""
    return not node.ready and not node.is_virtual


def _note_overcommitted(pods: Iterable[Pod], nodes: Mapping[str, Node], problems: Problems) -> None:
    held: dict[str, dict[str, int]] = {}
    for pod in pods:
        if pod.is_bound and pod.node_name in nodes:
            total = held.setdefault(pod.node_name, {"pods": 0})
            total["pods"] += 1
            for name, amount in pod.held.items():
                total[name] = total.get(name, 0) + amount
    for name, total in sorted(held.items()):
        allocatable = nodes[name].allocatable
        for resource in sorted(resource for resource, amount in total.items() if amount > allocatable.get(resource, 0)):
            problems.note(CaveatKind.OVERCOMMITTED_NODE, resource, name)


def _note_unknown_arch(pods: Iterable[Pod], nodes: Iterable[Node], problems: Problems) -> None:
    """In a cluster of several architectures, pods that may land on any though their images may not run there."""
    architectures = {node.labels.get("kubernetes.io/arch", "") for node in nodes if not node.is_virtual}
    if len(architectures - {""}) < 2:
        return
    chosen: dict[int, bool] = {}
    for pod in pods:
        if pod.is_static or pod.is_daemon:
            continue
        spec = pod.spec
        if not chosen.setdefault(id(spec), _chooses_arch(spec)):
            problems.note(CaveatKind.IMAGE_ARCH_UNKNOWN, "no node selector on the architecture", pod.key)


def _chooses_arch(spec: PodSpec) -> bool:
    if any(key in _ARCH_KEYS for key, _ in spec.node_selector):
        return True
    terms = spec.node_affinity.terms if spec.node_affinity is not None else ()
    return bool(terms) and all(_names_arch(term) for term in terms)


def _names_arch(term: NodeSelectorTerm) -> bool:
    return any(requirement.key in _ARCH_KEYS for requirement in term.expressions)
