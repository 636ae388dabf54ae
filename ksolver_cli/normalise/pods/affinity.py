"""Affinity between pods, spreading, tolerations and host ports of a pod spec."""

from ksolver_cli.domain.pod import (
    HostPort,
    PodAffinityTerm,
    PreferredNodeTerm,
    PreferredPodTerm,
    SpreadConstraint,
    Toleration,
)
from ksolver_cli.normalise.fields import Field
from ksolver_cli.normalise.selectors import read_node_term, read_selector

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_ANY_EFFECT = frozenset({"", "NoSchedule", "PreferNoSchedule", "NoExecute"})
_TOLERATION_OPERATORS = frozenset({"Equal", "Exists", "Lt", "Gt"})
_POLICIES = frozenset({"Honor", "Ignore"})
_WHEN = frozenset({"DoNotSchedule", "ScheduleAnyway"})
_PROTOCOLS = frozenset({"TCP", "UDP", "SCTP"})
EVERY_ADDRESS = HostPort(0).host_ip


def required_terms(affinity: Field, namespace: str) -> tuple[PodAffinityTerm, ...]:
    """Required terms of a podAffinity or podAntiAffinity."""
    return tuple(_term(term, namespace) for term in affinity[_REQUIRED].items())


def preferred_terms(affinity: Field, namespace: str) -> tuple[PreferredPodTerm, ...]:
    """Preferred terms of a podAffinity or podAntiAffinity."""
    return tuple(
        PreferredPodTerm(term["weight"].whole(), _term(term["podAffinityTerm"], namespace))
        for term in affinity[_PREFERRED].items()
    )


def preferred_node_terms(affinity: Field) -> tuple[PreferredNodeTerm, ...]:
    """Preferred terms of a nodeAffinity."""
    return tuple(
        PreferredNodeTerm(term["weight"].whole(), read_node_term(term["preference"]))
        for term in affinity[_PREFERRED].items()
    )


def spread_constraint(constraint: Field) -> SpreadConstraint:
    """A topologySpreadConstraint with the API's defaults: affinity honoured, taints ignored."""
    return SpreadConstraint(
        max_skew=constraint["maxSkew"].natural(1),
        topology_key=constraint["topologyKey"].text(),
        hard=constraint["whenUnsatisfiable"].one_of(_WHEN, "DoNotSchedule") == "DoNotSchedule",
        selector=read_selector(constraint["labelSelector"]),
        min_domains=constraint["minDomains"].maybe_whole(),
        honor_node_affinity=constraint["nodeAffinityPolicy"].one_of(_POLICIES, "Honor") == "Honor",
        honor_node_taints=constraint["nodeTaintsPolicy"].one_of(_POLICIES, "Ignore") == "Honor",
        match_label_keys=constraint["matchLabelKeys"].texts(),
    )


def toleration(entry: Field) -> Toleration:
    """A `v1.Toleration`; the operator defaults to Equal."""
    return Toleration(
        key=entry["key"].text(),
        operator=entry["operator"].one_of(_TOLERATION_OPERATORS, "Equal"),
        value=entry["value"].text(),
        effect=entry["effect"].one_of(_ANY_EFFECT),
    )


def host_ports(container: Field) -> tuple[HostPort, ...]:
    """The ports that a container claims on its node, as served (the API server fills them in for hostNetwork)."""
    found = []
    for port in container["ports"].items():
        number = port["hostPort"].natural()
        if number:
            protocol = port["protocol"].one_of(_PROTOCOLS, "TCP")
            found.append(HostPort(number, protocol, port["hostIP"].text() or EVERY_ADDRESS))
    return tuple(found)


def _term(term: Field, namespace: str) -> PodAffinityTerm:
    """One term; without namespaces and namespaceSelector it looks at the pod's own namespace.

    matchLabelKeys and mismatchLabelKeys are left alone: the API server has merged them into the selector.
    """
    named = term["namespaces"].texts()
    selected = read_selector(term["namespaceSelector"])
    return PodAffinityTerm(
        topology_key=term["topologyKey"].text(),
        selector=read_selector(term["labelSelector"]),
        namespaces=(namespace,) if not named and selected is None else named,
        namespace_selector=selected,
    )
