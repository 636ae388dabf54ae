"""Small clusters as raw objects, read by the whole pipeline."""

import json
from pathlib import Path

from ksolver_cli.constraints.eviction import eviction_blockers, node_blockers
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.solve.build import Pins, build, model_of
from ksolver_cli.solve.options import NO_OPTIONS, Options
from ksolver_cli.solve.problem import Problem

Raw = dict[str, object]
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def node(name: str, cpu: str = "4", zone: str = "a", **spec: object) -> Raw:
    amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
    labels = {HOST: name, ZONE: zone}
    status = {"allocatable": amounts, "capacity": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def pod(name: str, where: str, cpu: str = "1", app: str = "web", owner: str = "ReplicaSet", **spec: object) -> Raw:
    reference = {"apiVersion": "apps/v1", "kind": owner, "name": app, "uid": app, "controller": True}
    meta: Raw = {"name": name, "namespace": "app", "labels": {"app": app}}
    if owner:
        meta["ownerReferences"] = [reference]
    body: Raw = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]} | spec
    if where:
        body["nodeName"] = where
    phase = "Running" if where else "Pending"
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": body, "status": {"phase": phase}}


def anti_affinity(app: str = "web", key: str = HOST) -> Raw:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def spread(app: str = "web", key: str = ZONE, skew: int = 1) -> list[Raw]:
    selector = {"matchLabels": {"app": app}}
    return [{"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]


def cluster_of(folder: Path, *objects: Raw) -> Cluster:
    path = folder / "list.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}), encoding="utf-8")
    return normalise(read_snapshot([path]))


def problem_of(
    cluster: Cluster, price: int = 1_000_000, unpriced: tuple[str, ...] = (), options: Options = NO_OPTIONS
) -> Problem:
    prices = {n.name: None if n.name in unpriced else price for n in cluster.nodes}
    pins = Pins(frozenset(eviction_blockers(cluster)), frozenset(node_blockers(cluster, prices)))
    return build(model_of(cluster, options), prices, pins, options)
