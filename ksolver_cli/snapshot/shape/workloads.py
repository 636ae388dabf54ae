"""Controllers, budgets, quotas and autoscalers."""

from ksolver_cli.snapshot.shape.metadata import TEMPLATE_METADATA
from ksolver_cli.snapshot.shape.pods import CLAIM_SPEC, POD_SPEC, POD_STATUS
from ksolver_cli.snapshot.shape.vocabulary import (
    AMOUNTS,
    CONDITIONS,
    MATCH_LABELS,
    NAME,
    SELECTOR,
    TOLERATION,
    WORDS,
    Each,
    Record,
    Shape,
    public,
)

TEMPLATE = Record(metadata=TEMPLATE_METADATA, spec=POD_SPEC)
_ROLLING = Record(public("type"), rollingUpdate=Record(public("maxSurge", "maxUnavailable", "partition")))
_STATUS = Record(
    public(
        *("replicas", "readyReplicas", "availableReplicas", "updatedReplicas", "unavailableReplicas"),
        *("currentReplicas", "observedGeneration", "desiredNumberScheduled", "currentNumberScheduled", "numberReady"),
        *("numberAvailable", "numberUnavailable", "numberMisscheduled", "active", "succeeded"),
        *("failed", "ready", "startTime", "completionTime", "lastScheduleTime"),
        *("lastSuccessfulTime",),
    ),
    conditions=CONDITIONS,
)
_SPEC: dict[str, Shape] = {
    **public("replicas", "minReadySeconds", "paused", "revisionHistoryLimit", "podManagementPolicy"),
    **public("parallelism", "completions", "completionMode", "backoffLimit", "suspend", "activeDeadlineSeconds"),
    **public("ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes", "podReplacementPolicy"),
    "serviceName": NAME,
    "strategy": _ROLLING,
    "updateStrategy": _ROLLING,
    "template": TEMPLATE,
    "volumeClaimTemplates": Each(
        Record(metadata=Record(name=NAME, labels=TEMPLATE_METADATA.fields["labels"]), spec=CLAIM_SPEC)
    ),
}
_WORKLOAD = Record(spec=Record(_SPEC, selector=SELECTOR), status=_STATUS)
_REPLICATION_CONTROLLER = Record(spec=Record(_SPEC, selector=MATCH_LABELS), status=_STATUS)
_JOB_SPEC = Record(_SPEC, selector=SELECTOR)
_CRON_JOB = Record(
    spec=Record(
        public("schedule", "timeZone", "suspend", "concurrencyPolicy", "startingDeadlineSeconds"),
        jobTemplate=Record(metadata=TEMPLATE_METADATA, spec=_JOB_SPEC),
    ),
    status=_STATUS,
)

_TARGET = Record(public("type", "averageUtilization", "averageValue", "value"))
_VALUE = Record(public("averageUtilization", "averageValue", "value"))
_OBJECT = Record(public("apiVersion", "kind"), name=NAME)
_METRIC = Record(name=NAME, selector=SELECTOR)
_METRIC_SPEC = Record(
    public("type"),
    resource=Record(public("name"), target=_TARGET, current=_VALUE),
    containerResource=Record(public("name"), container=NAME, target=_TARGET, current=_VALUE),
    pods=Record(metric=_METRIC, target=_TARGET, current=_VALUE),
    object=Record(metric=_METRIC, describedObject=_OBJECT, target=_TARGET, current=_VALUE),
    external=Record(metric=_METRIC, target=_TARGET, current=_VALUE),
)
_HPA = Record(
    spec=Record(
        public("minReplicas", "maxReplicas", "targetCPUUtilizationPercentage"),
        scaleTargetRef=_OBJECT,
        metrics=Each(_METRIC_SPEC),
    ),
    status=Record(
        public("currentReplicas", "desiredReplicas", "lastScaleTime", "observedGeneration"),
        currentMetrics=Each(_METRIC_SPEC),
        conditions=CONDITIONS,
    ),
)
_RECOMMENDATION = Record(
    containerRecommendations=Each(
        Record(containerName=NAME, target=AMOUNTS, lowerBound=AMOUNTS, upperBound=AMOUNTS, uncappedTarget=AMOUNTS)
    )
)
_VPA = Record(
    spec=Record(
        targetRef=_OBJECT,
        updatePolicy=Record(public("updateMode", "minReplicas")),
        recommenders=Each(Record(name=NAME)),
        resourcePolicy=Record(
            containerPolicies=Each(
                Record(
                    public("mode", "controlledValues"),
                    containerName=NAME,
                    minAllowed=AMOUNTS,
                    maxAllowed=AMOUNTS,
                    controlledResources=WORDS,
                )
            )
        ),
    ),
    status=Record(recommendation=_RECOMMENDATION, conditions=CONDITIONS),
)
_BUDGET = Record(
    spec=Record(public("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"), selector=SELECTOR),
    status=Record(
        public("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods", "observedGeneration"),
        conditions=CONDITIONS,
    ),
)
_QUOTA = Record(
    spec=Record(
        hard=AMOUNTS,
        scopes=WORDS,
        scopeSelector=Record(matchExpressions=Each(Record(public("scopeName", "operator"), values=Each(NAME)))),
    ),
    status=Record(hard=AMOUNTS, used=AMOUNTS),
)
_RANGE = Record(
    public("type"),
    **dict.fromkeys(("default", "defaultRequest", "min", "max", "maxLimitRequestRatio"), AMOUNTS),
)
_RUNTIME_CLASS = Record(
    handler=NAME,
    overhead=Record(podFixed=AMOUNTS),
    scheduling=Record(nodeSelector=MATCH_LABELS, tolerations=Each(TOLERATION)),
)
_METRICS = Record(public("timestamp", "window"), usage=AMOUNTS, containers=Each(Record(name=NAME, usage=AMOUNTS)))

SHAPES: dict[str, Record] = {
    "pods": Record(spec=POD_SPEC, status=POD_STATUS),
    "namespaces": Record(),
    "replicasets": _WORKLOAD,
    "deployments": _WORKLOAD,
    "statefulsets": _WORKLOAD,
    "daemonsets": _WORKLOAD,
    "jobs": _WORKLOAD,
    "cronjobs": _CRON_JOB,
    "replicationcontrollers": _REPLICATION_CONTROLLER,
    "horizontalpodautoscalers": _HPA,
    "verticalpodautoscalers": _VPA,
    "poddisruptionbudgets": _BUDGET,
    "priorityclasses": Record(public("value", "globalDefault", "preemptionPolicy")),
    "runtimeclasses": _RUNTIME_CLASS,
    "resourcequotas": _QUOTA,
    "limitranges": Record(spec=Record(limits=Each(_RANGE))),
    "services": Record(spec=Record(public("type"), selector=MATCH_LABELS)),
    "nodemetrics": _METRICS,
    "podmetrics": _METRICS,
}
