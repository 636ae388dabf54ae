"""Kinds of add-ons: Kueue, Volcano, coscheduling, TensorFusion (their published Go types, v1/v1beta1)."""

from ksolver_cli.snapshot.shape.metadata import TEMPLATE_METADATA
from ksolver_cli.snapshot.shape.pods import POD_SPEC
from ksolver_cli.snapshot.shape.vocabulary import (
    AMOUNTS,
    CONDITIONS,
    MATCH_LABELS,
    NAME,
    NAMES,
    NODE_SELECTOR,
    NODE_TERM,
    PUBLIC,
    SELECTOR,
    TAINT,
    TOLERATION,
    WORDS,
    Each,
    Record,
    Shape,
    public,
)

_ADMISSION = Record(
    clusterQueue=NAME,
    podSetAssignments=Each(Record(public("count"), name=NAME, resourceUsage=AMOUNTS)),
)
_WORKLOAD = Record(
    spec=Record(
        public("priority", "active"),
        queueName=NAME,
        priorityClassName=NAME,
        podSets=Each(
            Record(public("count", "minCount"), name=NAME, template=Record(metadata=TEMPLATE_METADATA, spec=POD_SPEC))
        ),
    ),
    status=Record(admission=_ADMISSION, conditions=CONDITIONS),
)
_FLAVOR_QUOTA = Record(
    name=NAME, resources=Each(Record(public("name", "nominalQuota", "borrowingLimit", "lendingLimit")))
)
_CLUSTER_QUEUE = Record(
    spec=Record(
        public("queueingStrategy", "stopPolicy"),
        cohort=NAME,
        namespaceSelector=SELECTOR,
        resourceGroups=Each(Record(coveredResources=WORDS, flavors=Each(_FLAVOR_QUOTA))),
        preemption=Record(public("withinClusterQueue", "reclaimWithinCohort")),
    ),
    status=Record(public("pendingWorkloads", "admittedWorkloads", "reservingWorkloads"), conditions=CONDITIONS),
)
_LOCAL_QUEUE = Record(
    spec=Record(public("stopPolicy"), clusterQueue=NAME),
    status=Record(public("pendingWorkloads", "admittedWorkloads", "reservingWorkloads"), conditions=CONDITIONS),
)
_FLAVOR = Record(
    spec=Record(nodeLabels=MATCH_LABELS, nodeTaints=Each(TAINT), tolerations=Each(TOLERATION), topologyName=NAME)
)
_POD_GROUP = Record(
    spec=Record(
        public("minMember", "scheduleTimeoutSeconds"),
        minTaskMember=AMOUNTS,
        minResources=AMOUNTS,
        queue=NAME,
        priorityClassName=NAME,
    ),
    status=Record(public("phase", "running", "succeeded", "failed", "scheduled", "scheduleStartTime")),
)

