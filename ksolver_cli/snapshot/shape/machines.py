"""Nodes, storage, devices and node pools."""

from ksolver_cli.snapshot.shape.metadata import TEMPLATE_METADATA
from ksolver_cli.snapshot.shape.pods import CLAIM_SPEC
from ksolver_cli.snapshot.shape.vocabulary import (
    AMOUNTS,
    CONDITIONS,
    IMAGE,
    KEYS,
    NAME,
    NAMES,
    NODE_SELECTOR,
    PROVIDER_ID,
    PUBLIC,
    REQUIREMENT,
    SELECTOR,
    TAINT,
    TOLERATION,
    WORDS,
    Each,
    Keyed,
    Record,
    Shape,
    Table,
    named,
    public,
)

_NODE = Record(
    spec=Record(public("unschedulable"), taints=Each(TAINT), providerID=PROVIDER_ID),
    status=Record(
        allocatable=AMOUNTS,
        capacity=AMOUNTS,
        declaredFeatures=WORDS,
        features=Record(public("supplementalGroupsPolicy")),
        runtimeHandlers=Each(Record(name=NAME, features=Record(public("recursiveReadOnlyMounts", "userNamespaces")))),
        nodeInfo=Record(public("architecture", "operatingSystem", "kubeletVersion")),
        conditions=CONDITIONS,
        images=Each(Record(public("sizeBytes"), names=Each(IMAGE))),
    ),
)

_NO_SECRETS: Shape = Record()
_VOLUME_SPEC = Record(
    public("volumeMode", "persistentVolumeReclaimPolicy") | named("storageClassName", "volumeAttributesClassName"),
    accessModes=WORDS,
    capacity=AMOUNTS,
    claimRef=Record(public("apiVersion", "kind"), namespace=NAME, name=NAME, uid=NAME),
    nodeAffinity=Record(required=NODE_SELECTOR),
    csi=Record(public("driver", "readOnly"), volumeHandle=NAME),
    local=Record(),
    hostPath=Record(),
    gcePersistentDisk=Record(public("partition", "readOnly"), pdName=NAME),
    awsElasticBlockStore=Record(public("partition", "readOnly"), volumeID=PROVIDER_ID),
    azureDisk=Record(public("kind", "readOnly"), diskName=NAME, diskURI=NAME),
    azureFile=Record(public("readOnly"), shareName=NAME),
    cinder=Record(public("readOnly"), volumeID=NAME),
    portworxVolume=Record(public("readOnly"), volumeID=NAME),
    vsphereVolume=Record(volumePath=NAME),
    rbd=Record(public("readOnly"), monitors=NAMES, pool=NAME, image=NAME),
    iscsi=Record(public("readOnly", "lun"), targetPortal=NAME, iqn=NAME),
    **dict.fromkeys(("nfs", "fc", "cephfs", "glusterfs", "flexVolume", "storageos"), _NO_SECRETS),
)
_STORAGE_CLASS = Record(
    public("provisioner", "reclaimPolicy", "volumeBindingMode", "allowVolumeExpansion"),
    allowedTopologies=Each(Record(matchLabelExpressions=Each(REQUIREMENT))),
)
_CSI_NODE = Record(
    spec=Record(
        drivers=Each(Record(public("name"), nodeID=NAME, topologyKeys=KEYS, allocatable=Record(public("count"))))
    )
)
_CSI_DRIVER = Record(
    spec=Record(
        public("attachRequired", "storageCapacity", "preventPodSchedulingIfMissing"), volumeLifecycleModes=WORDS
    )
)
_ATTACHMENT = Record(
    spec=Record(
        public("attacher"),
        nodeName=NAME,
        source=Record(
            persistentVolumeName=NAME,
            inlineVolumeSpec=Record(csi=Record(public("driver"), volumeHandle=NAME)),
        ),
    ),
    status=Record(public("attached")),
)

