"""Manifests read as the API server would store them; served pods are taken as they are."""

import pytest

from ksolver_cli.domain.labels import Operator, Requirement
from ksolver_cli.domain.pod import HostPort, Phase, Pod, Toleration
from ksolver_cli.normalise.fields import FieldError
from ksolver_cli.normalise.pods.manifest import normalise_pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TROUBLE = (
    Toleration("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
    Toleration("node.kubernetes.io/unreachable", "Exists", "", "NoExecute"),
)


def manifest(*, uid: str = "", labels: dict | None = None, resources: dict | None = None, **spec: object) -> dict:
    container = {"name": "c", "resources": resources or {}, "ports": [{"containerPort": 80}]}
    metadata = {"name": "p", "namespace": "ns", "labels": labels or {}} | ({"uid": uid} if uid else {})
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def test_limits_become_requests_where_none_are_set() -> None:
    raw = manifest(resources={"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}})
    assert normalise_pod(raw).spec.requests == {"cpu": 1000, "memory": 2**30}
    assert normalise_pod(raw | {"metadata": raw["metadata"] | {"uid": "u"}}).spec.requests == {"cpu": 1000}


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        ({}, Phase.PENDING),
        ({"resourceClaimStatuses": [{"name": "t", "resourceClaimName": "made"}]}, Phase.PENDING),
        ({"phase": "Running"}, Phase.RUNNING),
    ],
)
def test_a_new_pod_is_pending_though_it_names_a_node(status: dict, phase: Phase) -> None:
    assert normalise_pod(manifest(nodeName="n1") | {"status": status}).phase is phase


def test_a_served_pod_gets_nothing_added() -> None:
    assert normalise_pod(manifest(uid="u")).spec.tolerations == ()
    assert normalise_pod(manifest()).spec.tolerations == TROUBLE


@pytest.mark.parametrize("own", [{"operator": "Exists"}, {"key": TROUBLE[0].key, "operator": "Exists"}])
def test_tolerations_that_are_there_are_not_added_again(own: dict) -> None:
    tolerations = normalise_pod(manifest(tolerations=[own])).spec.tolerations
    assert len(tolerations) == (1 if "key" not in own else 2)


def test_limit_ranges_fill_in_after_the_pods_own_limits() -> None:
    item = {
        "type": "Container",
        "default": {"cpu": "4", "memory": "2Gi"},
        "defaultRequest": {"cpu": "3", "memory": "1Gi"},
    }
    limits = ({"metadata": {"name": "l", "namespace": "ns"}, "spec": {"limits": [item, {"type": "Pod"}]}},)
    spec = normalise_pod(manifest(resources={"limits": {"cpu": "1"}}), {"limitranges": limits}).spec
    assert spec.requests == {"cpu": 1000, "memory": 2**30}
    assert spec.limits == {"cpu": 1000, "memory": 2 * 2**30}
    elsewhere = ({"metadata": {"name": "l", "namespace": "other"}, "spec": {"limits": [item]}},)
    assert normalise_pod(manifest(), {"limitranges": elsewhere}).spec.requests == {}


def test_a_runtime_class_adds_overhead_and_where_it_runs() -> None:
    kata = {
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"cpu": "250m"}},
        "scheduling": {"nodeSelector": {"kata": "yes"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
    }
    raw = manifest(runtimeClassName="kata", nodeSelector={"zone": "a"}, resources={"requests": {"cpu": "1"}})
    spec = normalise_pod(raw, {"runtimeclasses": (kata,)}).spec
    assert spec.requests == {"cpu": 1250}
    assert spec.node_selector == (("kata", "yes"), ("zone", "a"))
    assert Toleration("kata", "Exists") in spec.tolerations


def test_pod_level_limits_set_requests_of_the_pod() -> None:
    raw = manifest(resources={"requests": {"cpu": "1"}})
    raw["spec"]["resources"] = {"limits": {"cpu": "4", "memory": "2Gi"}}
    assert normalise_pod(raw).spec.requests == {"cpu": 1000, "memory": 2 * 2**30}


def test_host_network_claims_the_container_ports() -> None:
    assert normalise_pod(manifest(hostNetwork=True)).spec.host_ports == (HostPort(80),)
    assert normalise_pod(manifest()).spec.host_ports == ()


def test_label_keys_are_written_into_the_selector() -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "a"}},
        "matchLabelKeys": ["rev", "absent"],
        "mismatchLabelKeys": ["tenant"],
    }
    labels = {"rev": "7", "tenant": "t"}
    raw = manifest(labels=labels, affinity={"podAffinity": {REQUIRED: [term]}})
    (read,) = normalise_pod(raw).spec.affinity
    assert read.selector is not None
    assert read.selector.requirements[1:] == (
        Requirement("rev", Operator.IN, ("7",)),
        Requirement("tenant", Operator.NOT_IN, ("t",)),
    )


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"])
def test_a_controller_stands_for_one_of_its_pods(kind: str) -> None:
    pod = manifest(labels={"app": "a"}, resources={"requests": {"cpu": "1"}})
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod["spec"]}
    spec = {"jobTemplate": {"spec": {"template": template}}} if kind == "CronJob" else {"template": template}
    read = normalise_pod({"kind": kind, "metadata": {"name": "w", "namespace": "ns"}, "spec": spec})
    assert (read.key, read.labels, read.spec.requests) == ("ns/w", {"app": "a"}, {"cpu": 1000})
    tolerated = {toleration.key for toleration in read.spec.tolerations}
    assert ("node.kubernetes.io/unschedulable" in tolerated) is (kind == "DaemonSet")


def test_the_default_priority_class_counts_where_none_is_named() -> None:
    classes = ({"metadata": {"name": "usual"}, "value": 70, "globalDefault": True},)
    spec = normalise_pod(manifest(), {"priorityclasses": classes}).spec
    assert (spec.priority_class, spec.priority) == ("usual", 70)
    assert normalise_pod(manifest(priority=3), {"priorityclasses": classes}).spec.priority == 3


@pytest.mark.parametrize(
    "junk", [None, [], "pod", 3, {}, {"kind": "Pod"}, {"kind": 3}, {"kind": "Deployment", "spec": 1}]
)
def test_what_is_no_manifest_is_refused_with_a_path(junk: object) -> None:
    with pytest.raises(FieldError, match="expected"):
        normalise_pod(junk)


def test_the_manifest_itself_is_left_as_it_is() -> None:
    raw = manifest(hostNetwork=True, resources={"limits": {"cpu": "1"}})
    before = repr(raw)
    assert isinstance(normalise_pod(raw), Pod)
    assert repr(raw) == before
