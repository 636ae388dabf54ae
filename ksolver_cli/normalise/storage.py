"""Claims, volumes, storage classes and what CSI says of nodes, read from raw objects."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ksolver_cli.domain.labels import Operator, Requirement
from ksolver_cli.domain.quantity import Quantity
from ksolver_cli.domain.storage import (
    ZERO,
    Attachment,
    CsiDriver,
    CsiNode,
    PersistentVolume,
    Storage,
    StorageCapacity,
    StorageClass,
    VolumeClaim,
)
from ksolver_cli.normalise.fields import Field, Problems, Raw, read_each
from ksolver_cli.normalise.migration import as_csi_volume
from ksolver_cli.normalise.selectors import read_node_selector, read_selector

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_MIGRATED_PLUGINS = "storage.alpha.kubernetes.io/migrated-plugins"

Objects = Mapping[str, Iterable[Raw]]


def normalise_storage(objects: Objects, problems: Problems) -> Storage:
    """Read everything the volume families look at; objects that cannot be read are left out and become caveats."""
    claims = read_each("PersistentVolumeClaim", objects.get("persistentvolumeclaims", ()), problems, read_claim)
    volumes = read_each("PersistentVolume", objects.get("persistentvolumes", ()), problems, read_volume)
    classes = read_each("StorageClass", objects.get("storageclasses", ()), problems, read_class)
    nodes = read_each("CSINode", objects.get("csinodes", ()), problems, read_csi_node)
    drivers = read_each("CSIDriver", objects.get("csidrivers", ()), problems, read_csi_driver)
    capacities = read_each("CSIStorageCapacity", objects.get("csistoragecapacities", ()), problems, read_capacity)
    attachments = read_each("VolumeAttachment", objects.get("volumeattachments", ()), problems, read_attachment)
    return Storage(
        claims={claim.key: claim for claim in claims},
        volumes={volume.name: volume for volume in volumes},
        classes={cls.name: cls for cls in classes},
        csi_nodes={node.name: node for node in nodes},
        csi_drivers={driver.name: driver for driver in drivers},
        capacities=tuple(capacities),
        attachments=_by_node(attachments),
    )


def _by_node(attachments: Iterable[Attachment | None]) -> dict[str, tuple[Attachment, ...]]:
    grouped: dict[str, list[Attachment]] = {}
    for attachment in attachments:
        if attachment is not None:
            grouped.setdefault(attachment.node, []).append(attachment)
    return {node: tuple(found) for node, found in grouped.items()}


def read_claim(raw: Field) -> VolumeClaim:
    """A PersistentVolumeClaim. Raises FieldError."""
    metadata, spec = raw["metadata"], raw["spec"]
    annotations = metadata["annotations"].text_map()
    requests = spec["resources"]["requests"].quantities()
    return VolumeClaim(
        namespace=metadata["namespace"].text("default"),
        name=metadata["name"].some_text(),
        uid=metadata["uid"].text(),
        volume_name=spec["volumeName"].text(),
        storage_class=annotations.get(_BETA_CLASS, spec["storageClassName"].text()),
        access_modes=spec["accessModes"].texts(),
        volume_mode=spec["volumeMode"].text("Filesystem"),
        request=requests.get("storage"),
        selector=read_selector(spec["selector"]),
        attributes_class=spec["volumeAttributesClassName"].text(),
        bind_completed=_BIND_COMPLETED in annotations,
        selected_node=annotations.get(_SELECTED_NODE),
        lost=raw["status"]["phase"].text() == "Lost",
        deleting=not metadata["deletionTimestamp"].absent,
        controller_uid=_controller_uid(metadata["ownerReferences"]),
    )


def _controller_uid(owners: Field) -> str:
    for owner in owners.items():
        if owner["controller"].flag():
            return owner["uid"].text()
    return ""


def read_volume(raw: Field) -> PersistentVolume:
    """A PersistentVolume; an in-tree source also as the CSI volume it is attached as. Raises FieldError."""
    metadata, spec = raw["metadata"], raw["spec"]
    annotations, csi = metadata["annotations"].text_map(), spec["csi"]
    volume = PersistentVolume(
        name=metadata["name"].some_text(),
        labels=metadata["labels"].text_map(),
        storage_class=annotations.get(_BETA_CLASS, spec["storageClassName"].text()),
        capacity=_storage_capacity(spec["capacity"]),
        access_modes=spec["accessModes"].texts(),
        volume_mode=spec["volumeMode"].text("Filesystem"),
        claim_ref=_claim_ref(spec["claimRef"]),
        phase=raw["status"]["phase"].text(),
        deleting=not metadata["deletionTimestamp"].absent,
        attributes_class=spec["volumeAttributesClassName"].text(),
        node_affinity=read_node_selector(spec["nodeAffinity"]["required"]),
        driver=csi["driver"].text(),
        handle=csi["volumeHandle"].text(),
        is_local=not (spec["local"].absent and spec["hostPath"].absent),
    )
    volume = replace(volume, translated_affinity=volume.node_affinity)
    return volume if not csi.absent else as_csi_volume(volume, spec)


def _storage_capacity(capacity: Field) -> Quantity:
    return capacity.quantities().get("storage", ZERO)


def _claim_ref(ref: Field) -> tuple[str, str, str] | None:
    if ref.absent:
        return None
    return ref["namespace"].text(), ref["name"].text(), ref["uid"].text()


def read_class(raw: Field) -> StorageClass:
    """A StorageClass. Raises FieldError."""
    return StorageClass(
        name=raw["metadata"]["name"].some_text(),
        provisioner=raw["provisioner"].text(),
        binding_mode=raw["volumeBindingMode"].text(),
        allowed_topologies=tuple(_topology_term(term) for term in raw["allowedTopologies"].items()),
    )


def _topology_term(term: Field) -> tuple[Requirement, ...]:
    return tuple(
        Requirement(expression["key"].text(), Operator.IN, expression["values"].texts())
        for expression in term["matchLabelExpressions"].items()
    )


def read_csi_node(raw: Field) -> CsiNode:
    """A CSINode. Raises FieldError."""
    drivers = raw["spec"]["drivers"].items()
    counts = {driver["name"].text(): driver["allocatable"]["count"].maybe_whole() for driver in drivers}
    migrated = raw["metadata"]["annotations"].text_map().get(_MIGRATED_PLUGINS, "")
    return CsiNode(
        name=raw["metadata"]["name"].some_text(),
        drivers=frozenset(counts),
        limits={name: count for name, count in counts.items() if count is not None},
        migrated=frozenset(migrated.split(",")) - {""},
    )


def read_csi_driver(raw: Field) -> CsiDriver:
    """A CSIDriver. Raises FieldError."""
    return CsiDriver(
        name=raw["metadata"]["name"].some_text(),
        storage_capacity=raw["spec"]["storageCapacity"].flag(),
        prevents_scheduling_if_missing=raw["spec"]["preventPodSchedulingIfMissing"].flag(),
    )


def read_capacity(raw: Field) -> StorageCapacity:
    """A CSIStorageCapacity; `maximumVolumeSize` is preferred over `capacity`. Raises FieldError."""
    limit = raw["capacity"] if raw["maximumVolumeSize"].absent else raw["maximumVolumeSize"]
    return StorageCapacity(
        storage_class=raw["storageClassName"].text(),
        limit=None if limit.absent else limit.quantity(),
        topology=read_selector(raw["nodeTopology"]),
    )


def read_attachment(raw: Field) -> Attachment | None:
    """A VolumeAttachment; None for one that names no attacher or no volume (inline specs). Raises FieldError."""
    spec = raw["spec"]
    found = Attachment(spec["nodeName"].text(), spec["attacher"].text(), spec["source"]["persistentVolumeName"].text())
    return found if found.driver and found.volume else None
