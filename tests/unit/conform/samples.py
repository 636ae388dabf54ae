"""Small snapshots for tests of the comparison."""

from typing import Any

from ksolver_cli.snapshot.model import Snapshot

Json = dict[str, Any]
ZONE = "topology.kubernetes.io/zone"


def node(name: str, *, labels: Json | None = None, **spec: Any) -> Json:
    room = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": "7", "labels": labels or {}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": metadata,
        "spec": spec,
        "status": {"allocatable": room, "capacity": room},
    }


def pod(name: str, cpu: str = "1", *, on: str = "", labels: Json | None = None, **spec: Any) -> Json:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    body = {"containers": [container], **spec} | ({"nodeName": on} if on else {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels or {"app": name}},
        "spec": body,
        "status": {"phase": "Running" if on else "Pending"},
    }


def snapshot(nodes: list[Json], pods: list[Json], **objects: list[Json]) -> Snapshot:
    kinds = {"nodes": nodes, "pods": pods, **objects}
    return Snapshot({kind: tuple(items) for kind, items in kinds.items()}, server_version="v1.36.1")


def affinity(kind: str, app: str, key: str = ZONE) -> Json:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(mode: str = "DoNotSchedule") -> Json:
    return {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": mode,
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
