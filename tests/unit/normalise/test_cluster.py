"""Clusters as read: nodes, budgets, names, what is missing, and an order that does not depend on the input's."""

import random

import pytest

from ksolver_cli.domain.cluster import CaveatKind, Cluster, Gap
from ksolver_cli.domain.labels import LabelSelector
from ksolver_cli.domain.node import Taint
from ksolver_cli.domain.pod import Effect
from ksolver_cli.normalise.cluster import DEFAULT_VERSION, normalise
from ksolver_cli.normalise.version import parse_version
from ksolver_cli.snapshot.model import Snapshot


def node(name: str = "n1", *, labels: dict | None = None, status: dict | None = None, **spec: object) -> dict:
    amounts = {"cpu": "3920m", "memory": "7910184Ki", "pods": "29", "ephemeral-storage": "1.5Gi"}
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {"allocatable": amounts, "capacity": {"cpu": "4"}} if status is None else status,
    }


def pod(name: str, node_name: str = "", namespace: str = "ns", **spec: object) -> dict:
    container = {"name": "c", "resources": {"requests": {"cpu": "1"}}}
    made = {"metadata": {"name": name, "namespace": namespace}, "spec": {"containers": [container], **spec}}
    if node_name:
        made["spec"]["nodeName"] = node_name
    return made


def cluster(**kinds: tuple) -> Cluster:
    return normalise(Snapshot(objects=kinds))


def noted(found: Cluster, kind: CaveatKind) -> list[tuple[str, tuple[str, ...]]]:
    return [(caveat.detail, caveat.objects) for caveat in found.caveats if caveat.kind is kind]


def test_a_node_offers_what_it_can_allocate_in_the_schedulers_integers() -> None:
    (read,) = cluster(nodes=(node(taints=[{"key": "k", "effect": "NoExecute"}], unschedulable=True),)).nodes
    assert read.allocatable == {"cpu": 3920, "memory": 8100028416, "pods": 29, "ephemeral-storage": 1610612736}
    assert read.taints == (Taint("k", "", Effect.NO_EXECUTE),)
    assert (read.unschedulable, read.ready, read.deleting) == (True, True, False)


def test_a_node_without_allocatable_offers_its_capacity() -> None:
    (read,) = cluster(nodes=(node(status={"capacity": {"cpu": "4"}}),)).nodes
    assert read.allocatable == {"cpu": 4000}


@pytest.mark.parametrize(("status", "ready"), [("True", True), ("False", False), ("Unknown", False)])
def test_a_node_is_ready_when_its_condition_says_so(status: str, ready: bool) -> None:
    found = cluster(nodes=(node(status={"conditions": [{"type": "Ready", "status": status}]}),))
    assert found.nodes[0].ready is ready
    assert bool(noted(found, CaveatKind.NOT_READY)) is not ready


@pytest.mark.parametrize("status", ["False", "Unknown"])
def test_pods_of_a_node_that_is_not_heard_of_are_named(status: str) -> None:
    silent = node(name="silent", status={"conditions": [{"type": "Ready", "status": status}]})
    pods = pod("there", "silent"), pod("here", "n1"), pod("nowhere")
    found = noted(cluster(nodes=(silent, node()), pods=pods), CaveatKind.NOT_READY)
    assert [objects for _, objects in found] == [("ns/there",), ("silent",)]


@pytest.mark.parametrize(
    ("raw", "virtual"),
    [
        (node(labels={"type": "virtual-kubelet"}), True),
        (node(labels={"eks.amazonaws.com/compute-type": "fargate"}), True),
        (node(providerID="aws:///us-west-2b/1a2b/fargate-ip-10-0-0-1.us-west-2.compute.internal"), True),
        (node(taints=[{"key": "virtual-kubelet.io/provider", "value": "azure", "effect": "NoSchedule"}]), True),
        (node(labels={"type": "worker", "eks.amazonaws.com/compute-type": "ec2"}, providerID="aws:///a/i-1"), False),
    ],
)
def test_nodes_without_a_machine_are_known_as_such(raw: dict, virtual: bool) -> None:
    found = cluster(nodes=(raw,))
    assert found.nodes[0].is_virtual is virtual
    assert bool(noted(found, CaveatKind.VIRTUAL_NODE)) is virtual


@pytest.mark.parametrize("role", ["control-plane", "master", "controlplane"])
def test_control_planes_are_known_by_their_role(role: str) -> None:
    assert cluster(nodes=(node(labels={f"node-role.kubernetes.io/{role}": ""}),)).nodes[0].is_control_plane
    assert not cluster(nodes=(node(labels={"node-role.kubernetes.io/worker": ""}),)).nodes[0].is_control_plane


def test_an_empty_budget_selector_selects_all_in_v1_and_none_in_v1beta1() -> None:
    def budget(version: str, **spec: object) -> dict:
        return {"apiVersion": version, "metadata": {"name": "b", "namespace": "ns"}, "spec": {"selector": {}, **spec}}

    v1, beta = cluster(
        poddisruptionbudgets=(budget("policy/v1", minAvailable=2), budget("policy/v1beta1", maxUnavailable="25%"))
    ).budgets
    assert (v1.selector, v1.min_available, v1.max_unavailable) == (LabelSelector(), "2", None)
    assert (beta.selector, beta.min_available, beta.max_unavailable) == (None, None, "25%")
    assert v1.disruptions_allowed is None


