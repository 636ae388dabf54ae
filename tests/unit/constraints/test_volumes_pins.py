"""What volumes tie pods to."""

from ksolver_cli.constraints.volumes.pins import (
    attach_room,
    attachments_of,
    claim_pins,
    rwop_conflicts,
    shared_claims,
)
from tests.unit.constraints.storage_world import DRIVER, claim, cluster, csi_node, find, node, on_node, pod, volume

ZONE = "topology.kubernetes.io/zone"
WORLD = cluster(
    nodes=[node("n1"), node("n2")],
    pods=[
        pod("one", "local", "shared", node_name="n1"),
        pod("two", "shared", "free", node_name="n1"),
        pod("three", "many", "single"),
        pod("four", "many", "single"),
    ],
    persistentvolumeclaims=[
        claim("local", volumeName="pv-local"),
        claim("shared", volumeName="pv-zoned"),
        claim("free", volumeName="pv-free"),
        claim("many", volumeName="pv-many", accessModes=["ReadWriteMany"]),
        claim("single", accessModes=["ReadWriteOncePod"]),
    ],
    persistentvolumes=[
        volume("pv-local", local={"path": "/x"}, nodeAffinity=on_node("n1")),
        volume("pv-zoned", labels={ZONE: "a__b"}),
        volume("pv-free"),
        volume("pv-many"),
        volume("pv-left"),
    ],
    csinodes=[csi_node("n1", 5)],
    volumeattachments=[
        {
            "metadata": {"name": "va"},
            "spec": {"attacher": DRIVER, "nodeName": "n1", "source": {"persistentVolumeName": name}},
        }
        for name in ("pv-left", "pv-free")
    ],
)


def test_pins_name_the_volume_and_what_it_asks_of_nodes() -> None:
    local, zoned = claim_pins(WORLD, find(WORLD, "one"))
    assert (local.claim, local.volume, local.is_local) == ("default/local", "pv-local", True)
    assert local.affinity is not None
    assert [(t.key, t.values) for t in zoned.topologies] == [(ZONE, frozenset("ab"))]
    assert [pin.volume for pin in claim_pins(WORLD, find(WORLD, "two"))] == ["pv-zoned"]
    assert claim_pins(WORLD, find(WORLD, "three")) == ()


def test_pods_share_what_one_node_alone_can_mount() -> None:
    assert [(shared.claim, shared.pods) for shared in shared_claims(WORLD)] == [
        ("default/shared", ("default/one", "default/two")),
        ("default/single", ("default/four", "default/three")),
    ]
    assert [shared.claim for shared in rwop_conflicts(WORLD)] == ["default/single"]


def test_room_to_attach_is_the_limit_without_what_lingers() -> None:
    assert attach_room(WORLD, "n1") == {DRIVER: 4}
    assert attach_room(WORLD, "n2") == {}
    used = [attachments_of(WORLD, find(WORLD, name))[DRIVER] for name in ("one", "two")]
    assert [len(found) for found in used] == [1, 2]
    assert len(used[0] | used[1]) == 2
