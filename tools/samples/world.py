"""A small vocabulary for writing clusters down as Kubernetes objects."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

Raw = dict[str, Any]

REGION = "us-east-1"
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
START = "2026-09-01T06:00:00Z"


@dataclass(frozen=True)
class Shape:
    """An EC2 type: allocatable as EKS leaves it, and pod slots."""

    name: str
    cpu: str
    memory: str
    pods: int
    extended: tuple[tuple[str, str], ...] = ()
    labels: tuple[tuple[str, str], ...] = ()


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("m5.large", "1930m", "7220184Ki", 29),
        Shape("m5.xlarge", "3920m", "15147908Ki", 58),
        Shape("m5.2xlarge", "7910m", "31482020Ki", 58),
        Shape("c5.4xlarge", "15890m", "28710648Ki", 234),
        Shape("r5.2xlarge", "7910m", "63962104Ki", 58),
        Shape("t3.medium", "1930m", "3388360Ki", 17),
        Shape(
            "g5.xlarge",
            "3920m",
            "15147908Ki",
            58,
            (("nvidia.com/gpu", "1"),),
            (
                ("nvidia.com/gpu.product", "NVIDIA-A10G"),
                ("nvidia.com/gpu.count", "1"),
                ("nvidia.com/gpu.memory", "23028"),
            ),
        ),
        Shape(
            "g5.12xlarge",
            "47810m",
            "189000000Ki",
            234,
            (("nvidia.com/gpu", "4"),),
            (
                ("nvidia.com/gpu.product", "NVIDIA-A10G"),
                ("nvidia.com/gpu.count", "4"),
                ("nvidia.com/gpu.memory", "23028"),
            ),
        ),
    )
}


def uid(*parts: str) -> str:
    """A stable identifier that looks like Kubernetes' own."""
    digest = hashlib.sha256("/".join(parts).encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def short(*parts: str, length: int = 5) -> str:
    """A stable suffix for generated names."""
    alphabet = "bcdfghjklmnpqrstvwxz2456789"
    number = int(hashlib.sha256("/".join(parts).encode()).hexdigest(), 16)
    return "".join(alphabet[(number >> (8 * i)) % len(alphabet)] for i in range(length))


def requests(cpu: str | None, memory: str | None, **extended: str) -> Raw:
    """Container resources; extended resources are limits too, as the API demands."""
    wanted = {k: v for k, v in (("cpu", cpu), ("memory", memory)) if v}
    devices = {name.replace("__", "/").replace("_", "."): count for name, count in extended.items()}
    resources: Raw = {"requests": {**wanted, **devices}}
    if devices:
        resources["limits"] = devices
    return resources


def anti_affinity(app: str, key: str = HOSTNAME) -> Raw:
    """Required anti-affinity of an app with itself."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(app: str, key: str = ZONE, skew: int = 1, *, hard: bool = True) -> Raw:
    """A topology spread constraint of an app over zones (or another key)."""
    return {
        "maxSkew": skew,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": app}},
    }


@dataclass
class World:
    """Objects of one cluster by plural kind."""

    name: str
    version: str = "v1.33.4"
    objects: dict[str, list[Raw]] = field(default_factory=dict)

    def add(self, plural: str, item: Raw) -> Raw:
        """Keep an object."""
        self.objects.setdefault(plural, []).append(item)
        return item

    def node(self, name: str, shape: str, zone: str, pool: str, taints: list[Raw] | None = None) -> Raw:
        """A Ready node of an EC2 type in a zone (`a`, `b`, `c`) of a managed node group."""
        kind = SHAPES[shape]
        resources = {"cpu": kind.cpu, "memory": kind.memory, "pods": str(kind.pods), **dict(kind.extended)}
        all_labels = {
            HOSTNAME: name,
            ZONE: f"{REGION}{zone}",
            "topology.kubernetes.io/region": REGION,
            "node.kubernetes.io/instance-type": shape,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "eks.amazonaws.com/nodegroup": pool,
            "eks.amazonaws.com/capacityType": "ON_DEMAND",
            **dict(kind.labels),
        }
        spec: Raw = {"providerID": f"aws:///{REGION}{zone}/i-{uid('i', name).replace('-', '')[:17]}"}
        if taints:
            spec["taints"] = taints
        status = {
            "allocatable": resources,
            "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": self.version},
        }
        meta = {"name": name, "uid": uid("node", name), "labels": all_labels, "creationTimestamp": START}
        return self.add("nodes", {"apiVersion": "v1", "kind": "Node", "metadata": meta, "spec": spec, "status": status})

    def pod(self, namespace: str, name: str, spec: Raw, owner: tuple[str, str] | None, labels: dict[str, str]) -> Raw:
        """A pod; without `nodeName` in its spec it waits to be placed."""
        meta: Raw = {
            "name": name,
            "namespace": namespace,
            "uid": uid("pod", namespace, name),
            "labels": labels,
            "creationTimestamp": START,
        }
        if owner:
            kind, owner_name = owner
            version = {"Node": "v1", "Job": "batch/v1"}.get(kind, "apps/v1")
            reference = {"apiVersion": version, "kind": kind, "name": owner_name, "controller": True}
            meta["ownerReferences"] = [{**reference, "uid": uid(kind, namespace, owner_name)}]
        return self.add(
            "pods",
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": meta,
                "spec": spec,
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
            },
        )

    def deployment(self, namespace: str, app: str, replicas: int, resources: Raw, **spec: Any) -> None:
        """A Deployment with its ReplicaSet and pods."""
        pod_spec = {
            "containers": [{"name": app, "image": f"registry.example/{app}:1.4", "resources": resources}],
            **spec,
        }
        hash_ = short(namespace, app, length=9)
        labels = {"app": app, "pod-template-hash": hash_}
        self._controller("Deployment", (namespace, app), _body({"app": app}, pod_spec, replicas))
        replica_set = f"{app}-{hash_}"
        body = _body(labels, pod_spec, replicas)
        self._controller("ReplicaSet", (namespace, replica_set), body, ("Deployment", app))
        for number in range(replicas):
            name = f"{replica_set}-{short(namespace, app, str(number))}"
            self.pod(namespace, name, dict(pod_spec), ("ReplicaSet", replica_set), dict(labels))

    def statefulset(
        self, namespace: str, app: str, zones: list[str], resources: Raw, storage: str | None, **spec: Any
    ) -> None:
        """A StatefulSet, one replica a zone given; with `storage` each has an EBS volume in that zone."""
        base = {"containers": [{"name": app, "image": f"registry.example/{app}:7", "resources": resources}], **spec}
        self._controller("StatefulSet", (namespace, app), _body({"app": app}, base, len(zones)))
        for number, zone in enumerate(zones):
            name = f"{app}-{number}"
            pod_spec = dict(base)
            if storage:
                claim = f"data-{name}"
                self.volume(namespace, claim, storage, zone)
                pod_spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
            labels = {
                "app": app,
                "statefulset.kubernetes.io/pod-name": name,
                "apps.kubernetes.io/pod-index": str(number),
            }
            self.pod(namespace, name, pod_spec, ("StatefulSet", app), labels)

    def volume(self, namespace: str, claim: str, size: str, zone: str) -> None:
        """A bound gp3 claim whose EBS volume lives in one zone."""
        volume = f"pvc-{uid('pvc', namespace, claim)}"
        in_zone = {"key": ZONE, "operator": "In", "values": [f"{REGION}{zone}"]}
        self.add(
            "persistentvolumes",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": volume, "uid": uid("pv", volume)},
                "spec": {
                    "capacity": {"storage": size},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "gp3",
                    "csi": {
                        "driver": "ebs.csi.aws.com",
                        "volumeHandle": f"vol-{uid('vol', volume).replace('-', '')[:17]}",
                    },
                    "claimRef": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim},
                    "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [in_zone]}]}},
                },
                "status": {"phase": "Bound"},
            },
        )
        self.add(
            "persistentvolumeclaims",
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": claim,
                    "namespace": namespace,
                    "uid": uid("pvc", namespace, claim),
                    "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
                },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "gp3",
                    "volumeName": volume,
                    "resources": {"requests": {"storage": size}},
                },
                "status": {"phase": "Bound"},
            },
        )

    def daemonset(self, namespace: str, app: str, resources: Raw, nodes: list[str] | None = None, **spec: Any) -> None:
        """A DaemonSet and its pod on every node (or on those named)."""
        base = {
            "containers": [{"name": app, "image": f"registry.example/{app}:2", "resources": resources}],
            "tolerations": [{"operator": "Exists"}],
            **spec,
        }
        names = nodes if nodes is not None else [n["metadata"]["name"] for n in self.objects["nodes"]]
        self._controller("DaemonSet", (namespace, app), _body({"app": app}, base))
        for node in names:
            term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
            required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
            pod_spec = {**base, "nodeName": node, "affinity": {"nodeAffinity": required}}
            self.pod(namespace, f"{app}-{short(app, node)}", pod_spec, ("DaemonSet", app), {"app": app})

    def budget(self, namespace: str, app: str, expected: int, allowed: int, **spec: Any) -> None:
        """A PodDisruptionBudget over an app, with the status its controller would write."""
        status = {
            "disruptionsAllowed": allowed,
            "currentHealthy": expected,
            "desiredHealthy": expected - allowed,
            "expectedPods": expected,
        }
        meta = {"name": app, "namespace": namespace, "uid": uid("pdb", namespace, app)}
        body = {"selector": {"matchLabels": {"app": app}}, **spec}
        item = {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": meta,
            "spec": body,
            "status": status,
        }
        self.add("poddisruptionbudgets", item)

    def _controller(self, kind: str, name: tuple[str, str], body: Raw, owner: tuple[str, str] | None = None) -> None:
        namespace, own_name = name
        meta: Raw = {"name": own_name, "namespace": namespace, "uid": uid(kind, namespace, own_name)}
        if owner:
            reference = {"apiVersion": "apps/v1", "kind": owner[0], "name": owner[1], "controller": True}
            meta["ownerReferences"] = [{**reference, "uid": uid(owner[0], namespace, owner[1])}]
        self.add(f"{kind.lower()}s", {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": body})


def _body(labels: dict[str, str], pod_spec: Raw, replicas: int | None = None) -> Raw:
    body: Raw = {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": pod_spec}}
    return body if replicas is None else {**body, "replicas": replicas}
