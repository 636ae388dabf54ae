"""The oracle and the scheduler of the control plane, side by side: same pods, same nodes, same choice."""

import random
from typing import Any

import pytest

from tests.live.oracle import Json, Oracle
from tests.live.plane import Plane

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
PODS = "api/v1/namespaces/agree/pods"


def node(draw: random.Random, number: int) -> Json:
    name = f"agree-{number:02d}"
    labels = {HOST: name, ZONE: draw.choice(["za", "zb", "zc"]), "disk": draw.choice(["ssd", "hdd"])}
    taints = draw.choice(
        [[], [], [{"key": "team", "value": "red", "effect": draw.choice(["NoSchedule", "PreferNoSchedule"])}]]
    )
    room = {"cpu": draw.choice(["2", "4", "8"]), "memory": draw.choice(["4Gi", "8Gi"]), "pods": "20"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": taints},
        "status": {"allocatable": room, "capacity": room},
    }


def pod(draw: random.Random, number: int) -> Json:
    app = draw.choice(["web", "cache", "batch"])
    mine = {"matchLabels": {"app": app}}
    requests = {"cpu": draw.choice(["100m", "500m", "1500m"]), "memory": draw.choice(["128Mi", "1Gi", "2500Mi"])}
    spec: Json = {"containers": [{"name": "c", "image": "registry.example/app:1", "resources": {"requests": requests}}]}
    if draw.random() < 0.3:
        spec["tolerations"] = [{"key": "team", "operator": "Exists"}]
    if draw.random() < 0.3:
        spec["nodeSelector"] = {"disk": draw.choice(["ssd", "hdd"])}
    if draw.random() < 0.4:
        hard = draw.choice(["DoNotSchedule", "ScheduleAnyway"])
        spread = {
            "maxSkew": 1,
            "topologyKey": draw.choice([ZONE, HOST]),
            "whenUnsatisfiable": hard,
            "labelSelector": mine,
        }
        spec["topologySpreadConstraints"] = [spread]
    if draw.random() < 0.4:
        term = {"topologyKey": draw.choice([ZONE, HOST]), "labelSelector": mine}
        wish = {"weight": draw.randint(1, 100), "podAffinityTerm": term}
        spec["affinity"] = draw.choice([
            {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}},
            {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}},
            {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}},
        ])  # fmt: skip
    meta = {"name": f"p{number}", "namespace": "agree", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def outcome(plane: Plane, name: str) -> tuple[str, str]:
    """Node of the pod once it has one, or the scheduler's reason why not."""
    found: dict[str, Any] = {}

    def decided() -> bool:
        found.update(plane.admin.get(f"/{PODS}/{name}").json())
        return bool(found["spec"].get("nodeName") or unschedulable(found))

    plane.wait(f"pod {name} is decided", decided)
    return found["spec"].get("nodeName", ""), unschedulable(found)


def unschedulable(found: dict[str, Any]) -> str:
    conditions = found["status"].get("conditions", [])
    return "".join(c["message"] for c in conditions if c["type"] == "PodScheduled" and c["status"] == "False")


@pytest.fixture(scope="module")
def seed() -> int:
    return random.SystemRandom().randrange(1_000_000)


def test_each_pod_goes_where_the_oracle_s_scores_point(clean_plane: Plane, oracle: Oracle, seed: int) -> None:
    draw = random.Random(seed)
    clean_plane.namespace("agree")
    clean_plane.add_nodes(*(node(draw, number) for number in range(8)))
    placed = 0
    for number in range(60):
        cluster = {key: clean_plane.items(f"api/v1/{key}") for key in ("nodes", "pods", "namespaces")}
        wanted = pod(draw, number)
        said = oracle.score(cluster, wanted)
        clean_plane.create(PODS, wanted)
        host, why = outcome(clean_plane, wanted["metadata"]["name"])
        about = f"seed {seed}, pod {number}: {host or why}, oracle: {said}"
        if host:
            totals = {name: score["total"] for name, score in said["nodes"].items()}
            assert totals.get(host) == max(totals.values(), default=None), about
            placed += 1
        else:
            assert not said["nodes"], about
            reasons = {reason for rejection in said["rejected"].values() for reason in rejection["reasons"]}
            assert all(reason in why for reason in reasons), about
            # Left pending it could be placed later, between the next look at the cluster and the next pod.
            clean_plane.kubectl("delete", "pod", wanted["metadata"]["name"], "-n", "agree", "--now")
    assert placed > 10, "a run that places next to nothing proves nothing"
