"""Pods as read: shared specs, defaults of the API, and what never tells equal pods apart."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ksolver_cli.domain.labels import LabelSelector, Operator, Requirement
from ksolver_cli.domain.pod import HostPort, Phase, Pod, PodClaim, Toleration, VolumeKind
from ksolver_cli.normalise.fields import Field, FieldError
from ksolver_cli.normalise.pods.pod import PodReader

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def raw_pod(name: str = "p", **spec: object) -> dict:
    container = {"name": "c", "image": "app:1", "resources": {"requests": {"cpu": "250m", "memory": "1Gi"}}}
    return {"metadata": {"name": name, "namespace": "ns"}, "spec": {"containers": [container], **spec}}


def read(*raws: dict) -> list[Pod]:
    reader = PodReader()
    return [reader.read(Field(raw)) for raw in raws]


def spec_of(**spec: object) -> object:
    return read(raw_pod(**spec))[0].spec


def test_equal_pods_share_one_spec_whatever_is_generated_for_each() -> None:
    first, second = raw_pod("a", nodeName="n1"), raw_pod("b", nodeName="n2")
    first["spec"]["volumes"] = [{"name": "kube-api-access-x1", "projected": {"sources": []}}]
    second["spec"]["volumes"] = [{"name": "kube-api-access-y2", "projected": {"sources": []}}]
    second["spec"]["containers"][0]["env"] = [{"name": "POD", "value": "b"}]
    one, two = read(first, second)
    assert one.spec is two.spec


def test_specs_that_say_the_same_in_other_words_are_one() -> None:
    first, second = raw_pod(), raw_pod()
    second["spec"]["containers"][0]["resources"] = {"requests": {"memory": "1024Mi", "cpu": 0.25}}
    one, two = read(first, second)
    assert one.spec is two.spec
    assert one.spec.requests == {"cpu": 250, "memory": 2**30}


DIFFERENCES = [
    {"nodeSelector": {"a": "b"}},
    {"tolerations": [{"operator": "Exists"}]},
    {"priority": 5},
    {"overhead": {"cpu": "1m"}},
    {"schedulerName": "other"},
    {"schedulingGates": [{"name": "g"}]},
    {"resources": {"limits": {"cpu": "1"}}},
    {"hostNetwork": True},
    {"runtimeClassName": "kata"},
    {"resourceClaims": [{"name": "gpu", "resourceClaimName": "x"}]},
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
    {"volumes": [{"name": "v", "emptyDir": {"medium": "Memory"}}]},
    {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": []}}}},
    {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "z", "labelSelector": {}}]}}},
    {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "z", "whenUnsatisfiable": "ScheduleAnyway"}]},
]


@given(st.lists(st.sampled_from(range(len(DIFFERENCES))), unique=True, max_size=4))
def test_what_placement_looks_at_always_tells_specs_apart(chosen: list[int]) -> None:
    specs = {id(pod.spec) for pod in read(raw_pod(), *(raw_pod(**DIFFERENCES[index]) for index in chosen))}
    assert len(specs) == 1 + len(chosen)


def test_daemon_pods_differ_in_nothing_but_their_node() -> None:
    def pinned(node: str) -> dict:
        fields = [{"key": "metadata.name", "operator": "In", "values": [node]}]
        return raw_pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": fields}]}}})

    one, two, again = read(pinned("n1"), pinned("n2"), pinned("n1"))
    assert one.spec is again.spec
    assert one.spec is not two.spec
    assert one.spec.node_affinity is not None
    assert one.spec.node_affinity.terms[0].fields == (Requirement("metadata.name", Operator.IN, ("n1",)),)
    parts = set(vars(one.spec)) - {"node_affinity"}
    assert all(getattr(one.spec, part) is getattr(two.spec, part) for part in parts)


def test_affinity_terms_look_at_the_pods_own_namespace_unless_told_otherwise() -> None:
    def term(**more: object) -> object:
        selector = {"matchLabels": {"b": "2", "a": "1"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}
        terms = [{"topologyKey": "zone", "labelSelector": selector, **more}]
        return spec_of(affinity={"podAffinity": {REQUIRED: terms}}).affinity[0]

    assert term().namespaces == ("ns",)
    assert term(namespaces=["x"]).namespaces == ("x",)
    assert term(namespaceSelector={}).namespaces == ()
    assert term(namespaceSelector={}).namespace_selector == LabelSelector()
    assert term(namespaceSelector=None).namespace_selector is None
    assert [r.key for r in term().selector.requirements] == ["a", "b", "c"]


def test_an_absent_selector_is_not_an_empty_one() -> None:
    spread = [{"maxSkew": 2, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3}]
    (absent,) = spec_of(topologySpreadConstraints=spread).spread
    (empty,) = spec_of(topologySpreadConstraints=[spread[0] | {"labelSelector": {}}]).spread
    assert (absent.selector, empty.selector) == (None, LabelSelector())
    assert (absent.honor_node_affinity, absent.honor_node_taints, absent.hard) == (True, False, True)
    assert (absent.max_skew, absent.min_domains) == (2, 3)


def test_host_ports_count_while_a_container_keeps_running() -> None:
    def container(name: str, port: int, **more: object) -> dict:
        return {"name": name, "ports": [{"containerPort": 1, "hostPort": port, **more}, {"containerPort": 2}]}

    steps = [container("init", 1), container("side", 2, protocol="UDP") | {"restartPolicy": "Always"}]
    raw = raw_pod(initContainers=steps)
    raw["spec"]["containers"] = [container("c", 3, hostIP="10.0.0.1"), container("d", 3, hostIP="10.0.0.1")]
    assert read(raw)[0].spec.host_ports == (HostPort(3, "TCP", "10.0.0.1"), HostPort(2, "UDP"))


def test_volumes_are_kept_as_far_as_they_tie_a_pod_to_a_place() -> None:
    spec = spec_of(
        volumes=[
            {"name": "data", "persistentVolumeClaim": {"claimName": "data-0", "readOnly": True}},
            {"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
            {"name": "cache", "emptyDir": {"medium": "Memory"}},
            {"name": "scratch", "emptyDir": {}},
            {"name": "sock", "hostPath": {"path": "/run"}},
            {"name": "conf", "configMap": {"name": "x"}},
            {"name": "old", "rbd": {"image": "i", "monitors": ["m1", "m2"]}},
        ]
    )
    assert [(v.name, v.kind, v.source, v.read_only) for v in spec.volumes] == [
        ("data", VolumeKind.CLAIM, "data-0", True),
        ("tmp", VolumeKind.EPHEMERAL, "p-tmp", False),
        ("cache", VolumeKind.EMPTY_DIR_MEMORY, "", False),
        ("scratch", VolumeKind.EMPTY_DIR, "", False),
        ("sock", VolumeKind.HOST_PATH, "", False),
        ("old", VolumeKind.RBD, "i", False),
    ]
    assert spec.volumes[-1].details == (("monitors", "m1,m2"), ("pool", "rbd"))


def test_claims_are_named_by_pod_and_container() -> None:
    raw = raw_pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "t"}])
    raw["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu", "request": "big"}]
    raw["status"] = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]}
    (pod,) = read(raw)
    assert pod.spec.claims == (PodClaim("gpu", None, "t"),)
    assert pod.spec.container_claims == (("c", "gpu", "big"),)
    assert pod.claim_names == (("gpu", "p-gpu-x"),)


def test_defaults_are_those_of_the_api() -> None:
    (pod,) = read(raw_pod(tolerations=[{"key": "a", "value": "b"}], priorityClassName="system-node-critical"))
    spec = pod.spec
    assert spec.tolerations == (Toleration("a", "Equal", "b", ""),)
    assert (spec.priority, spec.scheduler_name, spec.restart_policy) == (2_000_001_000, "default-scheduler", "Always")
    assert (pod.phase, pod.node_name, pod.is_bound, pod.requests_bound) == (Phase.PENDING, "", False, None)


@pytest.mark.parametrize(
    ("phase", "node", "expected"),
    [
        ("Running", "n", True),
        ("Succeeded", "n", False),
        ("Failed", "n", False),
        ("Evicting?", "n", True),
        (None, "n", True),
    ],
)
def test_only_finished_pods_hold_nothing(phase: str | None, node: str, expected: bool) -> None:
    (pod,) = read(raw_pod(nodeName=node) | {"status": {"phase": phase}})
    assert pod.is_bound is expected


def test_a_resized_pod_holds_what_the_kubelet_gave_it() -> None:
    status = {"name": "c", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}, "allocatedResources": {"cpu": "2"}}
    raw = raw_pod(nodeName="n") | {"status": {"phase": "Running", "containerStatuses": [status]}}
    (pod,) = read(raw)
    assert pod.spec.requests["cpu"] == 250
    assert pod.held["cpu"] == 2000
    pending = copy.deepcopy(raw)
    del pending["spec"]["nodeName"]
    assert read(pending)[0].requests_bound is None


def test_the_error_names_the_field_and_what_was_expected() -> None:
    raw = raw_pod(tolerations=[{"key": "a"}, {"key": "b", "effect": "NoWay"}])
    with pytest.raises(
        FieldError, match=r"^spec\.tolerations\[1\]\.effect: expected one of .*NoSchedule.* found 'NoWay'"
    ):
        read(raw)
