"""Rejections as words: kube-scheduler's own, and one line of ours beside them."""

from ksolver_cli.constraints.state import POD_SLOTS
from ksolver_cli.domain.verdict import Code, ObjectRef, Reason, Rejection, Unknown, Verdict

WORDS: dict[Reason, str] = {
    Reason.CORDONED: "node(s) were unschedulable",
    Reason.NODE_NAME: "node(s) didn't match the requested node name",
    Reason.FEATURE_MISSING: "node(s) didn't match Pod's required features",
    Reason.UNTOLERATED_TAINT: "node(s) had untolerated taint(s)",
    Reason.NODE_AFFINITY: "node(s) didn't match Pod's node affinity/selector",
    Reason.NODE_AFFINITY_PRE: "node(s) didn't satisfy plugin(s) [NodeAffinity]",
    Reason.PORT_CONFLICT: "node(s) didn't have free ports for the requested pod ports",
    Reason.TOO_MANY_PODS: "Too many pods",
    Reason.INSUFFICIENT: "Insufficient {0}",
    Reason.DISK_CONFLICT: "node(s) had no available disk",
    Reason.CLAIM_IN_USE: (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another "
        "pod"
    ),
    Reason.VOLUME_LIMIT: "node(s) exceed max volume count",
    Reason.CLAIM_MISSING: 'persistentvolumeclaim "{0}" not found',
    Reason.CLAIM_LOOKUP: 'looking up PVC {0}: persistentvolumeclaim "{1}" not found',
    Reason.CLAIM_NOT_CREATED: 'waiting for ephemeral volume controller to create the persistentvolumeclaim "{0}"',
    Reason.CLAIM_LOST: 'persistentvolumeclaim "{0}" bound to non-existent persistentvolume "{1}"',
    Reason.CLAIM_DELETING: 'persistentvolumeclaim "{0}" is being deleted',
    Reason.CLAIM_NOT_OWNED: "PVC {0} was not created for pod {1} (pod is not owner)",
    Reason.CLAIM_UNBOUND_IMMEDIATE: "pod has unbound immediate PersistentVolumeClaims",
    Reason.CLAIM_UNBOUND: "PersistentVolume had no name",
    Reason.CLAIM_WITHOUT_CLASS: "PersistentVolumeClaim had no pv name and storageClass name",
    Reason.BINDING_MODE_MISSING: 'VolumeBindingMode not set for StorageClass "{0}"',
    Reason.DRIVER_MISSING: "{0} CSI driver is not installed on the node",
    Reason.VOLUME_NODE_AFFINITY: "node(s) didn't match PersistentVolume's node affinity",
    Reason.VOLUME_BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    Reason.VOLUME_CAPACITY: "node(s) did not have enough free storage",
    Reason.VOLUME_MISSING: 'persistentvolume "{0}" not found',
    Reason.VOLUME_GONE: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    Reason.VOLUME_UNTRANSLATABLE: "could not translate pv: {0}",
    Reason.STORAGE_CLASS_MISSING: 'storageclass.storage.k8s.io "{0}" not found',
    Reason.VOLUME_ZONE: "node(s) had no available volume zone",
    Reason.SPREAD_SKEW: "node(s) didn't match pod topology spread constraints",
    Reason.SPREAD_LABEL_MISSING: "node(s) didn't match pod topology spread constraints (missing required label)",
    Reason.AFFINITY: "node(s) didn't match pod affinity rules",
    Reason.ANTI_AFFINITY: "node(s) didn't match pod anti-affinity rules",
    Reason.EXISTING_ANTI_AFFINITY: "node(s) didn't satisfy existing pods anti-affinity rules",
    Reason.DEVICES_UNAVAILABLE: "cannot allocate all claims",
    Reason.CLAIM_ALLOCATED_ELSEWHERE: "resourceclaim not available on the node",
    Reason.DEVICE_CLASS_MISSING: "request {0}: device class {1} does not exist",
    Reason.RESOURCE_CLAIM_MISSING: 'could not find ResourceClaim "{0}"',
    Reason.RESOURCE_CLAIM_NOT_CREATED: 'pod "{0}": ResourceClaim not created yet',
    Reason.RESOURCE_CLAIM_DELETING: 'resourceclaim "{0}" is being deleted',
    Reason.RESOURCE_CLAIM_NOT_OWNED: "ResourceClaim {0} was not created for {2} {1} ({2} is not owner)",
    Reason.RESOURCE_CLAIM_OTHER: "{0}",
    Reason.RESOURCE_POOLS_INVALID: "invalid resource pools were encountered",
    Reason.EXTENDED_CLAIM_STALE: "cannot schedule extended resource claim",
    Reason.EXTENDED_RESOURCE_MISSING: "cannot fit resource",
    Reason.GATED: "waiting for scheduling gates: [{0}]",
    Reason.OTHER: "{0}",
}
"""The scheduler's message for each reason; `{0}`, `{1}` are the rejection's params."""

CONFLICT = "pod affinity terms conflict"
_BINDER = frozenset(
    {Reason.VOLUME_NODE_AFFINITY, Reason.VOLUME_BIND_CONFLICT, Reason.VOLUME_CAPACITY, Reason.VOLUME_GONE}
)
_FILTER_ERRORS = frozenset({Reason.RESOURCE_CLAIM_OTHER, Reason.CLAIM_NOT_OWNED, Reason.VOLUME_UNTRANSLATABLE})
"""Reasons that the scheduler meets as an error within Filter; it names the plugin before them."""


def reasons(rejection: Rejection) -> tuple[str, ...]:
    """The scheduler's own words for a rejection: one message, or one for each resource or volume problem."""
    reason, params = rejection.reason, rejection.params
    if reason is Reason.INSUFFICIENT:
        return tuple(_shortage(resource) for resource in params)
    if reason in _BINDER:
        return (WORDS[reason], *(WORDS[Reason(further)] for further in params))
    if reason is Reason.NODE_AFFINITY_PRE:
        return (CONFLICT,) if params else (f"node(s) didn't satisfy plugin(s) [{rejection.family}]",)
    if reason is Reason.GATED:
        return (WORDS[reason].format(" ".join(params)),)
    words = WORDS[reason].format(*params)
    if rejection.code is Code.ERROR and reason in _FILTER_ERRORS:
        return (f'running "{rejection.family}" filter plugin: {words}',)
    if rejection.code is Code.ERROR and reason is Reason.BINDING_MODE_MISSING:
        return (f'running PreFilter plugin "{rejection.family}": {words}',)
    return (words,)


def sentence(verdict: Verdict) -> str:
    """One line for a verdict: the scheduler's words, or what it would take to know."""
    if isinstance(verdict, Unknown):
        kind = verdict.missing.isalpha() and verdict.missing.islower()
        return f"unknown: the input holds no {verdict.missing}" if kind else f"unknown: {verdict.missing}"
    return "; ".join(reasons(verdict))


def object_text(source: ObjectRef | None) -> str:
    """The object behind a verdict as `Kind/name (detail)`; empty when there is none."""
    if source is None:
        return ""
    name = f"{source.kind}/{source.name}"
    return f"{name} ({source.detail})" if source.detail else name


def _shortage(resource: str) -> str:
    return WORDS[Reason.TOO_MANY_PODS] if resource == POD_SLOTS else WORDS[Reason.INSUFFICIENT].format(resource)
