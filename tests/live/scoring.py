"""Random clusters as JSON that make every score plugin speak, and the scores that the replay gives them."""

from random import Random
from typing import Any

import numpy as np

from ksolver_cli.constraints.matrix import static_feasibility
from ksolver_cli.domain.verdict import Family
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.plan.replay.filters import open_nodes
from ksolver_cli.plan.replay.occupancy import Board
from ksolver_cli.plan.scores.candidates import candidates
from ksolver_cli.plan.scores.profile import PROFILE, total
from ksolver_cli.snapshot.model import Snapshot

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
MIB = 2**20
IMAGE_SIZES = (90, 400, 1400)


def board(cluster: Json, version: str = "v1.36.3") -> Board:
    """The replay's board of a cluster given as lists of objects by kind."""
    kinds = {key: tuple(value) for key, value in cluster.items() if isinstance(value, list)}
    seen = normalise(Snapshot(objects=kinds, server_version=version), complete=True)
    classes = classify(seen)
    return Board(seen, classes, static_feasibility(seen, classes, ignore=(Family.NODE_UNSCHEDULABLE,)))


def scores(on: Board, pod: str) -> dict[str, dict[str, Any]]:
    """Node → total and weighted plugin scores for a pod of the board, as if it had just been evicted.

    A plugin that has nothing to say is left out; so are constant parts that the real one adds to every node alike.
    """
    index = on.pod_index[pod]
    now = on.start.copy()
    on.leave(now, now.ids, np.array([index]), on.pod_node[[index]])
    crew = on.crew([int(on.pod_class[index])])
    nodes = np.flatnonzero(open_nodes(crew, now)[0])
    if not len(nodes):
        return {}
    asked = candidates(on, now, crew, nodes, np.array([len(nodes)]), now.ids)
    sums = total(asked)
    parts = {name: plugin(asked) for name, (plugin, _) in PROFILE.items()}
    return {
        on.cluster.nodes[n].name: {
            "total": int(sums[i]),
            "plugins": {name: int(part[i]) for name, part in parts.items() if part is not None},
        }
        for i, n in enumerate(nodes)
    }


def random_cluster(seed: int) -> Json:
    """Nodes in zones with soft taints and images, and workloads with preferences of every kind."""
    random = Random(seed)
    nodes = [_node(random, i) for i in range(random.randint(4, 14))]
    workloads = [_workload(random, i) for i in range(random.randint(3, 7))]
    pods = [p for w in workloads for p in _pods(random, w, nodes)]
    sets = [_replica_set(w) for w in workloads if w["owned"]]
    services = [_service(w) for w in workloads if random.random() < 0.4]
    return {"nodes": nodes, "pods": pods, "replicasets": sets, "services": services, "namespaces": [_namespace()]}


def _namespace() -> Json:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}


def _node(random: Random, number: int) -> Json:
    name = f"n{number}"
    labels = {HOST: name, "disk": random.choice(["ssd", "hdd"])}
    if random.random() < 0.9:
        labels[ZONE] = f"z{random.randrange(3)}"
    taints = [{"key": k, "effect": "PreferNoSchedule"} for k in ("old", "busy") if random.random() < 0.3]
    images = [
        {"names": [f"registry.example/i{i}:v1"], "sizeBytes": size * MIB}
        for i, size in enumerate(IMAGE_SIZES)
        if random.random() < 0.5
    ]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints} if taints else {},
        "status": {
            "allocatable": {
                "cpu": f"{random.choice([4000, 7910, 15890])}m",
                "memory": f"{random.choice([7, 15, 30])}Gi",
                "pods": "30",
            },
            "images": images,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def _workload(random: Random, number: int) -> Json:
    requests = random.choice(
        [
            {},
            {"cpu": "250m"},
            {"memory": "300Mi"},
            {"cpu": "500m", "memory": "1Gi"},
            {"cpu": "1300m", "memory": "700Mi"},
        ]
    )
    container = {
        "name": "c",
        "image": f"registry.example/i{random.randrange(3)}:v1",
        "resources": {"requests": requests},
    }
    spec: Json = {"containers": [container]}
    if random.random() < 0.3:
        spec["containers"].append({"name": "side", "image": "registry.example/side", "resources": {}})
    if random.random() < 0.3:
        spec["tolerations"] = [{"key": "old", "operator": "Exists"}]
    if random.random() < 0.4:
        spec["topologySpreadConstraints"] = [_soft_spread(random, number) for _ in range(random.randint(1, 2))]
    affinity = _affinity(random, number)
    if affinity:
        spec["affinity"] = affinity
    return {"name": f"w{number}", "spec": spec, "owned": random.random() < 0.8, "size": random.randint(1, 6)}


def _soft_spread(random: Random, number: int) -> Json:
    return {
        "maxSkew": random.randint(1, 3),
        "topologyKey": random.choice([ZONE, HOST]),
        "whenUnsatisfiable": random.choice(["ScheduleAnyway", "ScheduleAnyway", "DoNotSchedule"]),
        "labelSelector": {"matchLabels": {"app": f"w{number}"}},
    }


def _affinity(random: Random, number: int) -> Json:
    affinity: Json = {}
    if random.random() < 0.3:
        term = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
        preferred = [{"weight": random.randint(1, 100), "preference": term}]
        affinity["nodeAffinity"] = {"preferredDuringSchedulingIgnoredDuringExecution": preferred}
    for kind in ("podAffinity", "podAntiAffinity"):
        if random.random() < 0.3:
            near = {
                "topologyKey": random.choice([ZONE, HOST]),
                "labelSelector": {"matchLabels": {"app": f"w{random.randrange(number + 1)}"}},
            }
            weighted = [{"weight": random.randint(1, 100), "podAffinityTerm": near}]
            affinity[kind] = {"preferredDuringSchedulingIgnoredDuringExecution": weighted}
    if random.random() < 0.15:
        near = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": f"w{number}"}}}
        affinity.setdefault("podAffinity", {})["requiredDuringSchedulingIgnoredDuringExecution"] = [near]
    return affinity


def _pods(random: Random, workload: Json, nodes: list[Json]) -> list[Json]:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": workload["name"], "uid": workload["name"]}
    references = [owner | {"controller": True}] if workload["owned"] else []
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"{workload['name']}-{i}",
                "namespace": "default",
                "uid": f"{workload['name']}-{i}",
                "labels": {"app": workload["name"]},
                "ownerReferences": references,
            },
            "spec": workload["spec"] | {"nodeName": random.choice(nodes)["metadata"]["name"]},
            "status": {"phase": "Running"},
        }
        for i in range(workload["size"])
    ]


def _replica_set(workload: Json) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": workload["name"], "namespace": "default", "uid": workload["name"]},
        "spec": {"replicas": workload["size"], "selector": {"matchLabels": {"app": workload["name"]}}},
    }


def _service(workload: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": workload["name"], "namespace": "default"},
        "spec": {"selector": {"app": workload["name"]}},
    }
