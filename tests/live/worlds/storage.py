"""Random clusters with storage: claims in every state, volumes of every kind, limits, capacities, and disks in pods."""

from random import Random
from typing import Any

Json = dict[str, Any]

ZONES = ("za", "zb")
SIZES = ("1Gi", "5Gi", "10Gi", "20Gi")
MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
DRIVER = "csi.example.com"
IN_TREE = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
}
ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
REGION_LABELS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
CSI_ZONES = ("topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.cinder.csi.openstack.org/zone")
CLASSES = ("wait", "now", "local", "tight", "aws", "gce", "unset")


def world(random: Random) -> Json:
    """A case: objects by kind, and `pod`."""
    nodes = [_node(random, index) for index in range(random.randint(1, 3))]
    names = [node["metadata"]["name"] for node in nodes]
    volumes = [_volume(random, f"pv{index}", names) for index in range(random.randint(1, 5))]
    claims = [_claim(random, f"c{index}", names) for index in range(5) if random.random() < 0.95]
    owner = random.choice(("uid-p", "uid-p", "uid-other"))
    claims += [_owned(_claim(random, "p-eph", names), owner)] if random.random() < 0.5 else []
    return {
        "nodes": nodes,
        "pods": [_running(random, f"r{index}", names) for index in range(random.randint(0, 4))],
        "persistentvolumes": volumes,
        "persistentvolumeclaims": claims,
        "storageclasses": [_class(random, name) for name in CLASSES if random.random() < 0.9],
        "csinodes": [_csi_node(random, name) for name in names if random.random() < 0.8],
        "csidrivers": [_driver(random, name) for name in (DRIVER, "ebs.csi.aws.com") if random.random() < 0.7],
        "csistoragecapacities": [_capacity(random, index) for index in range(random.randint(0, 3))],
        "volumeattachments": [_attachment(random, index, names) for index in range(random.randint(0, 3))],
        "pod": _pod(random),
    }


def _zone_labels(random: Random, several: bool) -> Json:
    labels = {}
    for keys, values in ((ZONE_LABELS, ZONES), (REGION_LABELS, ("ra", "rb"))):
        for key in keys:
            if random.random() < 0.3:
                value = random.choice(values)
                spread = ("__".join(values), f"{value}__", f" {value} ")
                labels[key] = random.choice(spread[:1] * 3 + spread) if several and random.random() < 0.3 else value
    return labels


def _node(random: Random, index: int) -> Json:
    labels = {"kubernetes.io/hostname": f"n{index}", "topology.csi.example.com/zone": random.choice(ZONES)}
    labels |= _zone_labels(random, several=False)
    labels |= {key: random.choice(ZONES) for key in CSI_ZONES if random.random() < 0.5}
    room = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{index}", "labels": labels},
        "spec": {},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


def _in(key: str, *values: str) -> Json:
    return {"key": key, "operator": "In", "values": list(values)}


def _affinity(random: Random, names: list[str]) -> Json:
    expressions = [
        _in("kubernetes.io/hostname", random.choice([*names, "gone"])),
        _in(random.choice(ZONE_LABELS), random.choice(ZONES)),
        _in(random.choice(CSI_ZONES), random.choice(ZONES)),
        _in("topology.csi.example.com/zone", *ZONES[: random.randint(1, 2)]),
        _in("failure-domain.beta.kubernetes.io/region", "ra"),
        {"key": "missing", "operator": random.choice(("Exists", "DoesNotExist"))},
    ]
    terms: list[Json] = [
        {"matchExpressions": random.sample(expressions, random.randint(1, 2))} for _ in range(random.randint(1, 2))
    ]
    if random.random() < 0.1:
        terms = [{"matchFields": [_in("metadata.name", names[0])]}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}


