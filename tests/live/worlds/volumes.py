"""Random storage: classes, volumes, claims in every state, drivers, limits, capacity; and volumes of pods."""

from random import Random
from typing import Any

from tests.live.worlds.nodes import HOST, REGION, ZONE

Json = dict[str, Any]

CSI = ("disk.example.com", "net.example.com", "ebs.csi.aws.com")
BINDING = ("volume.kubernetes.io/bind-completed", "pv.kubernetes.io/bind-completed")
IN_TREE = {
    "ebs": {"awsElasticBlockStore": {"volumeID": "vol-1"}},
    "gce": {"gcePersistentDisk": {"pdName": "pd-1"}},
    "azure": {"azureDisk": {"diskName": "d1", "diskURI": "u1"}},
}
CLASSES = ("fast", "slow", "local", "late", "ebs")
NAMESPACE_KINDS = ("persistentvolumeclaims",)


def storage(random: Random, nodes: list[Json], namespace: str) -> Json:
    """Objects of storage by kind; claims k0, k1, … are in `namespace`."""
    claims, volumes = [], []
    for index in range(random.randint(1, 4)):
        claim, volume = pair(random, f"k{index}", namespace)
        claims.append(claim)
        volumes += [volume] if volume else []
    volumes += [free_volume(random, f"free{index}") for index in range(random.randint(0, 3))]
    return {
        "storageclasses": [storage_class(random, name) for name in CLASSES if random.random() < 0.93],
        "persistentvolumeclaims": claims,
        "persistentvolumes": volumes,
        "csinodes": [csi_node(random, node) for node in nodes if random.random() < 0.85],
        "csidrivers": [csi_driver(random, name) for name in CSI if random.random() < 0.7],
        "csistoragecapacities": [capacity(random, f"cap{i}") for i in range(random.randint(0, 4))],
        "volumeattachments": [attachment(random, f"va{i}", len(nodes)) for i in range(random.randint(0, 2))],
    }


def storage_class(random: Random, name: str) -> Json:
    provisioner = {"local": "kubernetes.io/no-provisioner", "ebs": "kubernetes.io/aws-ebs"}.get(
        name, random.choice(CSI)
    )
    late = name in ("local", "late") or random.random() < 0.5
    found: Json = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer" if late else "Immediate",
    }
    if random.random() < 0.35:
        key = random.choice((ZONE, ZONE, HOST))
        values = random.sample(("za", "zb", "zc") if key == ZONE else ("n0", "n1"), random.choice((1, 2)))
        found["allowedTopologies"] = [{"matchLabelExpressions": [{"key": key, "values": values}]}]
    return found


def pair(random: Random, name: str, namespace: str) -> tuple[Json, Json | None]:
    """A claim, and the volume that it is bound to, if it is."""
    wanted = random.choice(CLASSES)
    metadata: Json = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    size = random.choice(("1Gi", "5Gi", "50Gi"))
    modes = [random.choice(("ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"))]
    spec: Json = {"accessModes": modes, "resources": {"requests": {"storage": size}}, "storageClassName": wanted}
    claim: Json = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    if random.random() < 0.05:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["kubernetes.io/pvc-protection"]}
    roll = random.random()
    if roll < 0.35:
        claim["status"] = {"phase": "Pending"}
        if random.random() < 0.15:
            metadata["annotations"] = {"volume.kubernetes.io/selected-node": f"n{random.randint(0, 3)}"}
        if random.random() < 0.1:
            del spec["storageClassName"]
        return claim, None
    spec["volumeName"] = f"v-{name}"
    if roll > 0.42:
        metadata["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    claim["status"] = {"phase": "Bound" if roll > 0.47 else random.choice(("Lost", "Pending"))}
    if random.random() < 0.06:
        return claim, None
    volume = persistent_volume(random, f"v-{name}", wanted, size, modes)
    volume["spec"]["claimRef"] = {"namespace": namespace, "name": name, "uid": f"uid-{name}"}
    volume["status"] = {"phase": "Bound"}
    return claim, volume


def free_volume(random: Random, name: str) -> Json:
    size = random.choice(("1Gi", "10Gi", "100Gi"))
    volume = persistent_volume(random, name, random.choice(("local", "late", "slow")), size, ["ReadWriteOnce"])
    volume["status"] = {"phase": "Available"}
    if random.random() < 0.15:
        volume["spec"]["claimRef"] = {"namespace": "default", "name": random.choice(("k0", "other"))}
    return volume


def persistent_volume(random: Random, name: str, wanted: str, size: str, modes: list[str]) -> Json:
    spec: Json = {"capacity": {"storage": size}, "accessModes": modes, "storageClassName": wanted} | source(
        random, name
    )
    metadata: Json = {"name": name}
    if random.random() < 0.4:
        spec["nodeAffinity"] = {
            "required": {"nodeSelectorTerms": [topology(random) for _ in range(random.choice((1, 1, 2)))]}
        }
    if random.random() < 0.4:
        key = random.choice((ZONE, ZONE, REGION, "failure-domain.beta.kubernetes.io/zone"))
        values = ("r1", "r2") if key == REGION else ("za", "zb", "za__zb", "", "zc")
        metadata["labels"] = {key: random.choice(values)}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}


