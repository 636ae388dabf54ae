"""The verdict of the whole Filter phase on one pod and every node, in array operations."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from ksolver_cli.constraints.base import FamilyRule
from ksolver_cli.constraints.core.inter_pod_affinity import parse_fault, terms_at
from ksolver_cli.constraints.core.node_affinity import named_nodes
from ksolver_cli.constraints.core.node_resources_fit import delegated_resources
from ksolver_cli.constraints.core.pod_topology_spread import PodTopologySpread
from ksolver_cli.constraints.grid.columns import Column, Columns, Mask
from ksolver_cli.constraints.grid.room import Room
from ksolver_cli.constraints.matching.taints import UNSCHEDULABLE_TAINT, first_untolerated, is_tolerated
from ksolver_cli.constraints.matching.tally import Tally
from ksolver_cli.constraints.registry import families
from ksolver_cli.constraints.state import State, as_new
from ksolver_cli.domain.node import Taint
from ksolver_cli.domain.pod import Phase, Pod, Toleration
from ksolver_cli.domain.verdict import Family, Rejection, Verdict

PASS, UNKNOWN, FAIL = np.int8(0), np.int8(1), np.int8(2)
"""Codes of a verdict; the worse of two is the greater."""

Codes = NDArray[np.int8]


class Grid:
    """Judges pods against all nodes of a state at once.

    It sees the state's later changes of pods only through its own `add` and `remove`; cordons and removed nodes it
    notices by itself. Families it has no array form for are asked node by node, and only where the others pass.
    """

    def __init__(self, state: State, rules: tuple[FamilyRule, ...] | None = None) -> None:
        self.state = state
        self._rules = families(state.cluster.kubernetes_version) if rules is None else rules
        self._spread = PodTopologySpread()
        self._rebuild()

    def _rebuild(self) -> None:
        self._version = self.state.layout_version
        self._nodes = tuple(self.state.node_states())
        self.names = tuple(node.node.name for node in self._nodes)
        self.position = {name: position for position, name in enumerate(self.names)}
        self.columns = Columns([node.node for node in self._nodes])
        self.room = Room(self._nodes)
        self._cordoned = _flags([node.cordoned for node in self._nodes])
        doubtful = self.state.cluster.unreadable_nodes if self._weighs_room() else frozenset[str]()
        self._unreadable = _flags([name in doubtful for name in self.names])
        self._taints = Column("" if not node.taints else repr(node.taints) for node in self._nodes)
        self._taint_lists = {"" if not node.taints else repr(node.taints): node.taints for node in self._nodes}
        self._tolerated: dict[tuple[Toleration, ...], Mask] = {}
        self._forms: Mapping[Family, Callable[[Pod], Mask | None]] = {
            Family.NODE_UNSCHEDULABLE: self._schedulable,
            Family.NODE_NAME: self._named,
            Family.TAINT_TOLERATION: self._untainted,
            Family.NODE_AFFINITY: self._selected,
            Family.NODE_RESOURCES_FIT: self._roomy,
            Family.POD_TOPOLOGY_SPREAD: self._spread_out,
            Family.INTER_POD_AFFINITY: self._sociable,
        }

    def _weighs_room(self) -> bool:
        return any(rule.family is Family.NODE_RESOURCES_FIT for rule in self._rules)

    def add(self, pod: Pod, node_name: str) -> None:
        """Put the pod on the node, in the state and here."""
        self.state.add(pod, node_name)
        self.room.refresh(self.position[node_name])

    def remove(self, pod: Pod) -> None:
        """Take the pod off its node, in the state and here."""
        node_name = self.state.node_of(pod)
        self.state.remove(pod)
        if node_name is not None:
            self.room.refresh(self.position[node_name])

    def verdicts(self, pod: Pod) -> Codes:
        """PASS, UNKNOWN or FAIL for each node, in the order of `names`; the pod must not be in the state."""
        if self._version != self.state.layout_version:
            self._rebuild()
        passing = np.ones(len(self._nodes), dtype=np.bool_)
        rest: list[FamilyRule] = []
        for rule in self._rules:
            form = self._forms.get(rule.family)
            mask = form(pod) if form is not None else None
            if mask is None:
                rest.append(rule)
            else:
                passing &= mask
        codes = np.where(passing, np.where(self._unreadable, UNKNOWN, PASS), FAIL)
        for rule in rest:
            self._ask(rule, pod, codes)
        return codes

    def verdicts_if_evicted(self, pod: Pod) -> Codes:
        """The verdicts on a pod as if it had just been evicted and made anew; a pending one keeps the node it names."""
        node_name = self.state.node_of(pod)
        if node_name is None:
            return self.verdicts(pod if pod.phase is Phase.PENDING else as_new(pod))
        self.remove(pod)
        codes = self.verdicts(as_new(pod))
        self.add(pod, node_name)
        return codes

    def _ask(self, rule: FamilyRule, pod: Pod, codes: Codes) -> None:
        """Ask a family node by node where nothing failed so far."""
        prepared = rule.prepare(pod, self.state)
        if prepared is None:
            return
        if not callable(prepared):
            np.maximum(codes, code_of(prepared), out=codes)
            return
        for position in np.flatnonzero(codes != FAIL).tolist():
            verdict = prepared(self._nodes[position])
            if verdict is not None:
                codes[position] = max(codes[position], code_of(verdict))

    def _schedulable(self, pod: Pod) -> Mask:
        tolerated = is_tolerated(UNSCHEDULABLE_TAINT, pod.spec.tolerations)
        return np.ones_like(self._cordoned) if tolerated else ~self._cordoned

    def _named(self, pod: Pod) -> Mask:
        mask = np.full(len(self._nodes), not pod.node_name, dtype=np.bool_)
        if pod.node_name in self.position:
            mask[self.position[pod.node_name]] = True
        return mask

    def _untainted(self, pod: Pod) -> Mask:
        tolerations = pod.spec.tolerations
        mask = self._tolerated.get(tolerations)
        if mask is None:
            mask = self._tolerated[tolerations] = self._taints.where(
                lambda key: first_untolerated(self._taints_of(key), tolerations) is None
            )
        return mask

    def _taints_of(self, key: str | None) -> tuple[Taint, ...]:
        return self._taint_lists[key or ""]

    def _selected(self, pod: Pod) -> Mask:
        mask = self.columns.selected(pod.spec)
        names = named_nodes(pod.spec.node_affinity)
        return mask if names is None else mask & self.columns.names().where(lambda name: name in names)

    def _roomy(self, pod: Pod) -> Mask:
        return self.room.fits(pod.spec.requests, delegated_resources(pod.spec.requests, self.state.cluster))

    def _spread_out(self, pod: Pod) -> Mask | None:
        mask = np.ones(len(self._nodes), dtype=np.bool_)
        if not any(constraint.hard for constraint in pod.spec.spread):
            return mask
        if not callable(self._spread.prepare(pod, self.state)):
            return None
        for skew in self._spread.skews(pod, self.state):
            key = skew.constraint.topology_key
            if skew.admits_empty:
                full = (domain for domain in skew.counts if not skew.admits(domain))
                mask &= self.columns.has_keys((key,)) & ~self.columns.label(key).among(full)
            else:
                mask &= self.columns.label(key).among(filter(skew.admits, skew.counts))
        return mask

    def _sociable(self, pod: Pod) -> Mask | None:
        """None where namespaces are missing or a term does not parse: then the family is asked node by node."""
        if parse_fault(pod.spec):
            return None
        mask = np.ones(len(self._nodes), dtype=np.bool_)
        terms = terms_at(pod, self.state)
        if terms is None or terms.is_unsure:
            return mask if terms is None else None
        if terms.affinity is not None:
            mask &= self.columns.has_keys(term.topology_key for term in pod.spec.affinity)
            if not terms.starts_group:
                for term in pod.spec.affinity:
                    mask &= self._in_domains(term.topology_key, terms.affinity)
        for key, tally in terms.anti:
            mask &= ~self._in_domains(key, tally)
        for holder, _ in terms.held:
            mask &= ~self._in_domains(holder.term.topology_key, holder.tally)
        return mask

    def _in_domains(self, key: str, tally: Tally) -> Mask:
        """Nodes whose domain of the key holds a pod that the tally counts."""
        return self.columns.label(key).among(tally.domains(key))


def code_of(verdict: Verdict | None) -> np.int8:
    """The code of one verdict."""
    if verdict is None:
        return PASS
    return FAIL if isinstance(verdict, Rejection) else UNKNOWN


def _flags(flags: list[bool]) -> Mask:
    return np.array(flags, dtype=np.bool_)