def _source(random: Random, name: str) -> Json:
    disk = random.choice(("d0", "d1", name))
    return random.choice((
        {"csi": {"driver": DRIVER, "volumeHandle": disk}},
        {"csi": {"driver": DRIVER, "volumeHandle": name}},
        {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{disk}"}},
        {"awsElasticBlockStore": {"volumeID": random.choice((f"aws://za/vol-{disk}", f"vol-{disk}"))}},
        {"gcePersistentDisk": {"pdName": disk}},
        {"azureDisk": {"diskName": disk, "diskURI": f"/subscriptions/{disk}", "kind": "Managed"}},
        {"cinder": {"volumeID": disk}},
        {"portworxVolume": {"volumeID": disk}},
        {"nfs": {"server": "s", "path": "/"}},
        {"local": {"path": "/x"}},
    ))  # fmt: skip


def _volume(random: Random, name: str, names: list[str]) -> Json:
    spec: Json = {"capacity": {"storage": random.choice(SIZES)}, "accessModes": random.sample(MODES[:3], 2)}
    spec |= _source(random, name)
    spec["storageClassName"] = random.choice((*CLASSES, ""))
    if random.random() < 0.1:
        spec["volumeMode"] = "Block"
    if random.random() < 0.6:
        spec |= _affinity(random, names)
    if random.random() < 0.3:
        number = random.randint(0, 4)
        spec["claimRef"] = {"namespace": "default", "name": f"c{number}"}
        if random.random() < 0.5:
            spec["claimRef"]["uid"] = f"uid-c{number}" if random.random() < 0.7 else "uid-else"
    metadata: Json = {"name": name, "labels": _zone_labels(random, several=True) | {"tier": random.choice("xy")}}
    if random.random() < 0.05:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    phase = random.choice(("Available", "Available", "Bound", "Released"))
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }


def _claim(random: Random, name: str, names: list[str]) -> Json:
    spec: Json = {"accessModes": [random.choice(MODES)]}
    spec["resources"] = {"requests": {"storage": random.choice(SIZES)}} if random.random() < 0.9 else {}
    annotations: Json = {}
    if random.random() < 0.85:
        spec["storageClassName"] = random.choice((*CLASSES, "wait", "wait", "local", "ghost"))
    elif random.random() < 0.5:
        annotations["volume.beta.kubernetes.io/storage-class"] = random.choice(CLASSES)
    if random.random() < 0.45:
        spec["volumeName"] = random.choice(("pv0", "pv1", "pv2", "pv-gone"))
        if random.random() < 0.85:
            annotations["pv.kubernetes.io/bind-completed"] = "yes"
    elif random.random() < 0.25:
        annotations["volume.kubernetes.io/selected-node"] = random.choice(names)
    if random.random() < 0.2:
        spec["selector"] = {"matchLabels": {"tier": random.choice("xy")}}
    if random.random() < 0.1:
        spec["volumeMode"] = random.choice(("Block", "Filesystem"))
    metadata: Json = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations}
    if random.random() < 0.03:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    phase = random.choices(("Bound", "Pending", "Lost"), (10, 10, 1))[0]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase},
    }


def _owned(claim: Json, uid: str) -> Json:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}
    claim["metadata"]["ownerReferences"] = [owner]
    return claim


def _class(random: Random, name: str) -> Json:
    provisioners = {
        "local": "kubernetes.io/no-provisioner",
        "aws": "kubernetes.io/aws-ebs",
        "gce": "kubernetes.io/gce-pd",
    }
    found: Json = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioners.get(name, DRIVER),
        "volumeBindingMode": "Immediate" if name == "now" else "WaitForFirstConsumer",
    }
    if name == "unset" and random.random() < 0.2:
        del found["volumeBindingMode"]
    if random.random() < 0.3:
        key = random.choice(("topology.csi.example.com/zone", *ZONE_LABELS))
        terms: list[Json] = [{"matchLabelExpressions": [{"key": key, "values": [random.choice(ZONES)]}]}]
        found["allowedTopologies"] = random.choice((terms, [{}, *terms], [{}]))
    return found


