"""The instances that are measured: seeded clusters of every kind, read by the whole pipeline."""

import pickle
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from ksolver_cli.constraints.eviction import eviction_blockers, node_blockers
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from ksolver_cli.solve.build import Pins, build, model_of
from ksolver_cli.solve.problem import Problem
from tools.generate_cluster import PRICES, Settings, generate

TYPE = "node.kubernetes.io/instance-type"


@dataclass(frozen=True)
class Instance:
    """A named cluster to solve."""

    name: str
    settings: Settings


def instance(nodes: int, seed: int) -> Instance:
    """Size and seed decide everything: utilisation 0.3–0.8, node classes, scarce resource, GPUs, affinity, pins."""
    utilisation = (0.45, 0.3, 0.6, 0.45, 0.8, 0.5, 0.35, 0.7)[seed % 8]
    classes = (27, 12, 45, 5, 27, 60, 27, 300)[seed % 8]
    dominant = ("", "cpu", "memory")[seed % 3]
    return Instance(
        f"{nodes}-{seed}",
        Settings(
            nodes=nodes,
            seed=seed,
            utilisation=utilisation,
            node_classes=min(classes, max(5, nodes // 3)),
            dominant=dominant,
            gpu_share=0.05 if seed % 4 == 3 else 0.0,
            affinity_share=0.05 if seed % 3 == 1 else 0.02,
            pin_share=0.02 if seed % 5 == 2 else 0.005,
        ),
    )


def read(item: Instance) -> Problem:
    """Generate, write, read, normalise, build."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_bytes(orjson.dumps(generate(item.settings)))
        cluster = normalise(read_snapshot([path]))
    return problem_of(cluster)


def stored(item: Instance, folder: Path | None) -> Problem:
    """The same, kept in the folder between runs if one is given (making one takes longer than solving it)."""
    if folder is None:
        return read(item)
    path = folder / f"{item.name}.pkl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(read(item)))
    problem: Problem = pickle.loads(path.read_bytes())
    return problem


def problem_of(cluster: Cluster) -> Problem:
    """The problem of a cluster whose nodes are of the generator's types."""
    prices = {node.name: PRICES.get(node.labels.get(TYPE, "")) for node in cluster.nodes}
    pins = Pins(frozenset(eviction_blockers(cluster)), frozenset(node_blockers(cluster, prices)))
    return build(model_of(cluster), prices, pins)
