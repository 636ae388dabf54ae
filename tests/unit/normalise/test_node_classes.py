"""What tells nodes apart, and what does not although it differs on every node."""

import pytest

from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def node(index: int, *, cpu: str = "4", labels: dict | None = None, **spec: object) -> dict:
    named = {HOST: f"n{index}", ZONE: f"z{index % 2}", "serial": str(index)}
    return {
        "metadata": {"name": f"n{index}", "labels": named | (labels or {})},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "pods": "10"}},
    }


def pod(name: str = "p", owner: str = "ReplicaSet", **spec: object) -> dict:
    controller = {"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": True}
    metadata = {"name": name, "namespace": "ns", "labels": {"app": "a"}, "ownerReferences": [controller]}
    return {"metadata": metadata, "spec": {"containers": [{"name": "c"}], **spec}}


def groups(*pods: dict, nodes: list[dict] | None = None, **kinds: tuple) -> list[set[str]]:
    """The node names of each class; four nodes alike unless told otherwise."""
    objects = {"nodes": tuple(nodes or map(node, range(4))), "pods": pods, **kinds}
    classes = classify(normalise(Snapshot(objects=objects), complete=True))
    return [{member.name for member in found.members} for found in classes.nodes]


def selecting(key: str, operator: str, *values: str, kind: str = "matchExpressions") -> dict:
    term = {kind: [{"key": key, "operator": operator, "values": list(values)}]}
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}}


def spread(key: str) -> dict:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    return {"topologySpreadConstraints": [constraint]}


def local_volume(host: str) -> dict:
    terms = selecting(HOST, "In", host)["affinity"]["nodeAffinity"][REQUIRED]
    claim = {"namespace": "ns", "name": "data"}
    return {
        "metadata": {"name": "pv"},
        "spec": {"local": {"path": "/d"}, "claimRef": claim, "nodeAffinity": {"required": terms}},
    }


ALL = {"n0", "n1", "n2", "n3"}
ONE_NAMED = [{"n0", "n1", "n3"}, {"n2"}]
BY_ZONE = [{"n0", "n2"}, {"n1", "n3"}]


def test_labels_that_nobody_looks_at_tell_nothing_apart() -> None:
    assert groups(pod()) == [ALL]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodeSelector": {ZONE: "z1"}}, BY_ZONE),
        (spread(ZONE), BY_ZONE),
        (spread(HOST), [ALL]),
        ({"nodeSelector": {HOST: "n2"}}, ONE_NAMED),
        (selecting("metadata.name", "In", "n2", kind="matchFields"), ONE_NAMED),
        (selecting("serial", "Exists"), [ALL]),
        (selecting("serial", "In", "2", "9"), ONE_NAMED),
        (selecting("serial", "Gt", "7"), [{"n0"}, {"n1"}, {"n2"}, {"n3"}]),
        ({"nodeSelector": {"absent": "x"}}, [ALL]),
    ],
)
def test_nodes_differ_as_far_as_a_pod_looks(spec: dict, expected: list[set[str]]) -> None:
    assert groups(pod(**spec)) == expected


def test_daemon_pods_name_their_node_without_telling_it_apart() -> None:
    daemons = [
        pod(f"d{i}", "DaemonSet", nodeName=f"n{i}", **selecting("metadata.name", "In", f"n{i}", kind="matchFields"))
        for i in range(4)
    ]
    assert groups(*daemons) == [ALL]
    classes = classify(normalise(Snapshot(objects={"nodes": tuple(map(node, range(4))), "pods": tuple(daemons)})))
    assert len(classes.pods) == 1


def test_a_local_volume_tells_its_node_apart_for_the_pod_that_claims_it() -> None:
    volume = local_volume("n2")
    claimed = pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])
    assert groups(claimed, persistentvolumes=(volume,)) == ONE_NAMED
    assert groups(pod(), persistentvolumes=(volume,)) == [ALL]


def test_what_a_node_offers_or_refuses_tells_it_apart() -> None:
    taint = [{"key": "k", "effect": "NoSchedule"}]
    nodes = [node(0), node(1, cpu="8"), node(2, taints=taint), node(3, unschedulable=True), node(4)]
    assert groups(nodes=nodes) == [{"n0", "n4"}, {"n1"}, {"n2"}, {"n3"}]


def test_attach_limits_tell_nodes_apart() -> None:
    def csi(name: str, count: int) -> dict:
        return {"metadata": {"name": name}, "spec": {"drivers": [{"name": "d", "allocatable": {"count": count}}]}}

    assert groups(csinodes=(csi("n0", 25), csi("n1", 25), csi("n2", 12), csi("n3", 25))) == ONE_NAMED


def test_devices_tell_nodes_apart_by_what_a_claim_may_ask() -> None:
    def slice_of(index: int, memory: str) -> dict:
        attributes = {"uuid": {"string": f"u{index}"}, "model": {"string": memory}}
        devices = [{"name": "gpu-0", "attributes": attributes}]
        pool = {"name": f"n{index}", "generation": 1, "resourceSliceCount": 1}
        return {
            "metadata": {"name": f"s{index}"},
            "spec": {"driver": "d", "pool": pool, "nodeName": f"n{index}", "devices": devices},
        }

    slices = tuple(slice_of(index, "big" if index == 2 else "small") for index in range(4))
    selector = {"cel": {"expression": 'device.attributes["d"].model == "big"'}}
    classes = ({"metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}},)
    assert groups(resourceslices=slices, deviceclasses=classes) == ONE_NAMED
    assert groups(resourceslices=slices) == [ALL]


def test_pods_differ_by_labels_only_where_a_selector_looks() -> None:
    def classes(**spec: object) -> int:
        pods = tuple(pod(f"p{i}", **spec) for i in range(4))
        for index, raw in enumerate(pods):
            raw["metadata"]["labels"] = {"app": "a", "shard": str(index % 2), "serial": str(index)}
        return len(classify(normalise(Snapshot(objects={"pods": pods}))).pods)

    constraint = spread(ZONE)["topologySpreadConstraints"][0]
    assert classes() == 1
    assert classes(topologySpreadConstraints=[constraint | {"labelSelector": {"matchLabels": {"shard": "1"}}}]) == 2
    assert classes(topologySpreadConstraints=[constraint | {"matchLabelKeys": ["serial"]}]) == 4