_GPU_AMOUNT = Record(public("tflops", "vram", "compute", "cpu", "memory", "computePercent"))
_GPU_RESOURCES = Record(requests=_GPU_AMOUNT, limits=_GPU_AMOUNT)
_GPU_POD = Record(
    public("qos", "isExternal"), name=NAME, namespace=NAME, uid=NAME, requests=_GPU_AMOUNT, limits=_GPU_AMOUNT
)
_GPU = Record(
    status=Record(
        public("phase", "vendor", "isolationMode", "index", "numaNode", "gpuModel", "usedBy"),
        uuid=NAME,
        capacity=_GPU_AMOUNT,
        available=_GPU_AMOUNT,
        nodeSelector=MATCH_LABELS,
        runningApps=Each(Record(public("count"), name=NAME, namespace=NAME, pods=Each(_GPU_POD))),
    )
)
_TOTALS: dict[str, Shape] = public(
    *("totalTFlops", "totalVRAM", "virtualTFlops", "virtualVRAM", "availableTFlops", "availableVRAM"),
    *("virtualAvailableTFlops", "virtualAvailableVRAM", "phase", "totalGPUs", "managedGPUs", "totalNodes"),
    *("readyNodes", "notReadyNodes", "runningAppsCnt"),
)
_PRICE = Record(public("perFP16TFlopsPerHour", "perGBOfVRAMPerHour"))
_GPU_POOL_SPEC = Record(
    public("defaultUsingLocalGPU"),
    capacityConfig=Record(
        minResources=_GPU_AMOUNT,
        maxResources=_GPU_AMOUNT,
        warmResources=_GPU_AMOUNT,
        oversubscription=Record(public("vramExpandToHostMem", "vramExpandToHostDisk", "tflopsOversellRatio")),
    ),
    nodeManagerConfig=Record(
        public("provisioningMode"), nodeSelector=NODE_SELECTOR, nodeCompaction=Record(public("period"))
    ),
    qosConfig=Record(
        public("defaultQoS", "evictionProtectionPriceRatio"),
        definitions=Each(Record(public("name", "priority"))),
        pricing=Each(Record(public("qos", "limitsOverRequests"), requests=_PRICE)),
    ),
    schedulingConfigTemplate=NAME,
)
_NODE_AFFINITY = Record(
    requiredDuringSchedulingIgnoredDuringExecution=NODE_SELECTOR,
    preferredDuringSchedulingIgnoredDuringExecution=Each(Record(public("weight"), preference=NODE_TERM)),
)
_PROFILE_SPEC: dict[str, Shape] = {
    **public("replicas", "qos", "isLocalGPU", "sidecarWorker", "isolation", "gpuModel", "gpuCount", "vendor"),
    "poolName": NAME,
    "resources": _GPU_RESOURCES,
    "gpuIndices": WORDS,
    "nodeAffinity": _NODE_AFFINITY,
}
_PROFILE = Record(spec=Record(_PROFILE_SPEC))
_TF_WORKLOAD = Record(
    spec=Record(_PROFILE_SPEC),
    status=Record(public("phase", "workerCount", "readyWorkers", "replicas", "readyReplicas"), conditions=CONDITIONS),
)
_GPU_QUOTA = Record(
    spec=Record(
        total=Record(_GPU_RESOURCES.fields, maxWorkers=PUBLIC, alertThresholdPercent=PUBLIC),
        single=Record(
            max=_GPU_AMOUNT,
            min=_GPU_AMOUNT,
            defaultRequests=_GPU_AMOUNT,
            defaultLimits=_GPU_AMOUNT,
            maxGPUCount=PUBLIC,
            defaultGPUCount=PUBLIC,
        ),
    ),
    status=Record(used=Record(_GPU_RESOURCES.fields, workers=PUBLIC)),
)

SHAPES: dict[str, Record] = {
    "workloads": _WORKLOAD,
    "clusterqueues": _CLUSTER_QUEUE,
    "localqueues": _LOCAL_QUEUE,
    "resourceflavors": _FLAVOR,
    "volcanopodgroups": _POD_GROUP,
    "podgroups": _POD_GROUP,
    "gpupools": Record(spec=_GPU_POOL_SPEC, status=Record(_TOTALS, cluster=NAME, conditions=CONDITIONS)),
    "gpunodes": Record(
        spec=Record(public("manageMode")),
        status=Record(
            _TOTALS,
            nodeInfo=Record(public("ramSize", "dataDiskSize", "vendor", "instanceType", "region")),
            managedGPUDeviceIDs=NAMES,
            conditions=CONDITIONS,
        ),
    ),
    "gpus": _GPU,
    "gpuresourcequotas": _GPU_QUOTA,
    "tensorfusionworkloads": _TF_WORKLOAD,
    "tensorfusionconnections": Record(spec=Record(workloadName=NAME), status=Record(public("phase"), workerName=NAME)),
    "tensorfusionclusters": Record(
        spec=Record(gpuPools=Each(Record(public("isDefault"), name=NAME, spec=_GPU_POOL_SPEC))),
        status=Record(_TOTALS, conditions=CONDITIONS),
    ),
    "workloadprofiles": _PROFILE,
}