def source(random: Random, name: str) -> Json:
    roll = random.random()
    if roll < 0.55:
        return {"csi": {"driver": random.choice(CSI), "volumeHandle": name}}
    if roll < 0.75:
        return {"local": {"path": "/mnt/x"}}
    if roll < 0.9:
        return {"awsElasticBlockStore": {"volumeID": f"aws://za/{name}"}}
    return random.choice((IN_TREE["gce"], {"nfs": {"server": "s", "path": "/"}}))


def topology(random: Random) -> Json:
    key = random.choice((ZONE, HOST, HOST, "topology.ebs.csi.aws.com/zone"))
    values = ("n0", "n1", "n2") if key == HOST else ("za", "zb")
    return {
        "matchExpressions": [
            {"key": key, "operator": random.choice(("In", "In", "NotIn")), "values": [random.choice(values)]}
        ]
    }


def csi_node(random: Random, node: Json) -> Json:
    name = node["metadata"]["name"]
    drivers: list[Json] = []
    for driver in CSI:
        if random.random() < 0.75:
            found: Json = {"name": driver, "nodeID": name, "topologyKeys": []}
            if random.random() < 0.6:
                found["allocatable"] = {"count": random.choice((0, 1, 2, 25))}
            drivers.append(found)
    metadata: Json = {"name": name}
    if random.random() < 0.3:
        metadata["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/aws-ebs"}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": drivers}}


def csi_driver(random: Random, name: str) -> Json:
    spec: Json = {"storageCapacity": random.random() < 0.5}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec}


def capacity(random: Random, name: str) -> Json:
    found: Json = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": random.choice(("fast", "slow", "late")),
    }
    if random.random() < 0.85:
        found["nodeTopology"] = random.choice(({"matchLabels": {ZONE: random.choice(("za", "zb"))}}, {}))
    if random.random() < 0.9:
        found["capacity"] = random.choice(("500Mi", "10Gi", "1Ti"))
    if random.random() < 0.3:
        found["maximumVolumeSize"] = random.choice(("2Gi", "1Ti"))
    return found


def attachment(random: Random, name: str, nodes: int) -> Json:
    spec = {
        "attacher": random.choice(CSI),
        "nodeName": f"n{random.randrange(nodes)}",
        "source": {"persistentVolumeName": random.choice(("v-k0", "v-k1", "v-other"))},
    }
    return {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name}, "spec": spec}


def pod_volumes(random: Random, pod_name: str, claims: list[Json]) -> list[Json]:
    """Volumes of a pod: claims, ephemeral ones, inline disks, and kinds that the scheduler looks past."""
    found: list[Json] = []
    for index in range(random.choice((1, 1, 2))):
        name = f"vol{index}"
        roll = random.random()
        if roll < 0.6 and claims:
            found.append(
                {"name": name, "persistentVolumeClaim": {"claimName": random.choice(claims)["metadata"]["name"]}}
            )
        elif roll < 0.63:
            found.append({"name": name, "persistentVolumeClaim": {"claimName": "missing"}})
        elif roll < 0.72:
            found.append(
                {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}
            )
        elif roll < 0.92:
            found.append({"name": name} | inline(random))
        else:
            found.append({"name": name, "emptyDir": {}})
    return found


def inline(random: Random) -> Json:
    read_only = random.random() < 0.4
    iscsi = {"targetPortal": "1.2.3.4", "iqn": random.choice(("a", "b")), "lun": 0, "readOnly": read_only}
    rbd = {
        "monitors": random.sample(("m1", "m2"), random.choice((1, 2))),
        "pool": "p",
        "image": "i",
        "readOnly": read_only,
    }
    return random.choice((
        {"csi": {"driver": random.choice(CSI)}},
        {"awsElasticBlockStore": {"volumeID": random.choice(("vol-1", "vol-2")), "readOnly": read_only}},
        {"gcePersistentDisk": {"pdName": "pd-1", "readOnly": read_only}},
        {"iscsi": iscsi},
        {"rbd": rbd},
    ))  # fmt: skip


def ephemeral_claims(random: Random, pod: Json) -> list[Json]:
    """The claims that a controller made for the pod's ephemeral volumes, some of them somebody else's."""
    found = []
    for volume in pod["spec"].get("volumes", ()):
        if "ephemeral" not in volume or random.random() < 0.15:
            continue
        claim, _ = pair(random, f"{pod['metadata']['name']}-{volume['name']}", pod["metadata"]["namespace"])
        owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "controller": True}
        owner["uid"] = pod["metadata"]["uid"] if random.random() < 0.9 else "somebody"
        claim["metadata"]["ownerReferences"] = [owner]
        claim["spec"].pop("volumeName", None)
        claim["status"] = {"phase": "Pending"}
        found.append(claim)
    return found
