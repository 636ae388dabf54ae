"""A kind that the input could not show makes a verdict unknown, not a pass and not a rejection."""

import pytest

from ksolver_cli.constraints.base import FamilyRule
from ksolver_cli.constraints.volumes.binding import VolumeBinding
from ksolver_cli.constraints.volumes.limits import NodeVolumeLimits
from ksolver_cli.constraints.volumes.restrictions import VolumeRestrictions
from ksolver_cli.constraints.volumes.zone import VolumeZone
from ksolver_cli.domain.verdict import Reason, Rejection, Unknown
from tests.unit.constraints.storage_world import (
    DRIVER,
    claim,
    cluster,
    csi_node,
    node,
    pod,
    storage_class,
    verdicts,
    volume,
)

ALL = (VolumeRestrictions(), NodeVolumeLimits(), VolumeBinding(), VolumeZone())
NODES = [node("n1"), node("n2")]
NEEDS_ROOM = {"kind": "CSIDriver", "metadata": {"name": DRIVER}, "spec": {"storageCapacity": True}}

BOUND = {
    "persistentvolumeclaims": [claim("c", volumeName="pv", storageClassName="s")],
    "persistentvolumes": [volume("pv", storageClassName="s")],
    "storageclasses": [storage_class("s")],
    "csinodes": [csi_node("n1", 5), csi_node("n2", 5)],
    "volumeattachments": [],
}
WAITING = BOUND | {
    "persistentvolumeclaims": [claim("c", storageClassName="s")],
    "persistentvolumes": [],
    "csidrivers": [NEEDS_ROOM],
    "csistoragecapacities": [
        {"metadata": {"name": "k", "namespace": "d"}, "storageClassName": "s", "nodeTopology": {}, "capacity": "9Gi"}
    ],
}


@pytest.mark.parametrize("objects", [BOUND, WAITING], ids=["bound", "waiting"])
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.family)
def test_with_everything_seen_nothing_objects(rule: FamilyRule, objects: dict) -> None:
    where = cluster(complete=False, nodes=NODES, pods=[pod("p", "c")], **objects)
    assert verdicts(rule, where, "p") == {"n1": None, "n2": None}


@pytest.mark.parametrize(
    ("rule", "objects", "hidden"),
    [
        *((rule, BOUND, "persistentvolumeclaims") for rule in ALL),
        *((rule, BOUND, "persistentvolumes") for rule in ALL[1:]),
        *((rule, WAITING, "storageclasses") for rule in ALL[1:]),
        (ALL[1], BOUND, "csinodes"),
        (ALL[1], BOUND, "volumeattachments"),
        (ALL[2], WAITING, "csidrivers"),
        (ALL[2], WAITING, "csistoragecapacities"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "family", "objects"),
)
def test_a_hidden_kind_is_named(rule: FamilyRule, objects: dict, hidden: str) -> None:
    shown = {kind: found for kind, found in objects.items() if kind != hidden}
    seen = verdicts(rule, cluster(complete=False, nodes=NODES, pods=[pod("p", "c")], **shown), "p")
    for verdict in seen.values():
        assert isinstance(verdict, Unknown)
        assert verdict.missing == hidden
    complete = verdicts(rule, cluster(complete=True, nodes=NODES, pods=[pod("p", "c")], **shown), "p")
    assert not any(isinstance(verdict, Unknown) for verdict in complete.values())


def test_volumes_that_may_exist_leave_a_class_without_provisioner_open() -> None:
    objects = WAITING | {"storageclasses": [storage_class("s", "kubernetes.io/no-provisioner")]}
    shown = {kind: found for kind, found in objects.items() if kind != "persistentvolumes"}
    seen = verdicts(ALL[2], cluster(complete=False, nodes=NODES, pods=[pod("p", "c")], **shown), "p")
    assert {verdict.missing for verdict in seen.values() if isinstance(verdict, Unknown)} == {"persistentvolumes"}
    assert len(seen) == 2


def test_a_node_that_is_full_for_certain_is_full_whatever_else_may_be_attached() -> None:
    shown = BOUND | {"csinodes": [csi_node("n1", 0), csi_node("n2", 5)]}
    del shown["volumeattachments"]
    seen = verdicts(ALL[1], cluster(complete=False, nodes=NODES, pods=[pod("p", "c")], **shown), "p")
    assert isinstance(seen["n1"], Rejection)
    assert seen["n1"].reason is Reason.VOLUME_LIMIT
    assert isinstance(seen["n2"], Unknown)


def test_pods_without_volumes_need_none_of_it() -> None:
    where = cluster(complete=False, nodes=NODES, pods=[pod("p")])
    assert all(verdicts(rule, where, "p") == {"n1": None, "n2": None} for rule in ALL)
