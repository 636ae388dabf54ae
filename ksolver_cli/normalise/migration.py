"""In-tree volumes as the CSI volumes they are attached as, after Kubernetes' csi-translation-lib."""

from collections.abc import Mapping
from dataclasses import replace

from ksolver_cli.domain.labels import NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.domain.storage import (
    AWS_EBS,
    AZURE_DISK,
    AZURE_FILE,
    CINDER,
    CSI_DRIVERS,
    GCE_PD,
    PORTWORX,
    VSPHERE,
    PersistentVolume,
    ebs_volume_id,
    gce_volume_handle,
)
from ksolver_cli.normalise.fields import Field

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"
BETA_REGION = "failure-domain.beta.kubernetes.io/region"
_ZONES_DELIMITER = "__"

_SOURCES: Mapping[str, tuple[str, str]] = {
    "awsElasticBlockStore": (AWS_EBS, "volumeID"),
    "gcePersistentDisk": (GCE_PD, "pdName"),
    "azureDisk": (AZURE_DISK, "diskURI"),
    "cinder": (CINDER, "volumeID"),
    "portworxVolume": (PORTWORX, "volumeID"),
    "azureFile": (AZURE_FILE, "shareName"),
    "vsphereVolume": (VSPHERE, "volumePath"),
}
"""Source in the spec of a volume: the in-tree plugin, and the field that names the disk."""

_TOPOLOGY_KEYS: Mapping[str, str] = {
    AWS_EBS: "topology.ebs.csi.aws.com/zone",
    GCE_PD: "topology.gke.io/zone",
    CINDER: "topology.cinder.csi.openstack.org/zone",
}


def as_csi_volume(volume: PersistentVolume, spec: Field) -> PersistentVolume:
    """The volume with plugin, driver, handle and affinity of its in-tree source; unchanged when it has none.

    An untranslatable id leaves the driver empty: such a volume is not counted. Raises BadField.
    """
    for source, (plugin, field) in _SOURCES.items():
        if spec[source].absent:
            continue
        handle = _handle(plugin, spec[source][field].text(), volume)
        if not handle:
            return replace(volume, plugin=plugin)
        affinity = _translated(volume, _TOPOLOGY_KEYS[plugin]) if plugin in _TOPOLOGY_KEYS else volume.node_affinity
        return replace(volume, plugin=plugin, driver=CSI_DRIVERS[plugin], handle=handle, translated_affinity=affinity)
    return volume


def _handle(plugin: str, disk: str, volume: PersistentVolume) -> str | None:
    """The CSI volume handle; only equality of handles matters to the scheduler."""
    if plugin == AWS_EBS:
        return ebs_volume_id(disk)
    return gce_volume_handle(disk, _gce_place(volume)) if plugin == GCE_PD else disk


def _gce_place(volume: PersistentVolume) -> str:
    zones = (volume.labels.get(BETA_ZONE) or volume.labels.get(ZONE, "")).split(_ZONES_DELIMITER)
    if len(zones) > 1:
        return "regions/" + zones[0].rpartition("-")[0]
    return f"zones/{zones[0]}" if zones[0] else "zones/UNSPECIFIED"


def _translated(volume: PersistentVolume, key: str) -> NodeSelector | None:
    """Node affinity with the zone key replaced by the driver's; zone labels stand in where no term speaks of zones."""
    zone, region = _topology_labels(volume)
    if _speaks_of(volume.node_affinity, zone):
        renamed = _renamed(volume.node_affinity, {zone: key})
    elif zone in volume.labels:
        renamed = _with_zones(volume.node_affinity, key, volume.labels[zone])
    else:
        renamed = volume.node_affinity
    return _renamed(renamed, {BETA_REGION: REGION}) if region == BETA_REGION else renamed


def _topology_labels(volume: PersistentVolume) -> tuple[str, str]:
    for speaks in (lambda key: _speaks_of(volume.node_affinity, key), volume.labels.__contains__):
        if speaks(ZONE):
            return ZONE, REGION
        if speaks(BETA_ZONE):
            return BETA_ZONE, BETA_REGION
    return ZONE, REGION


def _speaks_of(affinity: NodeSelector | None, key: str) -> bool:
    return affinity is not None and any(r.key == key for term in affinity.terms for r in term.expressions)


def _renamed(affinity: NodeSelector | None, keys: Mapping[str, str]) -> NodeSelector | None:
    if affinity is None:
        return None
    return NodeSelector(
        tuple(
            replace(term, expressions=tuple(replace(r, key=keys.get(r.key, r.key)) for r in term.expressions))
            for term in affinity.terms
        )
    )


def _with_zones(affinity: NodeSelector | None, key: str, label: str) -> NodeSelector | None:
    zones = tuple(sorted({zone.strip() for zone in label.split(_ZONES_DELIMITER)} - {""}))
    if not zones:
        return affinity
    requirement = Requirement(key, Operator.IN, zones)
    terms = affinity.terms if affinity is not None and affinity.terms else (NodeSelectorTerm(),)
    return NodeSelector(tuple(replace(term, expressions=(*term.expressions, requirement)) for term in terms))
