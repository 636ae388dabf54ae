"""Constructs for which a difference is expected: what one empty node cannot show, and what is not modelled."""

from collections.abc import Mapping

from ksolver_cli.collect.schedulers.exchange import Question
from ksolver_cli.domain.cluster import CaveatKind, Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Unknown, Verdict

AFFINITY = "requiredPodAffinity"
ANTI_AFFINITY = "requiredPodAntiAffinity"
SPREAD = "topologySpreadConstraints/DoNotSchedule"
UNMODELLED = "unmodelled"
DEVICES = "resourceClaims"


def one_node_reasons(pod: Pod) -> tuple[str, ...]:
    """Constructs of the pod that look at other pods or other nodes.

    Our families judge them in a world of one node as well, so they are strict when that is asked for.
    """
    present = {
        AFFINITY: bool(pod.spec.affinity),
        ANTI_AFFINITY: bool(pod.spec.anti_affinity),
        SPREAD: any(constraint.hard for constraint in pod.spec.spread),
    }
    return tuple(reason for reason, there in present.items() if there)


def unmodelled_reasons(cluster: Cluster) -> Mapping[str, tuple[str, ...]]:
    """What the caveats of the cluster list as not modelled, by pod key or node name."""
    found: dict[str, list[str]] = {}
    for caveat in cluster.caveats:
        if caveat.kind is CaveatKind.UNMODELLED:
            for name in caveat.objects:
                found.setdefault(name, []).append(f"{UNMODELLED}/{caveat.detail}")
    return {name: tuple(dict.fromkeys(reasons)) for name, reasons in found.items()}


def unreadable_objects(cluster: Cluster) -> tuple[str, ...]:
    """What the caveats list as objects that could not be read."""
    caveats = (caveat for caveat in cluster.caveats if caveat.kind is CaveatKind.BAD_OBJECT)
    return tuple(sorted({name for caveat in caveats for name in caveat.objects}))


def unsure_reasons(objections: tuple[Verdict, ...]) -> tuple[str, ...]:
    """Families that could not decide, as reasons."""
    unknown = (verdict for verdict in objections if isinstance(verdict, Unknown))
    return tuple(dict.fromkeys(f"{UNMODELLED}/{verdict.family}" for verdict in unknown))


def unshown_reasons(pod: Pod, prepared: Question) -> tuple[str, ...]:
    """Constructs of the pod that the source of verdicts has no way to show to its scheduler."""
    return (DEVICES,) if pod.spec.claims and "resourceclaims" not in prepared.beside else ()
