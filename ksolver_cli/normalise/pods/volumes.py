"""Volumes and device claims of a pod spec, as far as any Filter plugin looks at them."""

from collections.abc import Callable

from ksolver_cli.domain.pod import PodClaim, Volume, VolumeKind
from ksolver_cli.normalise.fields import Field

_CARRIES_NO_PLACE = frozenset({"name", "configMap", "secret", "projected", "downwardAPI", "image", "gitRepo"})
"""Volume sources that are made anew on any node; their generated names would only tell equal pods apart."""


def read_volumes(spec: Field, pod_name: str) -> tuple[Volume, ...]:
    """The volumes that tie a pod to a place, in order of the spec."""
    found = []
    for volume in spec["volumes"].items():
        for key, source in volume.entries():
            if key not in _CARRIES_NO_PLACE and not source.absent:
                found.append(_volume(volume["name"].text(), key, source, pod_name))
    return tuple(found)


def read_claims(spec: Field) -> tuple[PodClaim, ...]:
    """`spec.resourceClaims`."""
    return tuple(
        PodClaim(
            name=claim["name"].text(),
            claim_name=claim["resourceClaimName"].text() or None,
            template_name=claim["resourceClaimTemplateName"].text() or None,
        )
        for claim in spec["resourceClaims"].items()
    )


def container_claims(container: Field) -> tuple[tuple[str, str, str], ...]:
    """(container, claim name in the pod, request) for each claim that a container names."""
    name = container["name"].text()
    claims = container["resources"]["claims"].items()
    return tuple((name, claim["name"].text(), claim["request"].text()) for claim in claims)


def _volume(name: str, key: str, source: Field, pod_name: str) -> Volume:
    if key == "emptyDir":
        return Volume(name, VolumeKind.EMPTY_DIR_MEMORY if _in_memory(source) else VolumeKind.EMPTY_DIR)
    if key == "ephemeral":
        # The claim is generated: KEP-1698 names it after the pod and the volume.
        return Volume(name, VolumeKind.EPHEMERAL, f"{pod_name}-{name}")
    reader = _SOURCES.get(key)
    return Volume(name, VolumeKind.OTHER, key) if reader is None else reader(name, source)


def _in_memory(source: Field) -> bool:
    medium = source["medium"].text()
    return medium == "Memory" or medium.startswith("HugePages")


def _simple(kind: VolumeKind, key: str, *details: str) -> Callable[[str, Field], Volume]:
    def read(name: str, source: Field) -> Volume:
        pairs = ((detail, source[detail].text()) for detail in sorted(details))
        return Volume(
            name,
            kind,
            source[key].text(),
            source["readOnly"].flag(),
            tuple((detail, text) for detail, text in pairs if text),
        )

    return read


def _rbd(name: str, source: Field) -> Volume:
    details = (("monitors", ",".join(source["monitors"].texts())), ("pool", source["pool"].text("rbd")))
    return Volume(name, VolumeKind.RBD, source["image"].text(), source["readOnly"].flag(), details)


def _iscsi(name: str, source: Field) -> Volume:
    details = (("lun", str(source["lun"].whole())), ("targetPortal", source["targetPortal"].text()))
    return Volume(name, VolumeKind.ISCSI, source["iqn"].text(), source["readOnly"].flag(), details)


_SOURCES: dict[str, Callable[[str, Field], Volume]] = {
    "persistentVolumeClaim": _simple(VolumeKind.CLAIM, "claimName"),
    "csi": _simple(VolumeKind.CSI, "driver"),
    "gcePersistentDisk": _simple(VolumeKind.GCE_PD, "pdName"),
    "awsElasticBlockStore": _simple(VolumeKind.AWS_EBS, "volumeID"),
    "azureDisk": _simple(VolumeKind.AZURE_DISK, "diskName", "diskURI"),
    "cinder": _simple(VolumeKind.CINDER, "volumeID"),
    # Which path it is matters to nobody, and snapshots leave it out.
    "hostPath": lambda name, _: Volume(name, VolumeKind.HOST_PATH),
    "rbd": _rbd,
    "iscsi": _iscsi,
}
