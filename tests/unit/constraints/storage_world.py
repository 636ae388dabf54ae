"""Small clusters with storage, as API objects, and the verdicts of one family on them."""

from collections.abc import Iterable, Mapping

from ksolver_cli.constraints.base import FamilyRule
from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Verdict
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot

Json = dict[str, object]
DRIVER = "csi.example.com"


def node(name: str, **labels: str) -> Json:
    room = {"cpu": "8", "memory": "8Gi", "pods": "20"}
    metadata = {"name": name, "labels": {"kubernetes.io/hostname": name} | labels}
    return {"kind": "Node", "metadata": metadata, "spec": {}, "status": {"allocatable": room}}


def claim(name: str, **spec: object) -> Json:
    """A claim; with `volumeName` a bound one."""
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if spec.get("volumeName") else {}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "annotations": annotations}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}} | spec
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def volume(name: str, labels: Mapping[str, str] | None = None, **spec: object) -> Json:
    """An available CSI volume of 1 Gi, unless the spec says otherwise."""
    standard: Json = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    if not {"local", "awsElasticBlockStore", "gcePersistentDisk"} & spec.keys():
        standard["csi"] = {"driver": DRIVER, "volumeHandle": name}
    metadata = {"name": name, "labels": dict(labels or {})}
    return {"kind": "PersistentVolume", "metadata": metadata, "spec": standard | spec, "status": {"phase": "Available"}}


def on_node(name: str) -> Json:
    """Node affinity of a volume that only one host reaches."""
    here = {"key": "kubernetes.io/hostname", "operator": "In", "values": [name]}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [here]}]}}


def storage_class(name: str, provisioner: str = DRIVER, mode: str = "WaitForFirstConsumer") -> Json:
    return {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}


def csi_node(name: str, count: int, driver: str = DRIVER) -> Json:
    entry = {"name": driver, "nodeID": name, "allocatable": {"count": count}}
    return {"kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [entry]}}


def pod(name: str, *claims: str, node_name: str = "", volumes: Iterable[Json] = ()) -> Json:
    """A pod that mounts claims, and further volumes."""
    mounted = [{"name": f"v{index}", "persistentVolumeClaim": {"claimName": key}} for index, key in enumerate(claims)]
    spec: Json = {"containers": [{"name": "c"}], "volumes": [*mounted, *volumes]}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return {"kind": "Pod", "metadata": metadata, "spec": spec | ({"nodeName": node_name} if node_name else {})}


def cluster(complete: bool = True, version: str = "1.36", **objects: Iterable[Json]) -> Cluster:
    return normalise(
        Snapshot({kind: tuple(found) for kind, found in objects.items()}), complete=complete, kubernetes_version=version
    )


def find(where: Cluster, name: str) -> Pod:
    return next(found for found in where.pods if found.name == name)


def verdicts(rule: FamilyRule, where: Cluster, name: str, state: State | None = None) -> dict[str, Verdict | None]:
    """What one family says of a pod on every node; the pod is taken off its node first."""
    state = state or State(where)
    judged = find(where, name)
    if state.node_of(judged) is not None:
        state.remove(judged)
    judge = prepare(judged, state, (rule,))
    return {n.name: next(iter(judge.objections(n.name)), None) for n in where.nodes}
