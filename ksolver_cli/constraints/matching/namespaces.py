"""Which namespaces a pod (anti-)affinity term reaches."""

from ksolver_cli.constraints.matching.selectors import pod_matcher
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import PodAffinityTerm

_NO_LABELS: dict[str, str] = {}
_FORGETFUL = ((1, 34), (1, 36))
"""Versions that resolve a term's selector into namespaces but keep the selector too, on a copy of the term: one that
matches no labels at all (`DoesNotExist`, `NotIn`) then reaches every namespace.
"""


class Reach:
    """Answers whether a term reaches a namespace; None where the snapshot lacks the namespaces it would take to say.

    kube-scheduler asks in two ways. Terms of the pod to place are resolved against the Namespace objects that exist;
    terms of pods already there are matched against the labels of the pod's own namespace, which are empty where the
    object is missing (InterPodAffinity, `mergeAffinityTermNamespacesIfNotEmpty` and `GetNamespaceLabelsSnapshot`).
    """

    def __init__(self, cluster: Cluster) -> None:
        self._labels = cluster.namespaces
        self._known = cluster.knows("namespaces")
        self._forgetful = _FORGETFUL[0] <= cluster.kubernetes_version <= _FORGETFUL[1]

    def own(self, term: PodAffinityTerm, namespace: str) -> bool | None:
        """Whether a term of the pod to place counts pods of `namespace`."""
        if namespace in term.namespaces:
            return True
        selector = pod_matcher(term.namespace_selector)
        if selector.is_empty or term.namespace_selector is None:
            return selector.is_empty
        if self._forgetful and selector.matches(_NO_LABELS):
            return True
        labels = self._labels.get(namespace)
        if labels is None:
            return False if self._known else None
        return selector.matches(labels)

    def existing(self, term: PodAffinityTerm, namespace: str) -> bool | None:
        """Whether a term of a pod already there counts a pod of `namespace`."""
        if namespace in term.namespaces:
            return True
        selector = pod_matcher(term.namespace_selector)
        if selector.is_empty or term.namespace_selector is None:
            return selector.is_empty
        labels = self._labels.get(namespace)
        if labels is None and not self._known:
            return None
        return selector.matches(_NO_LABELS if labels is None else labels)
