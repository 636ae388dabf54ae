"""Required anti-affinity that pods already placed hold against others."""

from ksolver_cli.constraints.matching.index import SelectorIndex
from ksolver_cli.constraints.matching.namespaces import Reach
from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.constraints.matching.tally import NodeLabels, Tally
from ksolver_cli.domain.pod import Pod, PodAffinityTerm, PodSpec, WorkloadRef
from ksolver_cli.domain.verdict import ObjectRef


class Holder:
    """One anti-affinity term, the placed pods that hold it, and an object that a person would edit to change it."""

    __slots__ = ("source", "tally", "term")

    def __init__(self, term: PodAffinityTerm, tally: Tally, source: ObjectRef) -> None:
        self.term = term
        self.tally = tally
        self.source = source


class Holders:
    """All terms held, by term and owner, and which of them count a given pod."""

    def __init__(self, node_labels: NodeLabels, reach: Reach) -> None:
        self._node_labels = node_labels
        self._reach = reach
        self._by_term: dict[tuple[PodAffinityTerm, ObjectRef], Holder] = {}
        self._by_spec: dict[tuple[int, WorkloadRef | None], tuple[PodSpec, tuple[Holder, ...]]] = {}
        self._by_selector: SelectorIndex[Holder] = SelectorIndex()

    def bump(self, pod: Pod, node_name: str, delta: int) -> None:
        """Count the pod's terms `delta` times more on the node."""
        if pod.spec.anti_affinity:
            for holder in self._of(pod):
                holder.tally.bump(node_name, delta)

    def against(self, pod: Pod) -> list[tuple[Holder, bool]]:
        """Terms held by some placed pod that count this pod; False where only the missing namespaces could tell."""
        found = []
        for holder in self._by_selector.candidates(pod.namespace, pod.labels):
            if not holder.tally.by_node or not pod_matcher(holder.term.selector).matches(pod.labels):
                continue
            reached = self._reach.existing(holder.term, pod.namespace)
            if reached is not False:
                found.append((holder, reached is True))
        return found

    def _of(self, pod: Pod) -> tuple[Holder, ...]:
        key = (id(pod.spec), pod.workload)
        known = self._by_spec.get(key)
        if known is None:
            terms = pod.spec.anti_affinity
            # A pod with a term that does not parse keeps none of its terms in the scheduler's cache.
            usable = () if any(has_fault(term) for term in terms) else terms
            # The spec is kept beside its holders, so that its id is not given to another.
            known = self._by_spec[key] = (pod.spec, tuple(self._holder(term, pod) for term in usable))
        return known[1]

    def _holder(self, term: PodAffinityTerm, pod: Pod) -> Holder:
        source = owner_ref(pod, term.topology_key)
        holder = self._by_term.get((term, source))
        if holder is None:
            holder = self._by_term[term, source] = Holder(term, Tally(self._node_labels), source)
            wide = term.namespace_selector is not None
            for namespace in (None,) if wide else dict.fromkeys(term.namespaces):
                self._by_selector.add(namespace, term.selector, holder)
        return holder


def has_fault(term: PodAffinityTerm) -> bool:
    """Whether one of the term's selectors does not parse."""
    return bool(pod_matcher(term.selector).fault or pod_matcher(term.namespace_selector).fault)


def owner_ref(pod: Pod, detail: str = "") -> ObjectRef:
    """The object a person would edit to change what the pod asks: its top controller, or the bare pod."""
    workload = pod.workload
    if workload is None:
        return ObjectRef("Pod", pod.key, detail)
    return ObjectRef(workload.kind, f"{workload.namespace}/{workload.name}", detail)
