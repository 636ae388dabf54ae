"""The families of the Filter phase in the scheduler's order, and the verdict of them all on one pod and one node."""

from dataclasses import dataclass

from ksolver_cli.constraints.base import Check, FamilyRule
from ksolver_cli.constraints.core.inter_pod_affinity import InterPodAffinity
from ksolver_cli.constraints.core.node_affinity import NodeAffinity
from ksolver_cli.constraints.core.node_declared_features import NodeDeclaredFeatures
from ksolver_cli.constraints.core.node_name import NodeName
from ksolver_cli.constraints.core.node_ports import NodePorts
from ksolver_cli.constraints.core.node_resources_fit import NodeResourcesFit
from ksolver_cli.constraints.core.node_unschedulable import NodeUnschedulable
from ksolver_cli.constraints.core.pod_topology_spread import PodTopologySpread
from ksolver_cli.constraints.core.taint_toleration import TaintToleration
from ksolver_cli.constraints.dynamic_resources.rule import DynamicResources
from ksolver_cli.constraints.state import State
from ksolver_cli.constraints.volumes.binding import VolumeBinding
from ksolver_cli.constraints.volumes.limits import NodeVolumeLimits
from ksolver_cli.constraints.volumes.restrictions import VolumeRestrictions
from ksolver_cli.constraints.volumes.zone import VolumeZone
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Family, Reason, Rejection, Verdict

Version = tuple[int, int]

NAME_FIRST = (1, 37)
"""Since this version NodeName comes before NodeUnschedulable in the default profile."""

SINCE: dict[Family, Version] = {Family.NODE_DECLARED_FEATURES: (1, 36)}
"""Families that the default profile has only from a version on."""

FAMILIES: tuple[FamilyRule, ...] = (
    NodeUnschedulable(),
    NodeName(),
    TaintToleration(),
    NodeAffinity(),
    NodePorts(),
    NodeResourcesFit(),
    VolumeRestrictions(),
    NodeVolumeLimits(),
    VolumeBinding(),
    VolumeZone(),
    PodTopologySpread(),
    InterPodAffinity(),
    DynamicResources(),
    NodeDeclaredFeatures(),
)
"""All families in the order of the default profile of 1.36 (`getDefaultPlugins`); add a family in its place."""


def families(version: Version) -> tuple[FamilyRule, ...]:
    """Families of the default profile of this Kubernetes version, in the order in which it runs them."""
    present = [rule for rule in FAMILIES if version >= SINCE.get(rule.family, (0, 0))]
    if version >= NAME_FIRST:
        present.sort(key=lambda rule: rule.family is not Family.NODE_NAME)
    return tuple(present)


@dataclass(frozen=True, slots=True)
class Judge:
    """One pod readied for all families: ask it node by node while the state does not change."""

    state: State
    everywhere: tuple[Verdict, ...]
    checks: tuple[Check, ...]

    def objections(self, node_name: str) -> tuple[Verdict, ...]:
        """What every family says that objects on its own, in the order in which the scheduler would meet it.

        Verdicts of PreFilter come before those of Filter, and nodes left out by node name between them.
        """
        node = self.state.nodes[node_name]
        found = [verdict for check in self.checks if (verdict := check(node)) is not None]
        return (*self.everywhere, *sorted(found, key=_is_filter))

    def first(self, node_name: str) -> Verdict | None:
        """The first rejection the scheduler would report; an Unknown only where nothing rejects; None is a pass."""
        return first_of(self.objections(node_name))

    def passes(self, node_name: str) -> bool:
        """Whether no family objects and none is unsure."""
        node = self.state.nodes[node_name]
        return not self.everywhere and all(check(node) is None for check in self.checks)


def prepare(pod: Pod, state: State, rules: tuple[FamilyRule, ...] | None = None) -> Judge:
    """Ready a pod for judging; `rules` default to the families of the cluster's Kubernetes version.

    The pod is judged as not yet placed: take it out of the state first, and clear `node_name` of one just evicted.
    """
    everywhere: list[Verdict] = []
    checks: list[Check] = []
    for rule in families(state.cluster.kubernetes_version) if rules is None else rules:
        prepared = rule.prepare(pod, state)
        if callable(prepared):
            checks.append(prepared)
        elif prepared is not None:
            everywhere.append(prepared)
    return Judge(state, tuple(everywhere), tuple(checks))


def judge(pod: Pod, node_name: str, state: State) -> tuple[Verdict, ...]:
    """All objections to this pod on this node, in the scheduler's order; empty is a pass."""
    return prepare(pod, state).objections(node_name)


def first_rejection(pod: Pod, node_name: str, state: State) -> Verdict | None:
    """The first rejection the scheduler would report; an Unknown where nothing rejects but something is unsure."""
    return prepare(pod, state).first(node_name)


def first_of(objections: tuple[Verdict, ...]) -> Verdict | None:
    """The first rejection, else the first Unknown, else None."""
    for verdict in objections:
        if isinstance(verdict, Rejection):
            return verdict
    return objections[0] if objections else None


def is_pre_filter(verdict: Verdict) -> bool:
    """Whether this is a node left out by node name before any Filter runs."""
    return isinstance(verdict, Rejection) and verdict.reason is Reason.NODE_AFFINITY_PRE


def _is_filter(verdict: Verdict) -> bool:
    return not is_pre_filter(verdict)
