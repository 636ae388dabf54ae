"""How to name a batch to `kubectl drain --pod-selector`: by labels that its pods alone have, or by a mark."""

from collections.abc import Iterator, Mapping, Sequence

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import Labels
from ksolver_cli.domain.pod import Pod, WorkloadRef
from ksolver_cli.explain.steps.batches import Batch

MARK = "ksolver-batch"
"""Key of the label put on pods that their own labels do not tell apart; it goes with the pod."""

ORDINAL = "statefulset.kubernetes.io/pod-name"
"""Label that the StatefulSet controller gives each pod, with the pod's own name."""


class Selecting:
    """Finds selectors. `kubectl drain` looks into every namespace, so a selector has to be right in all of them."""

    def __init__(self, cluster: Cluster) -> None:
        self._keys = {
            str(w.ref): tuple(r.key for r in w.selector.requirements)
            for w in cluster.workloads
            if w.selector is not None
        }

    def labels(self, batch: Batch, others: Sequence[Pod]) -> Labels | None:
        """Labels that all pods of the batch have and none of the `others`; None where there are none."""
        for labels in self._candidates(batch):
            if labels and not any(_has(pod, labels) for pod in others):
                return labels
        return None

    def _candidates(self, batch: Batch) -> Iterator[Labels]:
        """Those that people know first."""
        shared = _shared(batch.pods)
        if ORDINAL in shared:
            yield {ORDINAL: shared[ORDINAL]}
        for ref in (batch.sample.workload, batch.sample.controller):
            yield self._of(ref, shared)
        yield shared

    def _of(self, ref: WorkloadRef | None, shared: Labels) -> Labels:
        keys = self._keys.get(str(ref), ()) if ref is not None else ()
        return {key: shared[key] for key in keys if key in shared}


def selector_text(labels: Labels) -> str:
    """Labels as `kubectl -l` reads them."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _shared(pods: Sequence[Pod]) -> dict[str, str]:
    first: Mapping[str, str] = pods[0].labels
    return {key: value for key, value in first.items() if all(pod.labels.get(key) == value for pod in pods)}


def _has(pod: Pod, labels: Labels) -> bool:
    return all(pod.labels.get(key) == value for key, value in labels.items())
