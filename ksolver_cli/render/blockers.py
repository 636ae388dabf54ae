"""What keeps a node from being drained, in words."""

from collections import Counter
from collections.abc import Sequence

from ksolver_cli.constraints.eviction import BlockerKind
from ksolver_cli.domain.report.nodes import NodeBlocker, ReasonCount
from ksolver_cli.domain.verdict import Reason, Unknown, Verdict
from ksolver_cli.explain.drainability import NO_ROOM, PODS_UNKNOWN
from ksolver_cli.render.phrases import reasons, sentence
from ksolver_cli.render.safe import plain

WORDS: dict[str, str] = {
    BlockerKind.BARE_POD: "no controller would bring the pod back",
    BlockerKind.DO_NOT_DISRUPT: "karpenter.sh/do-not-disrupt",
    BlockerKind.NOT_SAFE_TO_EVICT: "cluster-autoscaler.kubernetes.io/safe-to-evict is not true",
    BlockerKind.BUDGET: "its PodDisruptionBudget allows no disruption",
    BlockerKind.TWO_BUDGETS: "more than one PodDisruptionBudget covers it, so evictions are refused",
    BlockerKind.HOST_PATH: "hostPath data lives on the node",
    BlockerKind.LOCAL_VOLUME: "a local volume lives on the node",
    BlockerKind.TERMINATING: "it is terminating already",
    BlockerKind.FOREIGN_SCHEDULER: "another scheduler places it",
    BlockerKind.CONTROL_PLANE: "control-plane node",
    BlockerKind.NODE_NOT_READY: "its node is not ready: no kubelet would confirm that the pod is gone",
    BlockerKind.NODE_DELETING: "the node is being deleted",
    BlockerKind.VIRTUAL_NODE: "virtual node: there is no machine to remove",
    BlockerKind.NODE_DO_NOT_DISRUPT: "karpenter.sh/do-not-disrupt on the node",
    BlockerKind.SCALE_DOWN_DISABLED: "scale-down is disabled on the node",
    BlockerKind.UNREADABLE_POD: "not every pod on it could be read",
    BlockerKind.UNPRICED: "it has no price, so removing it proves no saving",
    NO_ROOM: "fits on no other node today",
    PODS_UNKNOWN: "the input holds no pods, so nothing is known of it",
}
"""Every kind of blocker; a test holds the list to `BlockerKind`."""


def counted(counts: Sequence[ReasonCount]) -> str:
    """The scheduler's words with the number of nodes, as `0/5 nodes are available` lists them."""
    nodes: Counter[str] = Counter()
    for reason in counts:
        nodes.update(dict.fromkeys(_words(reason.verdict), reason.nodes))
    if not nodes:
        return "there is no other node"
    return "; ".join(f"{count} × {plain(words)}" for words, count in nodes.most_common())


def _words(verdict: Verdict) -> tuple[str, ...]:
    if isinstance(verdict, Unknown):
        return (sentence(verdict),)
    if verdict.reason is Reason.UNTOLERATED_TAINT:
        # The scheduler's message no longer says which taint; here that is what a reader needs.
        return tuple(f"{words} ({', '.join(verdict.params)})" for words in reasons(verdict))
    return reasons(verdict)


def blocker_words(blocker: NodeBlocker) -> str:
    """One blocker in a few words, with its detail where there is one."""
    words = WORDS[blocker.kind]
    if blocker.kind == NO_ROOM:
        return f"{words} ({counted(blocker.reasons)})"
    return f"{words} ({plain(blocker.detail)})" if blocker.detail else words


def blocker_object(blocker: NodeBlocker) -> str:
    """The object to edit: `Kind namespace/name`."""
    return plain(f"{blocker.source.kind} {blocker.source.name}" if blocker.source else blocker.pod or "all nodes")
