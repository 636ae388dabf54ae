"""Whose memory a series tells of: device, workload and node, out of labels that scraping has renamed.

With `honor_labels: false` (the exporter's chart default) Prometheus keeps the target's own `pod`, `namespace` and
`container`, which name the exporter, and renames the exporter's to `exported_…`
(https://prometheus.io/docs/prometheus/latest/configuration/configuration/#scrape_config). Then a card without workload
has no `exported_pod`, and its `pod` must not be taken for one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Labels = Mapping[str, str]
DeviceKey = tuple[str, str]

# A label of these can only be the workload's: the exporter's own after renaming, or its old name for it, which does
# not collide with what targets carry. In a job that has them, `pod` names the exporter.
_WORKLOAD_POD = ("exported_pod", "exported_pod_name", "pod_name")
_EXPORTER_CONTAINERS = frozenset({"exporter", "dcgm-exporter", "nvidia-dcgm-exporter"})
_EXPORTER_POD = "dcgm-exporter"
# A pod's labels by the name of the label that holds it: namespace, container, uid.
_COMPANIONS = {
    "exported_pod": ("exported_namespace", "exported_container", "exported_pod_uid"),
    "exported_pod_name": ("exported_pod_namespace", "exported_container_name", "exported_pod_uid"),
    "pod": ("namespace", "container", "pod_uid"),
    "pod_name": ("pod_namespace", "container_name", "pod_uid"),
}


@dataclass(frozen=True, order=True)
class Owner:
    """The pod a series is about, and the label that named it."""

    namespace: str
    pod: str
    uid: str | None = None
    container: str | None = None
    pod_label: str = "pod"

    @property
    def name(self) -> str:
        """The pod as `namespace/name`."""
        return f"{self.namespace}/{self.pod}"

    @property
    def namespace_label(self) -> str:
        """The label that holds the namespace beside this pod label."""
        return _COMPANIONS[self.pod_label][0]


@dataclass(frozen=True)
class Tag:
    """What the labels of one series say."""

    device: DeviceKey
    uuid: str | None
    mig_id: str | None
    mig_profile: str | None
    gpu_model: str | None
    node: str | None
    owner: Owner | None
    virtual: bool
    claim: str | None
    dra_device: str | None


@dataclass(frozen=True)
class Scrapes:
    """How the scrape jobs of an answer treat labels: which of them rename the exporter's."""

    renaming_jobs: frozenset[str]

    @classmethod
    def among(cls, label_sets: Iterable[Labels]) -> "Scrapes":
        """Return what can be told from all label sets of the answers together."""
        return cls(frozenset(labels.get("job", "") for labels in label_sets if _workload_label(labels) is not None))

    def tag(self, labels: Labels) -> Tag:
        """Return what one label set says; unknown parts are None."""
        uuid, mig_id = _first(labels, "UUID", "uuid"), _first(labels, "GPU_I_ID")
        owner = self._owner(labels)
        node = _node(labels)
        return Tag(
            device=(uuid or f"{node or labels.get('instance', '')}/{labels.get('gpu', '')}", mig_id or ""),
            uuid=uuid,
            mig_id=mig_id,
            mig_profile=_first(labels, "GPU_I_PROFILE", "dra_mig_profile"),
            gpu_model=_first(labels, "modelName", "model_name"),
            node=node,
            owner=owner,
            # `vgpu` numbers the replicas of a time-sliced or MPS device: the value is still the whole device's.
            virtual=bool(labels.get("vgpu")),
            claim=_claim(labels),
            dra_device=_first(labels, "dra_device_name"),
        )

    def _owner(self, labels: Labels) -> Owner | None:
        label = _workload_label(labels)
        if label is not None:
            return _owner_at(labels, label)
        if labels.get("job", "") in self.renaming_jobs or _is_exporter(labels):
            return None
        return _owner_at(labels, "pod")


def _workload_label(labels: Labels) -> str | None:
    return next((key for key in _WORKLOAD_POD if labels.get(key) and labels.get(_COMPANIONS[key][0])), None)


def _owner_at(labels: Labels, pod_label: str) -> Owner | None:
    namespace_label, container_label, uid_label = _COMPANIONS[pod_label]
    namespace, pod = labels.get(namespace_label), labels.get(pod_label)
    if not namespace or not pod:
        return None
    uid, container = labels.get(uid_label) or None, labels.get(container_label) or None
    return Owner(namespace, pod, uid, container, pod_label)


def _is_exporter(labels: Labels) -> bool:
    pod = labels.get("pod", "")
    return (
        labels.get("container", "") in _EXPORTER_CONTAINERS
        or _EXPORTER_POD in pod
        or (pod != "" and pod == _first(labels, "Hostname", "hostname"))
    )


def _node(labels: Labels) -> str | None:
    relabelled = _first(labels, "node", "kubernetes_node", "node_name", "nodename")
    if relabelled is not None:
        return relabelled
    host = _first(labels, "Hostname", "hostname")
    # Without NODE_NAME the exporter reports its own pod's name, which is no node.
    own_name = host is not None and (host == labels.get("pod") or _EXPORTER_POD in host)
    return None if own_name else host


def _claim(labels: Labels) -> str | None:
    namespace, name = labels.get("dra_claim_namespace"), labels.get("dra_claim_name")
    return f"{namespace}/{name}" if namespace and name else None


def _first(labels: Labels, *names: str) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)
