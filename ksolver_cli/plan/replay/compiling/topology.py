"""Which nodes and pods a spread constraint counts, soft default constraints included."""

from dataclasses import replace

import numpy as np

from ksolver_cli.constraints.matching.selectors import node_matcher, pod_matcher
from ksolver_cli.constraints.matching.taints import first_untolerated
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels, LabelSelector, Operator, Requirement
from ksolver_cli.domain.pod import Pod, PodSpec, SpreadConstraint
from ksolver_cli.plan.replay.lanes import BoolArray

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"

SYSTEM_DEFAULTS = ((HOSTNAME, 3), (ZONE, 5))
"""Key and maxSkew of the soft constraints that pods without any of their own get (PodTopologySpread, `defaultingType:
System`).
"""

_LISTED = {
    "ReplicaSet": "replicasets",
    "StatefulSet": "statefulsets",
    "ReplicationController": "replicationcontrollers",
}


class Eligibility:
    """Node sets that spread constraints look at, each worked out once."""

    def __init__(self, cluster: Cluster) -> None:
        self._nodes = cluster.nodes
        self._wanted: dict[object, BoolArray] = {}
        self._tolerated: dict[object, BoolArray] = {}
        self._keyed: dict[frozenset[str], BoolArray] = {}

    def wanted(self, spec: PodSpec) -> BoolArray:
        """Nodes that the pod's node selector and required node affinity match."""
        key = (spec.node_selector, spec.node_affinity)
        if key not in self._wanted:
            self._wanted[key] = np.array([_wants(spec, n.labels, n.name) for n in self._nodes], dtype=bool)
        return self._wanted[key]

    def tolerated(self, spec: PodSpec) -> BoolArray:
        """Nodes whose NoSchedule and NoExecute taints the pod tolerates."""
        if spec.tolerations not in self._tolerated:
            fits = [first_untolerated(n.taints, spec.tolerations) is None for n in self._nodes]
            self._tolerated[spec.tolerations] = np.array(fits, dtype=bool)
        return self._tolerated[spec.tolerations]

    def keyed(self, keys: frozenset[str]) -> BoolArray:
        """Nodes that carry every one of these label keys."""
        if keys not in self._keyed:
            self._keyed[keys] = np.array([all(k in n.labels for k in keys) for n in self._nodes], dtype=bool)
        return self._keyed[keys]

    def counted(self, spec: PodSpec, constraint: SpreadConstraint, keys: frozenset[str]) -> BoolArray:
        """Nodes whose pods the constraint counts, by its inclusion policies; `keys` must all be there."""
        mask = self.keyed(keys)
        if constraint.honor_node_affinity:
            mask = mask & self.wanted(spec)
        if constraint.honor_node_taints:
            mask = mask & self.tolerated(spec)
        return mask


def _wants(spec: PodSpec, labels: Labels, name: str) -> bool:
    if any(labels.get(key) != value for key, value in spec.node_selector):
        return False
    return spec.node_affinity is None or node_matcher(spec.node_affinity)(labels, name)


def merged_selector(constraint: SpreadConstraint, pod: Pod) -> LabelSelector | None:
    """The constraint's selector with its matchLabelKeys filled in from the pod's labels."""
    keys = [k for k in constraint.match_label_keys if k in pod.labels]
    if constraint.selector is None or not keys:
        return constraint.selector
    extra = tuple(Requirement(k, Operator.IN, (pod.labels[k],)) for k in keys)
    return replace(constraint.selector, requirements=extra + constraint.selector.requirements)


class Defaults:
    """Selector of the default constraints, from services and controller of the pod (`DefaultSelector`)."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._services: dict[str, list[LabelSelector]] = {}
        for namespace, selector in cluster.services:
            self._services.setdefault(namespace, []).append(selector)
        self._selector_of = {(w.ref.kind, w.ref.namespace, w.ref.name): w.selector for w in cluster.workloads}

    def selector(self, pod: Pod) -> LabelSelector | None:
        """The selector, None where the pod gets no default constraint."""
        found = [
            r
            for s in self._services.get(pod.namespace, ())
            if pod_matcher(s).matches(pod.labels)
            for r in s.requirements
        ]
        owner = pod.controller
        if owner is not None and owner.kind in _LISTED:
            own = self._selector_of.get((owner.kind, owner.namespace, owner.name))
            found.extend(own.requirements if own is not None else ())
        return LabelSelector(tuple(dict.fromkeys(found))) if found else None

    def is_hidden(self, pod: Pod) -> bool:
        """Whether the pod's controller is of a kind that the snapshot lacks, though the scheduler sees it."""
        owner = pod.controller
        return owner is not None and owner.kind in _LISTED and not self._cluster.knows(_LISTED[owner.kind])
