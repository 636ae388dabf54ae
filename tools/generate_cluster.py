"""Write a seeded, realistic cluster as a kubectl List: filled up the way a scheduler does, then scaled down.

Usage: python tools/generate_cluster.py --nodes 200 --seed 1 --out cluster.json
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

Raw = dict[str, object]

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
TYPE = "node.kubernetes.io/instance-type"
ZONES = ("us-east-1a", "us-east-1b", "us-east-1c")

# (type, millicores, MiB, pod slots, GPUs, micro-dollars an hour): public on-demand list prices, us-east-1, Linux.
TYPES = (
    ("m5.xlarge", 3880, 15484, 58, 0, 192_000),
    ("m5.2xlarge", 7870, 31004, 58, 0, 384_000),
    ("c5.2xlarge", 7870, 15004, 58, 0, 340_000),
    ("r5.xlarge", 3880, 31004, 58, 0, 252_000),
    ("r5.2xlarge", 7870, 63004, 58, 0, 504_000),
    ("m5.4xlarge", 15840, 62004, 234, 0, 768_000),
    ("c5.4xlarge", 15840, 30004, 234, 0, 680_000),
    ("m6i.2xlarge", 7870, 31004, 58, 0, 384_000),
    ("c6i.2xlarge", 7870, 15004, 58, 0, 340_000),
    ("m5a.2xlarge", 7870, 31004, 58, 0, 344_000),
    ("r5a.xlarge", 3880, 31004, 58, 0, 226_000),
    ("m7i.2xlarge", 7870, 31004, 58, 0, 403_200),
)
GPU_TYPES = (
    ("g5.12xlarge", 47740, 188000, 234, 4, 5_672_000),
    ("g5.xlarge", 3880, 15004, 58, 1, 1_006_000),
    ("p3.16xlarge", 63740, 480000, 234, 8, 24_480_000),
)
PRICES = {name: price for name, _, _, _, _, price in TYPES + GPU_TYPES}


@dataclass(frozen=True)
class Settings:
    """What to generate. `utilisation` is requested ÷ allocatable of the busier resource after the scale-down."""

    nodes: int = 50
    seed: int = 1
    utilisation: float = 0.45
    node_classes: int = 27
    pods_per_node: int = 27
    dominant: str = ""
    """`cpu` or `memory` to make one resource scarce, empty for a mix."""
    gpu_share: float = 0.0
    affinity_share: float = 0.02
    pin_share: float = 0.005
    max_skew_share: float = 0.2
    host_port_share: float = 0.01
    budget_share: float = 0.1


@dataclass
class Fleet:
    """Nodes under construction: free vectors (cpu, memory, slots, GPUs) and what pods look at."""

    kind: list[tuple[str, int, int, int, int, int]]
    zone: np.ndarray
    pool: np.ndarray
    free: np.ndarray
    capacity: np.ndarray


@dataclass
class Workload:
    """A Deployment: request vector, where it may run, and its rules."""

    name: str
    request: np.ndarray
    allowed: np.ndarray
    selector: dict[str, str]
    tolerates: str
    replicas: int
    anti_affinity: bool = False
    spread: int = 0
    anchor: str = ""
    host_port: int = 0
    kind: str = "ReplicaSet"
    nodes: list[int] | None = None


POOLS = ("general", "general", "general", "batch", "memory")


def build_fleet(settings: Settings, rng: np.random.Generator) -> Fleet:
    """Nodes drawn from `node_classes` combinations of type, zone, pool and generation label."""
    combos, generation = [], 0
    while len(combos) < settings.node_classes:
        for index, kind in enumerate(TYPES):
            combos.extend(
                (kind, z, POOLS[(index + generation) % len(POOLS)] if index else "general", generation)
                for z in range(3)
            )
        generation += 1
    order = rng.permutation(len(combos))[: settings.node_classes]
    weights = rng.dirichlet(np.full(len(order), 2.0))
    picks = order[rng.choice(len(order), size=settings.nodes, p=weights)]
    kinds, zones, pools = [], [], []
    for node in range(settings.nodes):
        kind, z, pool, gen = combos[picks[node]]
        if rng.random() < settings.gpu_share:
            kind, pool, gen = GPU_TYPES[int(rng.integers(len(GPU_TYPES)))], "gpu", 0
        kinds.append(kind)
        zones.append(z)
        pools.append(pool if gen == 0 else f"{pool}-{gen}")
    capacity = np.array([[k[1], k[2], k[3], k[4]] for k in kinds], dtype=np.int64)
    free = capacity - np.array([150, 256, 2, 0])
    return Fleet(kinds, np.array(zones), np.array(pools), free, capacity)


def draw_request(settings: Settings, rng: np.random.Generator, scale: np.ndarray) -> np.ndarray:
    """A request vector: log-normal around the mean that gives `pods_per_node`, with a heavy tail."""
    factor = rng.lognormal(0.0, 0.7, size=2)
    if rng.random() < 0.03:
        factor *= 5
    if settings.dominant == "cpu":
        factor *= (1.3, 0.4)
    elif settings.dominant == "memory":
        factor *= (0.4, 1.3)
    cpu = int(np.clip(scale[0] * factor[0], 10, 3400))
    memory = int(np.clip(scale[1] * factor[1], 16, 14000))
    return np.array([cpu, memory, 1, 0], dtype=np.int64)


def draw_workload(settings: Settings, rng: np.random.Generator, fleet: Fleet, index: int) -> Workload:
    """One workload with its rules; most have none."""
    base = np.array([p.split("-")[0] for p in fleet.pool])
    scale = fleet.capacity.mean(axis=0) * 0.35 / settings.pods_per_node
    request = draw_request(settings, rng, scale)
    selector: dict[str, str] = {}
    tolerates = ""
    allowed = (base != "batch") & (base != "gpu")
    dice = rng.random()
    if settings.gpu_share and rng.random() < settings.gpu_share * 2:
        request[3] = int(rng.choice((1, 1, 1, 2, 4)))
        tolerates, allowed = "gpu", base == "gpu"
    elif dice < 0.15 and (base == "batch").any():
        tolerates = "batch"
        allowed = base != "gpu"
        if dice < 0.10:
            selector, allowed = {"pool": "batch"}, base == "batch"
    elif dice < 0.22 and (base == "memory").any():
        selector, allowed = {"pool": "memory"}, base == "memory"
    elif dice < 0.26:
        zone = int(rng.integers(3))
        selector, allowed = {ZONE: ZONES[zone]}, allowed & (fleet.zone == zone)
    replicas = int(np.clip(rng.lognormal(1.8, 0.9), 1, 60))
    work = Workload(f"w{index}", request, allowed, selector, tolerates, replicas)
    add_rules(settings, rng, work)
    return work


def add_rules(settings: Settings, rng: np.random.Generator, work: Workload) -> None:
    """Give some workloads anti-affinity, spread, affinity to another, or a host port."""
    dice = rng.random()
    if dice < 0.10:
        work.anti_affinity = True
    elif dice < 0.25:
        work.spread = int(rng.integers(2, 6)) if rng.random() < settings.max_skew_share else 1
    elif dice < 0.25 + settings.affinity_share:
        work.anchor = "pending"
    elif dice < 0.25 + settings.affinity_share + settings.host_port_share:
        work.host_port = 9000 + int(rng.integers(1000))
    if rng.random() < 0.06:
        work.kind = "StatefulSet"


def permitted(work: Workload, fleet: Fleet, counts: np.ndarray, anchors: np.ndarray | None) -> np.ndarray:
    """Nodes that would take one more pod of the workload."""
    mask = work.allowed & (fleet.free >= work.request).all(axis=1)
    if work.anti_affinity or work.host_port:
        mask &= counts == 0
    if work.spread:
        zones = np.bincount(fleet.zone, weights=counts, minlength=3)
        present = np.bincount(fleet.zone[work.allowed if work.selector else slice(None)], minlength=3) > 0
        mask &= zones[fleet.zone] + 1 - zones[present].min() <= work.spread
    if anchors is not None:
        mask &= anchors[fleet.zone] > 0
    return np.flatnonzero(mask)


def fill_workload(rng: np.random.Generator, work: Workload, fleet: Fleet, anchors: np.ndarray | None) -> None:
    """Place the replicas one by one on the least allocated of a random sample, as a scheduler would."""
    counts = np.zeros(len(fleet.kind))
    work.nodes = []
    for _ in range(work.replicas):
        nodes = permitted(work, fleet, counts, anchors)
        if not len(nodes):
            break
        sample = rng.choice(nodes, size=min(len(nodes), 60), replace=False)
        share = (fleet.free[sample, :2] / fleet.capacity[sample, :2]).mean(axis=1)
        node = int(sample[int(np.argmax(share))])
        fleet.free[node] -= work.request
        counts[node] += 1
        work.nodes.append(node)


def fill(settings: Settings, rng: np.random.Generator, fleet: Fleet) -> list[Workload]:
    """Workloads until the fleet is as full as 1.7 × the wanted utilisation (at most 92 %)."""
    peak = min(0.92, settings.utilisation * 1.7)
    total = fleet.capacity[:, :2].sum(axis=0)
    works, misses = list[Workload](), 0
    while (1 - fleet.free[:, :2].sum(axis=0) / total).max() < peak and misses < 60:
        work = draw_workload(settings, rng, fleet, len(works))
        anchors = None
        if work.anchor:
            anchored = [w for w in works if w.nodes and not w.tolerates and not w.selector]
            work.anchor = anchored[int(rng.integers(len(anchored)))].name if anchored else ""
            if anchored:
                chosen = next(w for w in anchored if w.name == work.anchor)
                anchors = np.bincount(fleet.zone[np.array(chosen.nodes)], minlength=3)
        fill_workload(rng, work, fleet, anchors)
        misses = misses + 1 if not work.nodes else 0
        if work.nodes:
            works.append(work)
    return works


def scale_down(settings: Settings, rng: np.random.Generator, fleet: Fleet, works: list[Workload]) -> None:
    """Drop random pods until the wanted utilisation; this is what breaks spreads and strands capacity."""
    total = fleet.capacity[:, :2].sum(axis=0)
    pods = [(w, i) for w, work in enumerate(works) for i in range(len(work.nodes or []))]
    dropped: set[tuple[int, int]] = set()
    for index in rng.permutation(len(pods)):
        if (1 - fleet.free[:, :2].sum(axis=0) / total).max() <= settings.utilisation:
            break
        w, i = pods[index]
        if len(works[w].nodes or []) == 1:
            continue
        fleet.free[(works[w].nodes or [])[i]] += works[w].request
        dropped.add((w, i))
    for w, work in enumerate(works):
        left = [n for i, n in enumerate(work.nodes or []) if (w, i) not in dropped]
        work.nodes = left or (work.nodes or [])[:1]


def node_object(fleet: Fleet, index: int) -> Raw:
    """A v1 Node."""
    name, cpu, memory, slots, gpus, _ = fleet.kind[index]
    zone, pool = ZONES[fleet.zone[index]], str(fleet.pool[index])
    base = pool.split("-")[0]
    amounts = {"cpu": f"{cpu}m", "memory": f"{memory}Mi", "pods": str(slots)}
    if gpus:
        amounts["nvidia.com/gpu"] = str(gpus)
    labels = {HOST: f"n{index:05d}", ZONE: zone, "topology.kubernetes.io/region": "us-east-1", TYPE: name}
    labels |= {"pool": base, "node-pool": pool, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    spec: Raw = {"providerID": f"aws:///{zone}/i-{index:05d}"}
    if base in {"batch", "gpu"}:
        spec["taints"] = [{"key": base, "value": "true", "effect": "NoSchedule"}]
    status = {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": f"n{index:05d}", "labels": labels},
        "spec": spec,
        "status": status,
    }


def pod_spec(work: Workload) -> Raw:
    """The pod template of a workload."""
    requests: dict[str, str] = {"cpu": f"{work.request[0]}m", "memory": f"{work.request[1]}Mi"}
    container: Raw = {"name": "c", "image": f"registry.example/{work.name}:1", "resources": {"requests": requests}}
    if work.request[3]:
        requests["nvidia.com/gpu"] = str(work.request[3])
        container["resources"] = {"requests": requests, "limits": {"nvidia.com/gpu": str(work.request[3])}}
    if work.host_port:
        container["ports"] = [{"containerPort": work.host_port, "hostPort": work.host_port}]
    spec: Raw = {"containers": [container]}
    mine = {"matchLabels": {"app": work.name}}
    affinity: Raw = {}
    if work.anti_affinity:
        term = {"topologyKey": HOST, "labelSelector": mine}
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if work.anchor:
        term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": work.anchor}}}
        affinity["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if affinity:
        spec["affinity"] = affinity
    if work.spread:
        constraint: Raw = {"maxSkew": work.spread, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [constraint | {"labelSelector": mine}]
    if work.tolerates:
        spec["tolerations"] = [{"key": work.tolerates, "operator": "Exists"}]
    if work.selector:
        spec["nodeSelector"] = dict(work.selector)
    return spec


def workload_objects(settings: Settings, rng: np.random.Generator, work: Workload) -> list[Raw]:
    """The controller, its pods, and perhaps a PodDisruptionBudget."""
    replicas = len(work.nodes or [])
    labels = {"app": work.name}
    body = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}}}
    top = "Deployment" if work.kind == "ReplicaSet" else "StatefulSet"
    out: list[Raw] = [_object("apps/v1", top, work.name, {"uid": f"{work.name}-top"}, body)]
    owner, uid = work.name, f"{work.name}-top"
    if work.kind == "ReplicaSet":
        owner, uid = f"{work.name}-abc", f"{work.name}-rs"
        meta: Raw = {"uid": uid, "ownerReferences": [_owner("Deployment", work.name, f"{work.name}-top")]}
        out.append(_object("apps/v1", "ReplicaSet", owner, meta, body))
    spec = pod_spec(work)
    for index, node in enumerate(work.nodes or []):
        meta = {"labels": labels, "uid": f"{work.name}-{index}", "ownerReferences": [_owner(work.kind, owner, uid)]}
        dice = rng.random()
        if dice < settings.pin_share / 2:
            meta["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
        elif dice < settings.pin_share:
            del meta["ownerReferences"]
        pod = _object("v1", "Pod", f"{work.name}-{index}", meta, spec | {"nodeName": f"n{node:05d}"})
        out.append(pod | {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
    if rng.random() < settings.budget_share:
        out.append(_budget(rng, work.name, replicas, labels))
    return out


def _object(version: str, kind: str, name: str, meta: Raw, spec: Raw) -> Raw:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "app"} | meta, "spec": spec}


def _owner(kind: str, name: str, uid: str) -> Raw:
    return {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid, "controller": True}


def _budget(rng: np.random.Generator, name: str, replicas: int, labels: dict[str, str]) -> Raw:
    blocked = rng.random() < 0.02
    allowed = 0 if blocked else max(1, replicas // 4)
    spec: Raw = {"maxUnavailable": allowed, "selector": {"matchLabels": labels}}
    status = {
        "disruptionsAllowed": allowed,
        "currentHealthy": replicas,
        "desiredHealthy": replicas - allowed,
        "expectedPods": replicas,
    }
    return _object("policy/v1", "PodDisruptionBudget", name, {}, spec) | {"status": status}


def daemon_objects(fleet: Fleet) -> list[Raw]:
    """Two DaemonSets that tolerate everything, with a pod on every node."""
    out: list[Raw] = []
    for name, cpu, memory in (("ds0", 100, 128), ("ds1", 50, 128)):
        requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
        container = {"name": "c", "image": f"registry.example/{name}:1", "resources": {"requests": requests}}
        spec: Raw = {"containers": [container], "tolerations": [{"operator": "Exists"}]}
        labels = {"app": name}
        template = {"metadata": {"labels": labels}, "spec": spec}
        body: Raw = {"selector": {"matchLabels": labels}, "template": template}
        out.append(_object("apps/v1", "DaemonSet", name, {"uid": name}, body))
        for node in range(len(fleet.kind)):
            meta: Raw = {"labels": labels, "ownerReferences": [_owner("DaemonSet", name, name)]}
            pod = _object("v1", "Pod", f"{name}-n{node:05d}", meta, spec | {"nodeName": f"n{node:05d}"})
            out.append(pod | {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
    return out


def generate(settings: Settings) -> Raw:
    """The cluster as a kubectl List; the same settings give the same bytes."""
    rng = np.random.default_rng(settings.seed)
    fleet = build_fleet(settings, rng)
    works = fill(settings, rng, fleet)
    scale_down(settings, rng, fleet, works)
    items = [node_object(fleet, index) for index in range(len(fleet.kind))]
    items += [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "app", "labels": {}}}]
    items += daemon_objects(fleet)
    for work in works:
        items += workload_objects(settings, rng, work)
    return {"apiVersion": "v1", "kind": "List", "items": items}


def main(arguments: list[str]) -> int:
    """Parse, generate, write."""
    parser = argparse.ArgumentParser(description="Write a seeded cluster as a kubectl List.")
    parser.add_argument("--nodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--utilisation", type=float, default=0.45)
    parser.add_argument("--node-classes", type=int, default=27)
    parser.add_argument("--gpu-share", type=float, default=0.0)
    parser.add_argument("--dominant", choices=("", "cpu", "memory"), default="")
    parser.add_argument("--out", type=Path, default=None)
    options = vars(parser.parse_args(arguments))
    out = options.pop("out")
    text = json.dumps(generate(Settings(**options)))
    _ = sys.stdout.write(text + "\n") if out is None else out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
