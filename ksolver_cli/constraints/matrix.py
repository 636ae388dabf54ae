"""Verdicts of many pods on all nodes, and what each class of nodes can take of each class of pods while empty."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ksolver_cli.constraints.base import FamilyRule
from ksolver_cli.constraints.core.inter_pod_affinity import parse_fault
from ksolver_cli.constraints.core.pod_topology_spread import hard_constraints
from ksolver_cli.constraints.grid.columns import Mask
from ksolver_cli.constraints.grid.grid import FAIL, PASS, UNKNOWN, Codes, Grid
from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.constraints.registry import families
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Family

__all__ = ["FAIL", "PASS", "STATIC", "UNKNOWN", "Grid", "static_feasibility", "verdict_matrix"]

STATIC = frozenset(
    {
        Family.NODE_UNSCHEDULABLE,
        Family.NODE_NAME,
        Family.TAINT_TOLERATION,
        Family.NODE_AFFINITY,
        Family.NODE_RESOURCES_FIT,
        Family.VOLUME_BINDING,
        Family.VOLUME_ZONE,
        Family.NODE_DECLARED_FEATURES,
    }
)
"""Families whose verdict on an empty node holds whatever else runs."""


def verdict_matrix(cluster: Cluster, pods: Sequence[Pod], state: State | None = None) -> Codes:
    """PASS, UNKNOWN or FAIL, one row a pod and one column a node of the cluster, each pod for itself.

    Bound pods are judged as if just evicted, all others stay where they are; pending pods as they are.
    """
    grid = Grid(State(cluster) if state is None else state)
    matrix = np.empty((len(pods), len(grid.names)), dtype=np.int8)
    for row, pod in enumerate(pods):
        matrix[row] = grid.verdicts_if_evicted(pod)
    return matrix


def static_feasibility(cluster: Cluster, classes: Classes, *, ignore: Iterable[Family] = ()) -> NDArray[np.bool_]:
    """Whether a pod of each class fits an empty node of each class, by the families that look at nothing else.

    Shape (pod classes, node classes). Families in `ignore` are left out; without NodeUnschedulable the taint of
    cordoned nodes is ignored too. Nodes that lack a topology key of the pod's hard spread or required affinity are
    infeasible, being rejected whatever runs there, and so is every node for a pod whose selectors do not parse. What
    cannot be known counts as feasible: the referee decides. Rows of daemon pods mean nothing, each names its own node.
    """
    ignored = frozenset(ignore)
    rules = tuple(rule for rule in families(cluster.kubernetes_version) if rule.family in STATIC - ignored)
    samples = tuple(node_class.sample for node_class in classes.nodes)
    if Family.NODE_UNSCHEDULABLE in ignored:
        samples = tuple(replace(node, taints=tuple(t for t in node.taints if t.key != _CORDON)) for node in samples)
    grid = Grid(State.empty(replace(cluster, nodes=samples, pods=())), rules)
    feasible = np.empty((len(classes.pods), len(samples)), dtype=np.bool_)
    for pod_class in classes.pods:
        pod = pod_class.sample
        judged = as_new(pod) if pod.is_bound else pod
        feasible[pod_class.index] = (grid.verdicts(judged) != FAIL) & _has_keys(grid, pod, ignored)
    return feasible


_CORDON = "node.kubernetes.io/unschedulable"


def _has_keys(grid: Grid, pod: Pod, ignored: frozenset[Family]) -> Mask:
    """Nodes with the topology keys that the pod needs under its feet; none where the scheduler cannot parse it."""
    keys: set[str] = set()
    faults: list[str] = []
    if Family.POD_TOPOLOGY_SPREAD not in ignored:
        hard = hard_constraints(pod.spec)
        keys.update(constraint.topology_key for constraint in hard)
        faults += (pod_matcher(constraint.selector).fault for constraint in hard)
    if Family.INTER_POD_AFFINITY not in ignored:
        keys.update(term.topology_key for term in pod.spec.affinity)
        faults.append(parse_fault(pod.spec))
    return grid.columns.has_keys(keys) & (not any(faults))


def static_rules(cluster: Cluster) -> tuple[FamilyRule, ...]:
    """The families of the cluster's version whose verdict on an empty node holds whatever else runs."""
    return tuple(rule for rule in families(cluster.kubernetes_version) if rule.family in STATIC)
