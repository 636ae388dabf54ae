"""Claims and volumes as the volume families need them; in-tree disks as the CSI volumes they are attached as."""

from typing import Any

import pytest

from ksolver_cli.domain.labels import NodeSelector, NodeSelectorTerm, Operator, Requirement
from ksolver_cli.domain.storage import PersistentVolume, Storage
from ksolver_cli.normalise.fields import Problems
from ksolver_cli.normalise.storage import normalise_storage

ZONE, BETA = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"


def read(**objects: Any) -> tuple[Storage, int]:
    problems = Problems()
    return normalise_storage(objects, problems), len(problems.caveats())


def volume(labels: dict[str, str] | None = None, **spec: Any) -> PersistentVolume:
    found, caveats = read(persistentvolumes=[{"metadata": {"name": "pv", "labels": labels or {}}, "spec": spec}])
    assert caveats == 0
    return found.volumes["pv"]


def affinity(key: str, *values: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    return {"required": {"nodeSelectorTerms": [term]}}


def selector(key: str, *values: str) -> NodeSelector:
    return NodeSelector((NodeSelectorTerm((Requirement(key, Operator.IN, values),)),))


@pytest.mark.parametrize(
    ("source", "driver", "handle"),
    [
        ({"awsElasticBlockStore": {"volumeID": "aws://eu-1a/vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "ebs.csi.aws.com", "vol-1"),
        ({"azureDisk": {"diskURI": "/s/d", "kind": "Managed"}}, "disk.csi.azure.com", "/s/d"),
        ({"cinder": {"volumeID": "c"}}, "cinder.csi.openstack.org", "c"),
        ({"csi": {"driver": "x", "volumeHandle": "h"}}, "x", "h"),
        ({"nfs": {"server": "s"}}, "", ""),
    ],
)
def test_sources_become_driver_and_handle(source: dict[str, Any], driver: str, handle: str) -> None:
    found = volume(**source)
    assert (found.driver, found.handle) == (driver, handle)


@pytest.mark.parametrize(
    ("labels", "handle"),
    [
        ({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({ZONE: "us-east1-a"}, "projects/UNSPECIFIED/zones/us-east1-a/disks/d"),
        ({BETA: "us-east1-a__us-east1-b"}, "projects/UNSPECIFIED/regions/us-east1/disks/d"),
    ],
)
def test_a_gce_disk_is_named_by_its_zones(labels: dict[str, str], handle: str) -> None:
    assert volume(labels, gcePersistentDisk={"pdName": "d"}).handle == handle


@pytest.mark.parametrize(
    ("labels", "source"),
    [
        ({}, {"awsElasticBlockStore": {"volumeID": "aws://za/nothing"}}),
        ({}, {"azureDisk": {"diskURI": "d", "kind": "Dedicated"}}),
        ({ZONE: "a__b"}, {"gcePersistentDisk": {"pdName": "d"}}),
        ({ZONE: "us-east1-a__us-west1-b"}, {"gcePersistentDisk": {"pdName": "d"}}),
    ],
)
def test_a_disk_that_cannot_be_translated_says_why(labels: dict[str, str], source: dict[str, Any]) -> None:
    found = volume(labels, **source)
    assert found.fault
    assert not found.driver


def test_zone_keys_are_translated_and_labels_stand_in_for_them() -> None:
    disk = {"awsElasticBlockStore": {"volumeID": "vol-1"}}
    csi_zone = "topology.ebs.csi.aws.com/zone"
    assert volume(nodeAffinity=affinity(BETA, "a"), **disk).translated_affinity == selector(csi_zone, "a")
    assert volume({ZONE: "b__a"}, **disk).translated_affinity == selector(csi_zone, "a", "b")
    assert volume(nodeAffinity=affinity("other", "x"), **disk).translated_affinity == selector("other", "x")
    assert volume(**disk).translated_affinity is None


def test_a_beta_region_reads_as_todays() -> None:
    beta, today = "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"
    found = volume({BETA: "a"}, cinder={"volumeID": "c"}, nodeAffinity=affinity(beta, "r"))
    assert found.node_affinity == selector(beta, "r")
    assert found.translated_affinity is not None
    assert {r.key for t in found.translated_affinity.terms for r in t.expressions} == {
        today,
        "topology.cinder.csi.openstack.org/zone",
    }


def test_the_beta_annotation_names_the_class_of_a_claim() -> None:
    metadata = {"name": "c", "annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}
    found, _ = read(persistentvolumeclaims=[{"metadata": metadata, "spec": {"storageClassName": "new"}}])
    assert found.claims["default/c"].storage_class == "old"


def test_a_claim_is_bound_only_once_the_binder_is_done() -> None:
    found, _ = read(
        persistentvolumeclaims=[
            {"metadata": {"name": "wish"}, "spec": {"volumeName": "pv"}},
            {
                "metadata": {"name": "done", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
                "spec": {"volumeName": "pv"},
            },
        ]
    )
    assert not found.claims["default/wish"].is_bound
    assert found.claims["default/done"].is_bound


def test_the_largest_volume_is_preferred_over_the_capacity() -> None:
    common = {"metadata": {"name": "k"}, "storageClassName": "s", "capacity": "9Gi"}
    found, _ = read(
        csistoragecapacities=[common, common | {"maximumVolumeSize": "1Gi"}, {"metadata": {"name": "none"}}]
    )
    assert [None if c.limit is None else str(c.limit) for c in found.capacities] == ["9Gi", "1Gi", None]


@pytest.mark.parametrize(
    "objects",
    [
        {"persistentvolumes": [{"metadata": {"name": "pv"}, "spec": {"capacity": {"storage": "much"}}}]},
        {"persistentvolumes": [{"metadata": {"name": "pv"}, "spec": {"nodeAffinity": {"required": 7}}}]},
        {"persistentvolumeclaims": [{"metadata": {"name": "c"}, "spec": {"accessModes": "one"}}]},
        {"storageclasses": [{"metadata": {"name": 5}}]},
        {"csinodes": [{"metadata": {"name": "n"}, "spec": {"drivers": [{"allocatable": {"count": "many"}}]}}]},
        {"csidrivers": ["text"]},
        {"volumeattachments": [{"spec": {"source": []}}]},
    ],
)
def test_a_broken_object_is_left_out_and_said(objects: dict[str, Any]) -> None:
    found, caveats = read(**objects)
    assert caveats == 1
    assert found == Storage()
