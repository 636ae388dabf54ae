"""What goes into a question beside the pod and the node, and how it is cleaned."""

import pytest

from ksolver_cli.collect.schedulers.exchange import Question
from ksolver_cli.conform.choose import Choice, Pods
from ksolver_cli.conform.ours import judge
from ksolver_cli.conform.run import Options, compare
from tests.unit.conform.samples import ZONE, Json, node, pod, snapshot
from tests.unit.conform.schedulers import FamilyScheduler


def question(pods: Json, **objects: list[Json]) -> Question:
    scheduler = FamilyScheduler()
    cluster = snapshot([node("a", labels={ZONE: "za", "kubernetes.io/os": "linux"})], [pods], **objects)
    compare(cluster, scheduler, Options(Choice(Pods.ALL)))
    return scheduler.asked[0]


def claim(name: str, **spec: object) -> Json:
    return {"metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}"}, "spec": spec}


def volume(name: str, **spec: object) -> Json:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": "3"}, "spec": spec}


def mounting(*claims: str) -> Json:
    volumes = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": name}} for i, name in enumerate(claims)]
    return pod("p", volumes=volumes)


def test_claims_come_with_their_volumes_and_no_others() -> None:
    reference = {"namespace": "shop", "name": "mine", "uid": "uid-mine", "resourceVersion": "9"}
    asked = question(
        mounting("mine"),
        persistentvolumeclaims=[claim("mine", volumeName="v1"), claim("other", volumeName="v2")],
        persistentvolumes=[
            volume("v1", claimRef=reference),
            volume("v2", claimRef={**reference, "name": "other", "uid": "uid-other"}),
            volume("free"),
        ],
        storageclasses=[{"metadata": {"name": "fast", "uid": "x"}, "provisioner": "p"}],
    )
    assert [c["metadata"]["name"] for c in asked.beside["persistentvolumeclaims"]] == ["mine"]
    bound, free = asked.beside["persistentvolumes"]
    assert bound["spec"]["claimRef"] == {"namespace": "shop", "name": "mine"}
    assert (bound["status"]["phase"], free["status"]["phase"]) == ("Bound", "Available")
    assert asked.beside["storageclasses"][0]["kind"] == "StorageClass"
    everything = [raw for objects in asked.beside.values() for raw in objects]
    assert not any({"uid", "resourceVersion"} & set(raw["metadata"]) for raw in everything)


def test_a_volume_released_by_an_earlier_claim_is_not_taken_for_the_claims() -> None:
    reference = {"namespace": "shop", "name": "mine", "uid": "uid-of-an-earlier-one"}
    asked = question(
        mounting("mine"),
        persistentvolumeclaims=[claim("mine")],
        persistentvolumes=[volume("v1", claimRef=reference)],
    )
    assert asked.beside["persistentvolumes"][0]["spec"]["claimRef"] == reference


def test_an_ephemeral_volume_becomes_the_claim_that_was_made_for_it() -> None:
    owner = {"kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    made = claim("p-scratch", storageClassName="late")
    made["metadata"]["ownerReferences"] = [owner]
    late = {"metadata": {"name": "late"}, "provisioner": "x", "volumeBindingMode": "WaitForFirstConsumer"}
    asked = question(
        pod("p", volumes=[{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}]),
        persistentvolumeclaims=[made],
        storageclasses=[late],
    )
    assert asked.pod["spec"]["volumes"] == [{"name": "scratch", "persistentVolumeClaim": {"claimName": "p-scratch"}}]
    assert not judge(asked, "1.36").rejects


def test_volumes_that_filter_looks_past_become_empty_ones() -> None:
    asked = question(pod("p", volumes=[{"name": "s", "secret": {"secretName": "x"}}, {"name": "e", "emptyDir": {}}]))
    assert asked.pod["spec"]["volumes"] == [{"name": "s", "emptyDir": {}}, {"name": "e", "emptyDir": {}}]
    assert set(asked.beside) == {"namespaces"}


def test_a_claim_made_from_a_template_is_named_and_free() -> None:
    raw = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one"}])
    raw["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]
    made = {"metadata": {"name": "p-gpu-x", "namespace": "shop"}, "spec": {"devices": {}}, "status": {"allocation": {}}}
    asked = question(raw, resourceclaims=[made])
    assert asked.pod["spec"]["resourceClaims"] == [{"name": "gpu", "resourceClaimName": "p-gpu-x"}]
    (kept,) = asked.beside["resourceclaims"]
    assert "status" not in kept


def test_the_namespace_is_there_with_its_labels() -> None:
    shop = {"metadata": {"name": "shop", "uid": "x", "labels": {"tier": "prod"}}}
    (kept,) = question(pod("p"), namespaces=[shop]).beside["namespaces"]
    assert kept["metadata"] == {"name": "shop", "labels": {"kubernetes.io/metadata.name": "shop", "tier": "prod"}}


@pytest.mark.parametrize(("known", "kept"), [(["high"], "high"), ([], None)])
def test_a_priority_class_is_kept_only_where_it_exists(known: list[str], kept: str | None) -> None:
    classes = [{"metadata": {"name": name}, "value": 7} for name in known]
    asked = question(pod("p", priorityClassName="high", priority=7), priorityclasses=classes)
    assert asked.pod["spec"].get("priorityClassName") == kept
    assert "priority" not in asked.pod["spec"]
    assert [c["metadata"]["name"] for c in asked.beside.get("priorityclasses", ())] == known


def test_the_node_has_the_labels_that_its_controller_copies() -> None:
    labels = question(pod("p")).node["metadata"]["labels"]
    assert labels["beta.kubernetes.io/os"] == labels["kubernetes.io/os"]
