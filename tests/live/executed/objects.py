"""A world as Kubernetes objects."""

from collections.abc import Iterator
from typing import Any

from tests.live.executed.world import DRIVER, HOST, LINGER, PRICES, TYPE, TYPES, ZONE, App, Raw, World


def nodes(world: World) -> list[Raw]:
    """The nodes, as kubelets would register them."""
    return [_node(*node) for node in world.nodes]


def _node(name: str, kind: str, zone: str, pool: str) -> Raw:
    cpu, memory = TYPES[kind]
    size = {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": "30"}
    labels = {HOST: name, ZONE: zone, TYPE: kind, "pool": pool, "kubernetes.io/os": "linux"}
    taints = [{"key": "dedicated", "value": "data", "effect": "NoSchedule"}] if pool == "data" else []
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": size, "capacity": size},
    }


def drivers(world: World) -> list[Raw]:
    """How many volumes each node attaches: three."""
    driver = {"name": DRIVER, "nodeID": "", "allocatable": {"count": 3}}
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSINode",
            "metadata": {"name": name},
            "spec": {"drivers": [{**driver, "nodeID": name}]},
        }
        for name, *_ in world.nodes
    ]


def surroundings(world: World) -> list[Raw]:
    """What workloads lean on: classes, volumes with their claims, and two DaemonSets."""
    storage = {"provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer"}
    out: list[Raw] = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "urgent"}, "value": 1000},
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disk"}, **storage},
    ]
    for app in world.apps:
        for number in range(app.peak if app.zones else 0):
            out += _volume(app, number)
    out += [_daemon("agent", 100, 128), _daemon("logs", 50, 128)]
    return out


def _volume(app: App, number: int) -> list[Raw]:
    claim = f"data-{app.name}-{number}"
    zone = {"key": ZONE, "operator": "In", "values": [app.zones[number % len(app.zones)]]}
    size, modes = {"storage": "10Gi"}, ["ReadWriteOnce"]
    volume = {
        "capacity": size,
        "accessModes": modes,
        "storageClassName": "disk",
        "csi": {"driver": DRIVER, "volumeHandle": claim},
        "claimRef": {"namespace": app.namespace, "name": claim},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}},
    }
    wanted = {"accessModes": modes, "storageClassName": "disk", "volumeName": claim, "resources": {"requests": size}}
    return [
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": claim}, "spec": volume},
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim, "namespace": app.namespace},
            "spec": wanted,
        },
    ]


def _daemon(name: str, cpu: int, memory: int) -> Raw:
    template = _template(name, cpu, memory)
    template["spec"]["tolerations"] = [{"operator": "Exists"}]
    body = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": "shop"}, "spec": body}


def workloads(world: World) -> Iterator[Raw]:
    """Controllers at their peak, budgets, and a pod that nobody would bring back."""
    for app in world.apps:
        yield controller(app, app.peak)
        if app.budget is not None:
            spec = {"selector": {"matchLabels": {"app": app.label}}, **app.budget}
            meta = {"name": app.name, "namespace": app.namespace}
            yield {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": spec}
    bare = _template("bare", 150, 256)
    labelled = {"name": "bare", "namespace": "shop", "labels": {"app": "bare"}}
    yield {"apiVersion": "v1", "kind": "Pod", "metadata": labelled, "spec": bare["spec"]}


def finished(runs: int) -> Raw:
    """A Job whose pods have ended and lie about on their nodes."""
    template = _template("report", 100, 128)
    template["spec"]["restartPolicy"] = "Never"
    meta = {"name": "report", "namespace": "shop"}
    body = {"completions": runs, "parallelism": runs, "template": template}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": body}


def controller(app: App, replicas: int) -> Raw:
    """The Deployment or StatefulSet of an app."""
    template = _template(app.label, app.cpu, app.memory)
    template["metadata"] |= {"annotations": dict(app.annotations), "finalizers": [LINGER] if app.lingers else []}
    template["spec"] |= app.spec
    if app.ports:
        ports = [{"containerPort": port, "hostPort": port} for port in app.ports]
        template["spec"]["containers"][0]["ports"] = ports
    body: Raw = {"replicas": replicas, "selector": {"matchLabels": {"app": app.label}}, "template": template}
    if app.kind == "StatefulSet":
        body |= {"serviceName": app.name, "podManagementPolicy": "Parallel"}
    if app.zones:
        body["volumeClaimTemplates"] = [_claim_template()]
    meta = {"name": app.name, "namespace": app.namespace}
    return {"apiVersion": "apps/v1", "kind": app.kind, "metadata": meta, "spec": body}


def _claim_template() -> Raw:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "disk",
        "resources": {"requests": {"storage": "10Gi"}},
    }
    return {"metadata": {"name": "data"}, "spec": spec}


def _template(name: str, cpu: int, memory: int) -> dict[str, Any]:
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    container = {"name": "app", "image": "registry.example/app:1", "resources": {"requests": requests}}
    return {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}


def price_file() -> str:
    """What each type costs, as a price file."""
    rows = [f"  - {{instance_type: {kind}, hourly: {micros / 1e6:.6f}, per: node}}" for kind, micros in PRICES.items()]
    return "\n".join(["currency: USD", "source: the test", "prices:", *rows]) + "\n"
