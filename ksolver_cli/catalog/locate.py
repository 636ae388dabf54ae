"""Whose machine a node is, where it stands and how it is bought, read from its provider ID and labels."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ksolver_cli.catalog.facts import NodePricingFacts, PricingOptions
from ksolver_cli.catalog.selectors import selects
from ksolver_cli.domain.labels import Labels, Requirement
from ksolver_cli.domain.money import CapacityType

TYPE_LABELS = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")
REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
ZONE_LABELS = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
    "topology.gke.io/zone",
    "topology.ebs.csi.aws.com/zone",
)
OS_LABELS = ("kubernetes.io/os", "beta.kubernetes.io/os")
CLOUDS = frozenset({"aws", "azure", "gcp"})

SCHEME_OF_PROVIDER = {"aws": "aws", "gcp": "gce", "azure": "azure"}
_PROVIDER_OF_SCHEME = {scheme: provider for provider, scheme in SCHEME_OF_PROVIDER.items()}
_PROVIDER_OF_PREFIX = {
    "eks.amazonaws.com/": "aws",
    "karpenter.k8s.aws/": "aws",
    "alpha.eksctl.io/": "aws",
    "cloud.google.com/gke-": "gcp",
    "kubernetes.azure.com/": "azure",
    "karpenter.azure.com/": "azure",
}
# How each provider spells a type and a region; together they tell the provider of a node that does not name it.
_SPELLING = {
    "aws": (r"[a-z][a-z0-9-]*\.(nano|micro|small|medium|large|\d*xlarge|metal(-\w+)?)", r"[a-z]{2}(-[a-z]+)+-\d"),
    "azure": (r"(Standard|Basic)_\w[\w-]*", r"[a-z]+\d?"),
    "gcp": (r"[a-z]\w+-[a-z0-9]+(-[a-z0-9]+)*", r"[a-z]+-[a-z]+\d+"),
}
# Zone to region; a zone of another spelling tells nothing. AWS local and wavelength zones have prices of their own.
_REGION_OF_ZONE = {
    "aws": re.compile(r"(?P<region>[a-z]{2}(-[a-z]+)+-\d)[a-z]"),
    "azure": re.compile(r"(?P<region>[a-z]+\d?)-\d"),
    "gcp": re.compile(r"(?P<region>[a-z]+-[a-z]+\d+)-[a-z]\w*"),
}
_AWS_LOCAL_ZONE = re.compile(r"[a-z]{2}(-[a-z]+)+-\d-\w+(-\w+)*")

_VIRTUAL_LABELS: Mapping[str, frozenset[str]] = {
    "type": frozenset({"virtual-kubelet"}),
    "eks.amazonaws.com/compute-type": frozenset({"fargate"}),
    "liqo.io/type": frozenset({"virtual-node"}),
}
_VIRTUAL_TAINT = "virtual-kubelet.io/provider"

_SPOT_VALUES: Mapping[str, frozenset[str]] = {
    "karpenter.sh/capacity-type": frozenset({"spot"}),
    "eks.amazonaws.com/capacitytype": frozenset({"spot"}),
    "cloud.google.com/gke-spot": frozenset({"true"}),
    "cloud.google.com/gke-preemptible": frozenset({"true"}),
    "cloud.google.com/gke-provisioning": frozenset({"spot", "preemptible"}),
    "kubernetes.azure.com/scalesetpriority": frozenset({"spot"}),
}
_RESERVED_VALUES: Mapping[str, frozenset[str]] = {
    "karpenter.sh/capacity-type": frozenset({"reserved"}),
    "eks.amazonaws.com/capacitytype": frozenset({"capacity_block"}),
}
_CAPACITY_KEYS = frozenset({"karpenter.sh/capacity-type", "eks.amazonaws.com/capacitytype"})


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """What decides the catalog row of a node; None where its labels do not tell. `notes` are assumptions made."""

    provider: str | None
    region: str | None
    zone: str | None
    instance_type: str | None
    capacity_type: CapacityType
    windows: bool = False
    local_zone: bool = False
    notes: tuple[str, ...] = ()


def is_virtual_node(labels: Labels, taint_keys: Sequence[str] = (), provider_id: str = "") -> bool:
    """Whether a node stands for a service and not for a machine: virtual-kubelet, Fargate, a federated cluster."""
    marked = any(labels.get(key, "").casefold() in values for key, values in _VIRTUAL_LABELS.items())
    return marked or _VIRTUAL_TAINT in taint_keys or "/fargate-" in provider_id


def locate(node: NodePricingFacts, options: PricingOptions) -> Whereabouts:
    """Provider, place, type and capacity type of a node.

    Region: its label, else its zone's where the provider's spelling tells it, else the zone in the provider ID, else
    the region that the person gave. Nothing is ever assumed of a node that has none of these.
    """
    labels = node.labels
    instance_type = _first(labels, TYPE_LABELS)
    zone = _first(labels, ZONE_LABELS)
    provider, notes = _provider(node, instance_type, zone, options)
    region = _first(labels, REGION_LABELS) or _region_of_zone(provider, zone)
    region = region or _region_of_zone(provider, _zone_in_id(node.provider_id))
    if region is None and options.region:
        region = options.region
        notes = (*notes, f"region {region} as given on the command line")
    capacity, note = capacity_type(labels, provider, options.spot_labels)
    return Whereabouts(
        provider,
        region,
        zone,
        instance_type,
        capacity,
        windows=(_first(labels, OS_LABELS) or "").casefold() == "windows",
        local_zone=provider == "aws" and zone is not None and _AWS_LOCAL_ZONE.fullmatch(zone) is not None,
        notes=(*notes, note) if note else notes,
    )


def _first(labels: Labels, keys: Sequence[str]) -> str | None:
    return next((labels[key] for key in keys if labels.get(key)), None)


def _provider(
    node: NodePricingFacts, instance_type: str | None, zone: str | None, options: PricingOptions
) -> tuple[str | None, tuple[str, ...]]:
    scheme, separator, _ = node.provider_id.partition("://")
    if separator and scheme:
        return _PROVIDER_OF_SCHEME.get(scheme, scheme), ()
    for prefix, provider in _PROVIDER_OF_PREFIX.items():
        if any(key.startswith(prefix) for key in node.labels):
            return provider, ()
    if options.provider:
        return options.provider, (f"provider {options.provider} as given on the command line",)
    region = _first(node.labels, REGION_LABELS) or options.region
    spelled = _provider_by_spelling(instance_type, region, zone)
    return spelled, (f"provider {spelled} told by the spelling of type and region",) if spelled else ()


def _provider_by_spelling(instance_type: str | None, region: str | None, zone: str | None) -> str | None:
    if instance_type is None:
        return None
    for provider, (type_pattern, region_pattern) in _SPELLING.items():
        place = region or _region_of_zone(provider, zone)
        if place and re.fullmatch(type_pattern, instance_type) and re.fullmatch(region_pattern, place):
            return provider
    return None


def _region_of_zone(provider: str | None, zone: str | None) -> str | None:
    pattern = _REGION_OF_ZONE.get(provider or "")
    found = pattern.fullmatch(zone) if pattern and zone else None
    return found["region"] if found else None


def _zone_in_id(provider_id: str) -> str | None:
    """The zone in `aws:///us-east-1a/i-0abc` and `gce://project/us-central1-a/name`; Azure's IDs have none."""
    scheme, _, rest = provider_id.partition("://")
    parts = rest.split("/")
    return parts[1] if scheme in {"aws", "gce"} and len(parts) > 2 and parts[1] else None


def capacity_type(
    labels: Labels, provider: str | None, spot_labels: Sequence[Sequence[Requirement]] = ()
) -> tuple[CapacityType, str | None]:
    """How a node is bought, and the assumption made when its labels do not say.

    GKE and AKS label spot nodes only, so that a node of theirs without the label is on-demand; on AWS that is assumed.
    """
    if any(selects(requirements, labels) for requirements in spot_labels):
        return CapacityType.SPOT, None
    folded = {key.casefold(): value.casefold() for key, value in labels.items()}
    if _marked(folded, _SPOT_VALUES):
        return CapacityType.SPOT, None
    if _marked(folded, _RESERVED_VALUES):
        return CapacityType.RESERVED, None
    told = provider != "aws" or any(key in folded for key in _CAPACITY_KEYS)
    return CapacityType.ON_DEMAND, None if told else "no capacity type label: taken as on-demand"


def _marked(labels: Labels, marks: Mapping[str, frozenset[str]]) -> bool:
    return any(labels.get(key) in values for key, values in marks.items())
