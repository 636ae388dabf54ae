"""Random nodes: labels that exist on some only, taints, room of every kind."""

from random import Random
from typing import Any

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOST = "kubernetes.io/hostname"
TAINTS = (
    {"key": "gpu", "effect": "NoSchedule"},
    {"key": "gpu", "value": "yes", "effect": "NoExecute"},
    {"key": "team", "value": "red", "effect": "NoSchedule"},
    {"key": "team", "value": "", "effect": "PreferNoSchedule"},
    {"key": "level", "value": "7", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
)
FEATURES = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport")


def nodes(random: Random, count: int) -> list[Json]:
    """Nodes n0, n1, …"""
    return [node(random, f"n{index}") for index in range(count)]


def node(random: Random, name: str) -> Json:
    spec: Json = {}
    if random.random() < 0.22:
        spec["taints"] = random.sample(TAINTS, random.choice((1, 1, 2)))
    if random.random() < 0.08:
        spec["unschedulable"] = True
    room = allocatable(random)
    status: Json = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    if random.random() < 0.3:
        status["declaredFeatures"] = sorted(random.sample(FEATURES, random.randint(0, len(FEATURES))))
    metadata = {"name": name, "labels": labels(random, name)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def labels(random: Random, name: str) -> Json:
    found: Json = {}
    if random.random() < 0.93:
        found[HOST] = name
    if random.random() < 0.9:
        found[ZONE] = random.choice(("za", "zb", "zc"))
        found[REGION] = "r1" if random.random() < 0.9 else "r2"
    if random.random() < 0.15:
        found["failure-domain.beta.kubernetes.io/zone"] = random.choice(("za", "zb"))
    if random.random() < 0.6:
        found["team"] = random.choice(("red", "blue", ""))
    if random.random() < 0.6:
        found["gen"] = random.choice(("3", "4", "7", "-2", "08", "x"))
    found["kubernetes.io/os"] = random.choice(("linux", "linux", "windows"))
    return found


def allocatable(random: Random) -> Json:
    room: Json = {
        "cpu": random.choice(("1", "2", "3920m", "8", "8", "16", "0.5")),
        "memory": random.choice(("1Gi", "2000000Ki", "4Gi", "16G", "32Gi")),
        "pods": random.choice(("1", "3", "8", *["110"] * 6)),
    }
    if random.random() < 0.8:
        room["ephemeral-storage"] = random.choice(("5Gi", "20Gi"))
    if random.random() < 0.3:
        room["example.com/gpu"] = random.choice(("0", "1", "4"))
    if random.random() < 0.2:
        room["hugepages-2Mi"] = random.choice(("0", "64Mi", "512Mi"))
    return room