def _csi_node(random: Random, name: str) -> Json:
    drivers = []
    for driver in (DRIVER, *IN_TREE.values()):
        if random.random() < 0.7:
            entry: Json = {"name": driver, "nodeID": name}
            if random.random() < 0.8:
                entry["allocatable"] = {"count": random.choice((0, 1, 2, 3, 25))}
            drivers.append(entry)
    metadata: Json = {"name": name}
    if random.random() < 0.6:
        migrated = random.sample(list(IN_TREE), random.randint(0, 5))
        metadata["annotations"] = {"storage.alpha.kubernetes.io/migrated-plugins": ",".join(migrated)}
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": metadata, "spec": {"drivers": drivers}}


def _driver(random: Random, name: str) -> Json:
    spec: Json = {"storageCapacity": random.random() < 0.6}
    if random.random() < 0.4:
        spec["preventPodSchedulingIfMissing"] = random.random() < 0.7
    return {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}, "spec": spec}


def _capacity(random: Random, index: int) -> Json:
    found: Json = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": f"cap{index}", "namespace": "default"},
        "storageClassName": random.choice(("wait", "tight", "aws")),
    }
    if random.random() < 0.8:
        found["nodeTopology"] = random.choice(({}, {"matchLabels": {"topology.csi.example.com/zone": "za"}}))
    if random.random() < 0.9:
        found["capacity"] = random.choice(("2Gi", "15Gi", "100Gi"))
    if random.random() < 0.4:
        found["maximumVolumeSize"] = random.choice(("2Gi", "6Gi"))
    return found


def _attachment(random: Random, index: int, names: list[str]) -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": f"va{index}"},
        "spec": {
            "attacher": random.choice((DRIVER, "ebs.csi.aws.com")),
            "nodeName": random.choice(names),
            "source": {"persistentVolumeName": random.choice(("pv0", "pv1", "pv2", "pv3", "pv-gone"))},
        },
        "status": {"attached": True},
    }


def _disk(random: Random) -> Json:
    only = {"readOnly": True} if random.random() < 0.4 else {}
    disk = random.choice(("d0", "d1"))
    return random.choice((
        {"gcePersistentDisk": {"pdName": disk} | only},
        {"awsElasticBlockStore": {"volumeID": f"vol-{disk}"} | only},
        {"azureDisk": {"diskName": disk, "diskURI": f"/subscriptions/{disk}"} | only},
        {"cinder": {"volumeID": disk} | only},
        {"iscsi": {"targetPortal": "10.0.0.1", "iqn": f"iqn.2001-04.com.example:{disk}", "lun": 0} | only},
        {"rbd": {"monitors": random.sample(("m0", "m1", "m2"), 2), "image": disk, "pool": random.choice("pq")} | only},
        {"emptyDir": {}},
        {"hostPath": {"path": "/x"}},
    ))  # fmt: skip


def _volumes(random: Random, most: int, ephemeral: bool) -> list[Json]:
    found: list[Json] = []
    for index in range(random.randint(0, most)):
        kind = random.random()
        if kind < 0.55:
            source: Json = {"persistentVolumeClaim": {"claimName": f"c{random.randint(0, 4)}"}}
        elif kind < 0.62 and ephemeral:
            source = {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}
        else:
            source = _disk(random)
        name = "eph" if "ephemeral" in source else f"v{index}"
        if name not in {volume["name"] for volume in found}:
            found.append({"name": name} | source)
    return found


def _running(random: Random, name: str, names: list[str]) -> Json:
    spec: Json = {"nodeName": random.choice(names), "containers": [{"name": "m", "image": "i"}]}
    spec["volumes"] = _volumes(random, 3, ephemeral=False)
    metadata: Json = {"name": name, "namespace": random.choice(("default", "default", "other")), "uid": f"uid-{name}"}
    if random.random() < 0.1:
        metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    phase = random.choices(("Running", "Succeeded"), (9, 1))[0]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def _pod(random: Random) -> Json:
    spec: Json = {"containers": [{"name": "m", "image": "i"}], "volumes": _volumes(random, 3, ephemeral=True)}
    metadata = {"name": "p", "namespace": "default", "uid": "uid-p"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