@pytest.mark.parametrize("count", ["half", "-1", "5 %", "%", -1, 2.5, True, [1]])
def test_a_budget_of_no_number_allows_nothing(count: object) -> None:
    raw = {
        "metadata": {"name": "b", "namespace": "ns"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "minAvailable": count},
    }
    found = cluster(poddisruptionbudgets=(raw,))
    assert [(b.max_unavailable, b.disruptions_allowed) for b in found.budgets] == [("0", 0)]
    assert "spec.minAvailable" in noted(found, CaveatKind.BAD_OBJECT)[0][0]


def test_the_order_of_the_input_changes_nothing() -> None:
    nodes = [node(f"n{i}") for i in range(5)]
    pods = [pod(f"p{i % 4}", f"n{i % 5}", f"ns{i % 3}") for i in range(12)]
    first = cluster(nodes=tuple(nodes), pods=tuple(pods))
    random.Random(7).shuffle(nodes)
    random.Random(8).shuffle(pods)
    second = cluster(nodes=tuple(nodes), pods=tuple(pods))
    assert [n.name for n in first.nodes] == [n.name for n in second.nodes]
    assert [p.key for p in first.pods] == [p.key for p in second.pods]


def test_pods_are_noted_when_their_node_or_their_scheduler_is_not_ours() -> None:
    found = cluster(nodes=(node(),), pods=(pod("a", "n1"), pod("b", "gone"), pod("c", schedulerName="volcano")))
    assert noted(found, CaveatKind.NODE_MISSING) == [("node gone", ("ns/b",))]
    assert noted(found, CaveatKind.FOREIGN_SCHEDULER) == [("scheduler volcano", ("ns/c",))]


def test_a_node_is_overcommitted_by_what_is_held_there() -> None:
    found = cluster(nodes=(node(),), pods=tuple(pod(f"p{i}", "n1") for i in range(4)))
    assert noted(found, CaveatKind.OVERCOMMITTED_NODE) == [("cpu", ("n1",))]
    assert noted(cluster(nodes=(node(),), pods=(pod("p", "n1"),)), CaveatKind.OVERCOMMITTED_NODE) == []


def test_images_are_doubtful_only_where_architectures_mix_and_the_pod_does_not_choose() -> None:
    mixed = tuple(node(arch, labels={"kubernetes.io/arch": arch}) for arch in ("amd64", "arm64"))
    pods = (pod("any"), pod("chosen", nodeSelector={"kubernetes.io/arch": "arm64"}))
    assert noted(cluster(nodes=mixed, pods=pods), CaveatKind.IMAGE_ARCH_UNKNOWN)[0][1] == ("ns/any",)
    assert noted(cluster(nodes=mixed[:1], pods=pods), CaveatKind.IMAGE_ARCH_UNKNOWN) == []


def test_a_kind_that_answers_rest_on_is_a_gap_when_the_input_lacks_it() -> None:
    claim = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]}
    objects = {"nodes": (node(),), "pods": (pod("p", "n1", **claim),)}
    missing = {gap.kind for gap in normalise(Snapshot(objects=objects)).gaps}
    assert missing == {
        "poddisruptionbudgets",
        "persistentvolumeclaims",
        "persistentvolumes",
        "storageclasses",
        "csinodes",
    }
    hidden = Gap("poddisruptionbudgets", "forbidden")
    gaps = normalise(Snapshot(objects=objects, gaps=(hidden,))).gaps
    assert [gap for gap in gaps if gap.kind == "poddisruptionbudgets"] == [hidden]
    assert normalise(Snapshot(objects=objects), complete=True).gaps == ()


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.29.3-eks-5e0fdde", (1, 29)),
        ("1.36", (1, 36)),
        ("v1.30+", (1, 30)),
        ("1.27.3-gke.100", (1, 27)),
        (" v1.8.0 ", (1, 8)),
        ("", None),
        ("latest", None),
        ("v1", None),
        ("1.2x", (1, 2)),
    ],
)
def test_versions_are_read_as_servers_write_them(text: str, version: tuple[int, int] | None) -> None:
    assert parse_version(text) == version
    served = normalise(Snapshot(objects={}, server_version=text))
    assert served.kubernetes_version == (version or DEFAULT_VERSION)
    assert normalise(Snapshot(objects={}, server_version=text), kubernetes_version="1.34").kubernetes_version == (1, 34)


def test_namespaces_always_carry_their_name_as_a_label() -> None:
    found = cluster(namespaces=({"metadata": {"name": "a", "labels": {"team": "x"}}},))
    assert found.namespaces == {"a": {"kubernetes.io/metadata.name": "a", "team": "x"}}


def test_services_without_a_selector_select_nothing() -> None:
    services = tuple(
        {"metadata": {"name": "s", "namespace": "ns"}, "spec": spec}
        for spec in ({}, {"selector": {}}, {"selector": {"a": "b"}})
    )
    assert len(cluster(services=services).services) == 1
