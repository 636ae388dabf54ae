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

    Raises FieldError.
    """
    for source, (plugin, field) in _SOURCES.items():
        if spec[source].absent:
            continue
        try:
            handle = _handle(plugin, spec[source], spec[source][field].text(), volume)
        except _UntranslatableError as error:
            return replace(volume, plugin=plugin, fault=str(error))
        affinity = _translated(volume, _TOPOLOGY_KEYS[plugin]) if plugin in _TOPOLOGY_KEYS else volume.node_affinity
        return replace(volume, plugin=plugin, driver=CSI_DRIVERS[plugin], handle=handle, translated_affinity=affinity)
    return volume


class _UntranslatableError(Exception):
    """The translation library refuses the source; the text is its own."""


def _handle(plugin: str, source: Field, disk: str, volume: PersistentVolume) -> str:
    """The CSI volume handle; only equality of handles matters to the scheduler."""
    if plugin == GCE_PD:
        return gce_volume_handle(disk, _gce_place(volume))
    kind = source["kind"].text("Managed") if plugin == AZURE_DISK else "Managed"
    if kind.lower() != "managed":
        raise _UntranslatableError(f"kind({kind}) is not supported in csi migration")
    handle = ebs_volume_id(disk) if plugin == AWS_EBS else disk
    if handle is None:
        detail = f"Invalid format for AWS volume ({disk})"
        raise _UntranslatableError(f"failed to translate Kubernetes ID to EBS Volume ID {detail}")
    return handle


def _gce_place(volume: PersistentVolume) -> str:
    """Zone or region of a disk, from the volume's zone label; several zones make a regional disk."""
    zones = (volume.labels.get(BETA_ZONE) or volume.labels.get(ZONE, "")).split(_ZONES_DELIMITER)
    if len(zones) == 1:
        return f"zones/{zones[0] or 'UNSPECIFIED'}"
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            wanted = "{locale}-{region}-{zone}"
            raise _UntranslatableError(
                f"failed to get region from zones: zone in unexpected format, expected: {wanted}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        found = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise _UntranslatableError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{found}]"
        )
    return f"regions/{regions.pop()}"


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
