"""A world on the control plane: filled by the real scheduler, scaled down at random, and looked at."""

import random
from collections import Counter
from typing import Any

from tests.live.executed.objects import controller, drivers, finished, nodes, surroundings, workloads
from tests.live.executed.world import LOST, PRICES, TYPE, App, World
from tests.live.plane import Plane
from tests.live.process import ServerError

_SETTLES = 60.0
_COST = "controller.kubernetes.io/pod-deletion-cost"


class Cluster:
    """What stands on the plane of a world."""

    def __init__(self, plane: Plane, world: World) -> None:
        self.plane = plane
        self.world = world
        self._sizes = {f"{app.namespace}/{app.name}": app.replicas for app in world.apps}

    def build(self) -> None:
        """Fill the nodes at peak, then scale down to what is analysed."""
        for name in self.world.namespaces:
            self.plane.namespace(name)
        self.plane.add_nodes(*nodes(self.world))
        self.plane.create("apis/storage.k8s.io/v1/csinodes", *drivers(self.world))
        self.plane.apply(*surroundings(self.world))
        self.plane.apply(*self._shuffled())
        self.plane.wait("the peak is scheduled", self._peaked, _SETTLES)
        self._scale_down()
        self.settle()
        self.plane.apply(finished(len(self.world.nodes)))
        self.plane.wait("the job is done", self._job_done, _SETTLES)

    def settle(self) -> None:
        """Wait until every workload is whole; says what is not where that does not come."""
        try:
            self.plane.wait("every workload is whole", self.is_whole, _SETTLES)
        except ServerError as error:
            wanted = self.wanted()
            short = {
                name: f"{ready} of {wanted[name]}" for name, ready in self.ready().items() if ready != wanted[name]
            }
            raise AssertionError(f"pending {self.pending()}, ready {short}") from error

    def _shuffled(self) -> list[dict[str, object]]:
        objects = list(workloads(self.world))
        random.Random(self.world.seed).shuffle(objects)
        return objects

    def _job_done(self) -> bool:
        (job,) = self.plane.items("apis/batch/v1/jobs")
        return bool(job.get("status", {}).get("completionTime"))

    def _peaked(self) -> bool:
        """Every pod is there, and has a node or the scheduler's word that it fits nowhere."""
        found = [pod for pod in self.pods() if pod["metadata"]["labels"]["app"] not in ("agent", "logs")]
        wanted = sum(app.peak for app in self.world.apps) + 1
        return len(found) == wanted and all(_is_running(pod) or _is_refused(pod) for pod in found)

    def _scale_down(self) -> None:
        """Which pods of a Deployment go is drawn: that is what leaves holes all over a cluster."""
        rng = random.Random(self.world.seed + 1)
        for pod in self.pods():
            path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
            cost = {"metadata": {"annotations": {_COST: str(rng.randint(0, 1000) + 2000 * _is_running(pod))}}}
            header = {"Content-Type": "application/merge-patch+json"}
            self.plane.admin.patch(path, json=cost, headers=header).raise_for_status()
        self._sizes = {f"{app.namespace}/{app.name}": self._affordable(app) for app in self.world.apps}
        wanted = (controller(app, self._sizes[f"{app.namespace}/{app.name}"]) for app in self.world.apps)
        self.plane.apply(*wanted)

    def _affordable(self, app: App) -> int:
        """Replicas to keep: what the world says, or what the peak left room for; a StatefulSet keeps its first ones."""
        if app.name == LOST:
            return app.replicas
        mine = [p for p in self.pods() if _is_running(p) and p["metadata"]["labels"]["app"] == app.label]
        names = {p["metadata"]["name"] for p in mine if p["metadata"]["namespace"] == app.namespace}
        if app.kind != "StatefulSet":
            return min(app.replicas, len(names))
        return next(n for n in range(app.replicas + 1) if n == app.replicas or f"{app.name}-{n}" not in names)

    def pods(self) -> list[dict[str, Any]]:
        """Pods that are not on their way out."""
        return [p for p in self.plane.items("api/v1/pods") if "deletionTimestamp" not in p["metadata"]]

    def pending(self) -> list[str]:
        """Pods without a node, but for the one that fits nowhere from the start."""
        waiting = [p["metadata"] for p in self.plane.items("api/v1/pods") if not p["spec"].get("nodeName")]
        return sorted(f"{m['namespace']}/{m['name']}" for m in waiting if m["labels"]["app"] != LOST)

    def ready(self) -> dict[str, int]:
        """Ready replicas of each controller, by kind/namespace/name."""
        found = {}
        for kind in ("deployments", "statefulsets"):
            for item in self.plane.items(f"apis/apps/v1/{kind}"):
                meta, status = item["metadata"], item["status"]
                current = status.get("observedGeneration") == meta["generation"]
                ready = status.get("readyReplicas", 0) if status.get("replicas", 0) == item["spec"]["replicas"] else -1
                found[f"{meta['namespace']}/{meta['name']}"] = ready if current else -1
        return found

    def wanted(self) -> dict[str, int]:
        """Ready replicas that each controller should have."""
        return {name: 0 if name.endswith(f"/{LOST}") else size for name, size in self._sizes.items()}

    def is_whole(self) -> bool:
        """Nothing pends, nothing is on its way out, every controller has its replicas, every budget knows it."""
        if self.pending() or self.ready() != self.wanted():
            return False
        return len(self.pods()) == len(self.plane.items("api/v1/pods")) and self._budgets_settled()

    def _budgets_settled(self) -> bool:
        budgets = self.plane.items("apis/policy/v1/poddisruptionbudgets")
        for item in budgets:
            name = f"{item['metadata']['namespace']}/{item['metadata']['name']}"
            if item.get("status", {}).get("currentHealthy") != self._sizes[name]:
                return False
        return True

    def node_names(self) -> set[str]:
        """Nodes that are left."""
        return {item["metadata"]["name"] for item in self.plane.items("api/v1/nodes")}

    def cost(self) -> int:
        """Micro-dollars an hour of the nodes that are left."""
        return sum(PRICES[item["metadata"]["labels"][TYPE]] for item in self.plane.items("api/v1/nodes"))

    def residents(self) -> Counter[str]:
        """Pods on each node that no DaemonSet owns."""
        found: Counter[str] = Counter()
        for pod in self.plane.items("api/v1/pods"):
            owners = pod["metadata"].get("ownerReferences", [])
            if pod["spec"].get("nodeName") and not any(o["kind"] == "DaemonSet" for o in owners):
                found[pod["spec"]["nodeName"]] += 1
        return found


def _is_running(pod: dict[str, Any]) -> bool:
    return bool(pod["status"].get("phase") == "Running")


def _is_refused(pod: dict[str, Any]) -> bool:
    return any(c.get("reason") == "Unschedulable" for c in pod["status"].get("conditions", []))
