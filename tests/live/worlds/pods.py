"""Random pods: what they ask for, where they may go, and those that are there already."""

from random import Random
from typing import Any

from tests.live.worlds.terms import APPS, NAMESPACES, node_affinity, pod_affinity, spread, tolerations

Json = dict[str, Any]

THEMES = ("room", "taints", "affinity", "ports", "spread", "pods", "volumes", "devices", "deep")
"""What a world dwells on; a few of them in each, so that pods still find a node now and then."""

CPU = ("50m", "0.1", "100m", "500m", "1", "1500m", "333u", "2")
MEMORY = ("64Mi", "128M", "500M", "1Gi", "1.5Gi", "3000000Ki", "100m")
IMAGE = "registry.example/app:1"


def requests(random: Random, themes: set[str]) -> Json:
    found: Json = {}
    small = "room" not in themes
    if random.random() < 0.75:
        found["cpu"] = random.choice(CPU[:4] if small else CPU)
    if random.random() < 0.75:
        found["memory"] = random.choice(MEMORY[:3] if small else MEMORY)
    if "room" in themes:
        if random.random() < 0.2:
            found["ephemeral-storage"] = random.choice(("1Gi", "6Gi", "500M"))
        if random.random() < 0.2:
            found["example.com/gpu"] = random.choice(("1", "2", "0"))
        if random.random() < 0.15:
            found["hugepages-2Mi"] = random.choice(("2Mi", "128Mi"))
    return found


def container(random: Random, name: str, themes: set[str]) -> Json:
    asked = requests(random, themes)
    found: Json = {"name": name, "image": IMAGE, "resources": {"requests": asked}}
    fixed = {key: value for key, value in asked.items() if "/" in key or key.startswith("hugepages")}
    if fixed:
        found["resources"]["limits"] = fixed
    if "ports" in themes and random.random() < 0.7:
        found["ports"] = [port(random) for _ in range(random.choice((1, 1, 2)))]
    return found


def port(random: Random) -> Json:
    number = random.choice((80, 80, 443, 53))
    found: Json = {"containerPort": number}
    if random.random() < 0.85:
        found["hostPort"] = number
    if random.random() < 0.4:
        found["protocol"] = random.choice(("TCP", "UDP", "SCTP"))
    if random.random() < 0.4:
        found["hostIP"] = random.choice(("0.0.0.0", "10.0.0.1", "10.0.0.2", "127.0.0.1"))
    return found


def spec(random: Random, themes: set[str], strength: float = 1.0) -> Json:
    """A pod spec; `strength` scales how often the constraints of its themes appear."""

    def on(theme: str, share: float) -> bool:
        return theme in themes and random.random() < share * strength

    found: Json = {"containers": [container(random, f"c{i}", themes) for i in range(random.choice((1, 1, 2)))]}
    if "room" in themes and random.random() < 0.4:
        found["initContainers"] = [init(random, f"i{i}", themes) for i in range(random.choice((1, 2, 3)))]
    if on("room", 0.15):
        found["overhead"] = {"cpu": "250m", "memory": "120Mi"}
    if on("room", 0.2):
        found["resources"] = {"requests": {"cpu": random.choice(("1", "300m", "3")), "memory": "200Mi"}}
    if on("taints", 0.6):
        found["tolerations"] = tolerations(random)
    affinity: Json = {}
    if on("affinity", 0.7):
        affinity["nodeAffinity"] = node_affinity(random)
    if on("affinity", 0.4):
        pair = random.choice((("team", "red"), ("kubernetes.io/os", "linux"), ("gen", "7"), ("team", "")))
        found["nodeSelector"] = dict([pair])
    affinity |= pod_affinity(random, 0.55 * strength) if "pods" in themes else {}
    if affinity:
        found["affinity"] = affinity
    if on("spread", 0.9):
        found["topologySpreadConstraints"] = distinct([spread(random) for _ in range(random.choice((1, 1, 2)))])
    if on("deep", 0.7):
        deepen(random, found)
    return found


def deepen(random: Random, found: Json) -> None:
    """Things of a spec that nodes must declare that they can do."""
    if random.random() < 0.4:
        found["containers"][0]["restartPolicyRules"] = [
            {
                "action": random.choice(("RestartAllContainers", "Restart")),
                "exitCodes": {"operator": "In", "values": [3]},
            }
        ]
    if random.random() < 0.4:
        found["hostNetwork"], found["hostUsers"] = True, random.random() < 0.3


def distinct(constraints: list[Json]) -> list[Json]:
    """The API server refuses two constraints with the same key and mode."""
    return list({(c["topologyKey"], c["whenUnsatisfiable"]): c for c in constraints}.values())


def init(random: Random, name: str, themes: set[str]) -> Json:
    found = container(random, name, themes - {"ports"})
    if random.random() < 0.4:
        found["restartPolicy"] = "Always"
    return found


def pod_labels(random: Random) -> Json:
    found: Json = {"app": random.choice(APPS)} if random.random() < 0.9 else {}
    if random.random() < 0.4:
        found["ver"] = random.choice("12")
    return found


def pod(name: str, namespace: str, labels: Json, body: Json) -> Json:
    metadata = {"name": name, "namespace": namespace, "labels": labels, "uid": f"uid-{name}"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body, "status": {"phase": "Pending"}}


def asked(random: Random, themes: set[str]) -> Json:
    """The pod to place."""
    body = spec(random, themes)
    if "affinity" in themes and random.random() < 0.06:
        body["nodeName"] = f"n{random.randint(0, 4)}"
    return pod("p", random.choice(NAMESPACES), pod_labels(random), body)


def present(random: Random, name: str, nodes: int, themes: set[str]) -> Json:
    """A pod that is there already, on a node or on its way, some of them leaving or done."""
    body = spec(random, themes, 0.5)
    found = pod(name, random.choice(NAMESPACES), pod_labels(random), body)
    roll = random.random()
    if roll < 0.9:
        body["nodeName"] = f"n{random.randrange(nodes)}" if roll < 0.87 else "gone"
        found["status"]["phase"] = random.choice(("Running", "Running", "Running", "Pending"))
    if random.random() < 0.08:
        found["status"]["phase"] = random.choice(("Succeeded", "Failed"))
    if random.random() < 0.1:
        found["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}
    if "deep" in themes and "nodeName" in body and random.random() < 0.4:
        resize(random, found)
    return found


def resize(random: Random, found: Json) -> None:
    """A pod whose resources are being changed in place: what it holds is more than what it asks for, or less."""
    held = {"cpu": random.choice(CPU[:7]), "memory": random.choice(MEMORY[:5])}
    found["status"]["containerStatuses"] = [
        {"name": c["name"], "allocatedResources": held, "resources": {"requests": held}}
        for c in found["spec"]["containers"]
    ]
    if random.random() < 0.3:
        reason = random.choice(("Infeasible", "Deferred"))
        found["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