_CEL = Each(Record(cel=Record(public("expression"))))
_DEVICE_TOLERATION = TOLERATION
_REQUEST_FIELDS: dict[str, Shape] = {
    **public("allocationMode", "count", "adminAccess"),
    "name": NAME,
    "deviceClassName": NAME,
    "selectors": _CEL,
    "tolerations": Each(_DEVICE_TOLERATION),
    "capacity": Record(requests=AMOUNTS),
}
_REQUEST = Record(_REQUEST_FIELDS, exactly=Record(_REQUEST_FIELDS), firstAvailable=Each(Record(_REQUEST_FIELDS)))
_CLAIM_SPEC = Record(
    devices=Record(
        requests=Each(_REQUEST),
        constraints=Each(Record(public("matchAttribute", "distinctAttribute"), requests=NAMES)),
    )
)
_RESULT = Record(
    public("driver", "device", "adminAccess", "shareID"),
    request=NAME,
    pool=NAME,
    tolerations=Each(_DEVICE_TOLERATION),
    consumedCapacity=AMOUNTS,
    bindingConditions=WORDS,
    bindingFailureConditions=WORDS,
)
_CLAIM_STATUS = Record(
    allocation=Record(public("allocationTimestamp"), devices=Record(results=Each(_RESULT)), nodeSelector=NODE_SELECTOR),
    reservedFor=Each(Record(public("apiGroup", "resource"), name=NAME, uid=NAME)),
)
_RANGE = Record(public("min", "max", "step"))
_CAPACITY = Record(
    public("value"),
    requestPolicy=Record(public("default"), validValues=WORDS, validRange=_RANGE),
)
_ATTRIBUTE = Record(public("string", "int", "bool", "version"), strings=WORDS, ints=WORDS, bools=WORDS, versions=WORDS)
_COUNTERS = Table(Record(public("value")))
_DEVICE_FIELDS: dict[str, Shape] = {
    "attributes": Table(_ATTRIBUTE),
    "capacity": Table(_CAPACITY),
    "taints": Each(TAINT),
    "consumesCounters": Each(Record(public("counterSet"), counters=_COUNTERS)),
    **public("allNodes", "allowMultipleAllocations", "bindsToNode"),
    "nodeName": NAME,
    "nodeSelector": NODE_SELECTOR,
    "bindingConditions": WORDS,
    "bindingFailureConditions": WORDS,
}
_SLICE = Record(
    spec=Record(
        public("driver", "allNodes", "perDeviceNodeSelection"),
        nodeName=NAME,
        nodeSelector=NODE_SELECTOR,
        pool=Record(public("generation", "resourceSliceCount"), name=NAME),
        devices=Each(Record(_DEVICE_FIELDS, name=PUBLIC, basic=Record(_DEVICE_FIELDS))),
        sharedCounters=Each(Record(public("name"), counters=_COUNTERS)),
    )
)
_TAINT_RULE = Record(
    spec=Record(
        taint=TAINT,
        deviceSelector=Record(public("driver", "device"), pool=NAME, deviceClassName=NAME, selectors=_CEL),
    )
)

_POOL_REQUIREMENT = Keyed(public("key", "operator", "minValues"), values=WORDS)
_NODE_CLASS = Record(public("group", "kind"), name=NAME)
_CLAIM_FIELDS: dict[str, Shape] = {
    "requirements": Each(_POOL_REQUIREMENT),
    "taints": Each(TAINT),
    "startupTaints": Each(TAINT),
    "nodeClassRef": _NODE_CLASS,
    **public("expireAfter", "terminationGracePeriod"),
    "resources": Record(requests=AMOUNTS),
}
_NODE_POOL = Record(
    spec=Record(
        public("weight", "replicas"),
        limits=AMOUNTS,
        disruption=Record(
            public("consolidationPolicy", "consolidateAfter"),
            budgets=Each(Record(public("nodes", "schedule", "duration"), reasons=WORDS)),
        ),
        template=Record(metadata=TEMPLATE_METADATA, spec=Record(_CLAIM_FIELDS)),
    ),
    status=Record(resources=AMOUNTS, conditions=CONDITIONS),
)
_NODE_CLAIM = Record(
    spec=Record(_CLAIM_FIELDS),
    status=Record(
        allocatable=AMOUNTS,
        capacity=AMOUNTS,
        nodeName=NAME,
        providerID=PROVIDER_ID,
        conditions=CONDITIONS,
    ),
)

SHAPES: dict[str, Record] = {
    "nodes": _NODE,
    "persistentvolumeclaims": Record(
        spec=CLAIM_SPEC, status=Record(public("phase"), accessModes=WORDS, capacity=AMOUNTS)
    ),
    "persistentvolumes": Record(spec=_VOLUME_SPEC, status=Record(public("phase"))),
    "storageclasses": _STORAGE_CLASS,
    "csinodes": _CSI_NODE,
    "csidrivers": _CSI_DRIVER,
    "csistoragecapacities": Record(
        public("capacity", "maximumVolumeSize"), storageClassName=NAME, nodeTopology=SELECTOR
    ),
    "volumeattachments": _ATTACHMENT,
    "resourceclaims": Record(spec=_CLAIM_SPEC, status=_CLAIM_STATUS),
    "resourceclaimtemplates": Record(spec=Record(metadata=TEMPLATE_METADATA, spec=_CLAIM_SPEC)),
    "resourceslices": _SLICE,
    "deviceclasses": Record(spec=Record(public("extendedResourceName"), selectors=_CEL)),
    "devicetaintrules": _TAINT_RULE,
    "nodepools": _NODE_POOL,
    "nodeclaims": _NODE_CLAIM,
}
