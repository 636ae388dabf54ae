"""Which labels anybody looks at: what selectors, topology keys, volumes and claims can tell apart."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels, LabelSelector, NodeSelector, Operator, Requirement, label_keys
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.pod import Pod, PodAffinityTerm, PodSpec, VolumeKind
from ksolver_cli.normalise.device_view import node_devices

HOSTNAME = "kubernetes.io/hostname"
NODE_NAME_FIELD = "metadata.name"
OTHER_VALUE = "*"
"""Stands for any value that nobody names; no label can have it."""

_ZONE_KEYS = (
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
)
"""Labels of a volume that VolumeZone compares with a node's."""

_CLAIMED = (VolumeKind.CLAIM, VolumeKind.EPHEMERAL)


def pod_label_keys(pods: Iterable[Pod]) -> frozenset[str]:
    """The pod labels that a term or a spread constraint of any of the pods looks at, preferred ones too."""
    specs = {id(pod.spec): pod.spec for pod in pods}
    keys: set[str] = set()
    for spec in specs.values():
        keys |= label_keys(term.selector for term in affinity_terms(spec))
        keys |= label_keys(constraint.selector for constraint in spec.spread)
        keys.update(key for constraint in spec.spread for key in constraint.match_label_keys)
    return frozenset(keys)


def affinity_terms(spec: PodSpec) -> Iterator[PodAffinityTerm]:
    """Every pod (anti-)affinity term of a spec, required and preferred."""
    yield from spec.affinity
    yield from spec.anti_affinity
    yield from (preferred.term for preferred in spec.preferred_affinity)
    yield from (preferred.term for preferred in spec.preferred_anti_affinity)


@dataclass
class NodeView:
    """What pods and volumes see of a node: some labels in full, of others only whether the value is one they name."""

    full: set[str] = field(default_factory=set)
    named: dict[str, set[str]] = field(default_factory=dict)
    named_nodes: set[str] = field(default_factory=set)
    extras: Callable[[Node], Hashable] = field(default=lambda _node: None)
    """What else tells nodes apart: attach limits, devices."""

    def visible(self, node: Node) -> Labels:
        """The node's labels as far as anybody looks, by key; a value that nobody names reads as `*`."""
        seen = {}
        for key in sorted(self.full | self.named.keys()):
            value = node.labels.get(key)
            if value is not None:
                seen[key] = value if key in self.full or value in self.named[key] else OTHER_VALUE
        return seen

    def name_seen(self, node: Node) -> str:
        """The node's name where a selector names it, else nothing."""
        return node.name if node.name in self.named_nodes else ""

    def look(self, requirement: Requirement) -> None:
        """Note that a requirement looks at a label: at its values where it compares them with others than its own."""
        if requirement.operator in (Operator.GT, Operator.LT):
            self.full.add(requirement.key)
        else:
            self.named.setdefault(requirement.key, set()).update(requirement.values)

    def look_selector(self, selector: NodeSelector | None) -> None:
        """Note what a node selector looks at."""
        for term in selector.terms if selector is not None else ():
            for requirement in term.expressions:
                self.look(requirement)
            for requirement in term.fields:
                if requirement.key == NODE_NAME_FIELD:
                    self.named_nodes.update(requirement.values)

    def look_labels(self, selector: LabelSelector | None) -> None:
        """Note what a label selector over nodes looks at."""
        for requirement in selector.requirements if selector is not None else ():
            self.look(requirement)

    def look_topology(self, key: str) -> None:
        """Note a topology key: its values are domains; those of the hostname are the nodes themselves."""
        if key == HOSTNAME:
            self.named.setdefault(key, set())
        else:
            self.full.add(key)


def node_view(cluster: Cluster, pods: Iterable[Pod]) -> NodeView:
    """What the pods that may move, their volumes and the DaemonSets can see of nodes.

    Daemon and static pods are left out: each names its own node, and goes with it.
    """
    movers = [pod for pod in pods if not pod.is_daemon and not pod.is_static]
    view = NodeView(extras=_extras(cluster))
    specs = {id(pod.spec): pod.spec for pod in movers}
    templates = [workload.template for workload in cluster.workloads if workload.template is not None]
    for spec in (*specs.values(), *templates):
        _look_spec(view, spec)
    for pod in pods:
        # Others' terms bind movers too: their domains count.
        for term in affinity_terms(pod.spec) if pod.is_daemon or pod.is_static else ():
            view.look_topology(term.topology_key)
    _look_storage(view, cluster, movers)
    _look_devices(view, cluster)
    return view


def _look_spec(view: NodeView, spec: PodSpec) -> None:
    for key, value in spec.node_selector:
        view.look(Requirement(key, Operator.IN, (value,)))
    view.look_selector(spec.node_affinity)
    view.look_selector(NodeSelector(tuple(preferred.term for preferred in spec.preferred_node_affinity)))
    for term in affinity_terms(spec):
        view.look_topology(term.topology_key)
    for constraint in spec.spread:
        view.look_topology(constraint.topology_key)


def _look_storage(view: NodeView, cluster: Cluster, movers: Iterable[Pod]) -> None:
    """Volumes that a mover's claim has or could get, and where storage classes and drivers can make new ones."""
    storage = cluster.storage
    claims = {(pod.namespace, v.source) for pod in movers for v in pod.spec.volumes if v.kind in _CLAIMED}
    if not claims:
        return
    for volume in storage.volumes.values():
        if volume.claim_ref is None or volume.claim_ref[:2] in claims:
            view.look_selector(volume.node_affinity)
            view.look_selector(volume.translated_affinity)
            view.full.update(key for key in _ZONE_KEYS if key in volume.labels)
    for cls in storage.classes.values():
        for requirement in (r for term in cls.allowed_topologies for r in term):
            view.look(requirement)
    for capacity in storage.capacities:
        view.look_labels(capacity.topology)


def _look_devices(view: NodeView, cluster: Cluster) -> None:
    """Where devices that are not one node's can be used from, and where claims that have theirs are held."""
    for found in cluster.devices.slices:
        for reach in (found.reach, *(device.reach for device in found.devices)):
            view.look_selector(reach.selector)
    for claim in cluster.devices.claims.values():
        if claim.allocation is not None and not claim.controller_uid:
            view.look_selector(claim.allocation.nodes)


def _extras(cluster: Cluster) -> Callable[[Node], Hashable]:
    devices = node_devices(cluster.devices)

    def of(node: Node) -> Hashable:
        csi = cluster.storage.csi_nodes.get(node.name)
        limits = None if csi is None else (csi.drivers, frozenset(csi.limits.items()), csi.migrated)
        return limits, devices(node.name)

    return of
