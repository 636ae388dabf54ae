"""Pods and the pod templates of workloads: no env, no command lines, no probes, no secrets' names."""

from typing import Any

from ksolver_cli.snapshot.shape.vocabulary import (
    AMOUNTS,
    CONDITIONS,
    IMAGE,
    KEY,
    KEYS,
    MATCH_LABELS,
    NAME,
    NAMES,
    NODE_SELECTOR,
    NODE_TERM,
    PROVIDER_ID,
    PUBLIC,
    SELECTOR,
    TOLERATION,
    WORDS,
    Each,
    Record,
    Shape,
    named,
    odd,
    public,
)

_CLAIMS = Each(Record(named("name", "request")))
RESOURCES = Record(requests=AMOUNTS, limits=AMOUNTS, claims=_CLAIMS)
_PORT = Record(public("containerPort", "hostPort", "protocol", "hostIP"))
CONTAINER = Record(
    public("restartPolicy"),
    name=NAME,
    image=IMAGE,
    resources=RESOURCES,
    resizePolicy=Each(Record(public("resourceName", "restartPolicy"))),
    ports=Each(_PORT),
    restartPolicyRules=Each(Record(public("action"), exitCodes=Record(public("operator"), values=WORDS))),
)
_POD_TERM = Record(
    labelSelector=SELECTOR,
    namespaceSelector=SELECTOR,
    namespaces=NAMES,
    topologyKey=KEY,
    matchLabelKeys=KEYS,
    mismatchLabelKeys=KEYS,
)
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_POD_AFFINITY = Record(
    {
        _REQUIRED: Each(_POD_TERM),
        _PREFERRED: Each(Record(public("weight"), podAffinityTerm=_POD_TERM)),
    }
)
_AFFINITY = Record(
    nodeAffinity=Record({_REQUIRED: NODE_SELECTOR, _PREFERRED: Each(Record(public("weight"), preference=NODE_TERM))}),
    podAffinity=_POD_AFFINITY,
    podAntiAffinity=_POD_AFFINITY,
)
_SPREAD = Record(
    public("maxSkew", "minDomains", "whenUnsatisfiable", "nodeAffinityPolicy", "nodeTaintsPolicy"),
    topologyKey=KEY,
    labelSelector=SELECTOR,
    matchLabelKeys=KEYS,
)
CLAIM_SPEC = Record(
    public("volumeMode"),
    accessModes=WORDS,
    resources=RESOURCES,
    selector=SELECTOR,
    storageClassName=NAME,
    volumeName=NAME,
    volumeAttributesClassName=NAME,
)
_READ_ONLY = public("readOnly")
_VOLUME_SOURCES: dict[str, Shape] = {
    "persistentVolumeClaim": Record(_READ_ONLY, claimName=NAME),
    "gcePersistentDisk": Record(_READ_ONLY, pdName=NAME, partition=PUBLIC),
    "awsElasticBlockStore": Record(_READ_ONLY, volumeID=PROVIDER_ID, partition=PUBLIC),
    "azureDisk": Record(public("readOnly", "kind"), diskName=NAME, diskURI=NAME),
    "azureFile": Record(_READ_ONLY, shareName=NAME),
    "cinder": Record(_READ_ONLY, volumeID=NAME),
    "portworxVolume": Record(_READ_ONLY, volumeID=NAME),
    "vsphereVolume": Record(volumePath=NAME),
    "hostPath": Record(public("type")),
    "emptyDir": Record(public("medium", "sizeLimit")),
    "csi": Record(public("driver", "readOnly")),
    "rbd": Record(_READ_ONLY, monitors=NAMES, pool=NAME, image=NAME),
    "iscsi": Record(_READ_ONLY, targetPortal=NAME, iqn=NAME, lun=PUBLIC),
    "ephemeral": Record(volumeClaimTemplate=Record(spec=CLAIM_SPEC)),
}


class _Volume(Record):
    """A volume: of sources that are not listed only the word is kept (`secret: {}`), for it says that there is one."""

    def keep(self, raw: Any) -> Any:
        """Return name and source."""
        if not isinstance(raw, dict):
            return odd(raw)
        kept: dict[str, Any] = super().keep(raw)
        return kept | {source: {} for source in raw if source not in kept and source in _BARE_SOURCES}


_BARE_SOURCES = frozenset(
    {
        "secret",
        "configMap",
        "projected",
        "downwardAPI",
        "image",
        "gitRepo",
        "nfs",
        "glusterfs",
        "cephfs",
        "fc",
        "flocker",
    }
    | {"flexVolume", "photonPersistentDisk", "quobyte", "scaleIO", "storageos"}
)

POD_SPEC = Record(
    public("priority", "preemptionPolicy", "schedulerName", "hostNetwork", "hostUsers", "restartPolicy")
    | public("terminationGracePeriodSeconds", "activeDeadlineSeconds"),
    nodeName=NAME,
    nodeSelector=MATCH_LABELS,
    affinity=_AFFINITY,
    tolerations=Each(TOLERATION),
    topologySpreadConstraints=Each(_SPREAD),
    overhead=AMOUNTS,
    priorityClassName=NAME,
    schedulingGates=Each(Record(public("name"))),
    runtimeClassName=NAME,
    os=Record(public("name")),
    resourceClaims=Each(Record(named("name", "resourceClaimName", "resourceClaimTemplateName"))),
    resources=RESOURCES,
    containers=Each(CONTAINER),
    initContainers=Each(CONTAINER),
    ephemeralContainers=Each(CONTAINER),
    volumes=Each(_Volume({"name": NAME, **_VOLUME_SOURCES})),
)

_STATE = Record(public("reason", "exitCode", "startedAt", "finishedAt"))
_STATES = Record(terminated=_STATE, waiting=_STATE, running=_STATE)
_CONTAINER_STATUS = Record(
    public("ready", "restartCount", "started"),
    name=NAME,
    allocatedResources=AMOUNTS,
    resources=RESOURCES,
    state=_STATES,
    lastState=_STATES,
)
POD_STATUS = Record(
    public("phase", "reason", "startTime", "qosClass", "resize"),
    nominatedNodeName=NAME,
    allocatedResources=AMOUNTS,
    resources=RESOURCES,
    conditions=CONDITIONS,
    containerStatuses=Each(_CONTAINER_STATUS),
    initContainerStatuses=Each(_CONTAINER_STATUS),
    resourceClaimStatuses=Each(Record(named("name", "resourceClaimName"))),
    extendedResourceClaimStatus=Record(
        resourceClaimName=NAME,
        requestMappings=Each(Record(named("containerName", "requestName"), resourceName=PUBLIC)),
    ),
)
