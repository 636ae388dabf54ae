"""Raw pods, owners and nodes for tests, and the series that tell of them."""

from collections.abc import Mapping

END = 1_764_460_800.0
CREATED = "2025-11-28T00:00:00Z"
MODEL = "NVIDIA H100 80GB HBM3"
TARGET = {
    "job": "dcgm-exporter",
    "instance": "10.0.0.9:9400",
    "namespace": "monitoring",
    "pod": "dcgm-exporter-78z52",
    "container": "exporter",
}


def gpu_pod(
    name: str,
    *,
    namespace: str = "ml",
    uid: str | None = None,
    args: tuple[str, ...] = ("--batch-size", "8"),
    owner: tuple[str, str] | None = None,
    resource: str = "nvidia.com/gpu",
    **metadata: object,
) -> dict[str, object]:
    """A running pod with one GPU."""
    references = [{"kind": owner[0], "name": owner[1], "controller": True}] if owner else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid or f"uid-{name}",
            "creationTimestamp": CREATED,
            "ownerReferences": references,
            **metadata,
        },
        "spec": {
            "nodeName": "node-a",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.example/train:1",
                    "command": ["python", "train.py"],
                    "args": list(args),
                    "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}],
                    "resources": {"limits": {resource: "1"}},
                }
            ],
        },
        "status": {"phase": "Running", "containerStatuses": [{"name": "main", "state": {"running": {}}}]},
    }


def gpu_node(name: str = "node-a", **labels: str) -> dict[str, object]:
    """A node with GPU feature discovery's labels."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def exported(pod: str, uuid: str = "GPU-1", namespace: str = "ml", **more: str) -> dict[str, str]:
    """Labels of a workload's series as the exporter's chart leaves them (`honor_labels: false`)."""
    workload = {"exported_pod": pod, "exported_namespace": namespace, "exported_container": "main"}
    return {**TARGET, "UUID": uuid, "gpu": "0", "modelName": MODEL, "Hostname": "node-a", **workload, **more}


def every_minute(value: float, minutes: int = 10, *, until: float = END) -> list[tuple[float, float]]:
    """Samples a minute apart, the last at `until`."""
    return [(until - 60.0 * n, value) for n in range(minutes)]


def kube_list(*objects: Mapping[str, object]) -> dict[str, object]:
    """What `kubectl get … -o json` prints."""
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}
