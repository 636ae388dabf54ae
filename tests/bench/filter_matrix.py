"""How long the Filter phase takes for many pods on many nodes, in array operations.

`python -m tests.bench.filter_matrix [nodes] [pods] [pending]`: every pod of the openb snapshot as if just evicted, then
the pending pods of a made-up cluster with spread and anti-affinity (5,000, 150,000 and 1,000 by default). The aim:
seconds.
"""

import random
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from ksolver_cli.constraints.matrix import PASS, verdict_matrix
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.labels import LabelSelector, Operator, Requirement
from ksolver_cli.domain.node import Node, Taint
from ksolver_cli.domain.pod import Effect, Phase, Pod, PodAffinityTerm, PodSpec, SpreadConstraint, Toleration
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.read import read_snapshot
from tests.paths import DATA

ZONE, HOST, POOL = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "pool"
GPU = Taint("gpu", "", Effect.NO_SCHEDULE)
T = TypeVar("T")


def timed(what: str, work: Callable[[], T]) -> T:
    start = time.monotonic()
    result = work()
    sys.stdout.write(f"{what}: {time.monotonic() - start:.2f} s\n")
    return result


def made_node(number: int) -> Node:
    pool = number % 9
    room = (4000, 8000, 16000)[pool % 3]
    return Node(
        name=f"n{number}",
        allocatable={"cpu": room * 4, "memory": room << 22, "pods": 110},
        labels={ZONE: f"z{number % 3}", HOST: f"n{number}", POOL: f"p{pool}"},
        taints=(GPU,) if pool == 8 else (),
    )


def made_spec(app: str, rng: random.Random) -> PodSpec:
    own = LabelSelector((Requirement("app", Operator.IN, (app,)),))
    spread, apart = rng.random() < 0.4, rng.random() < 0.25
    return PodSpec(
        requests={"cpu": rng.choice((100, 250, 500)), "memory": rng.choice((128, 256, 512)) << 20},
        node_selector=((POOL, f"p{rng.randrange(9)}"),) if rng.random() < 0.1 else (),
        tolerations=(Toleration("gpu", "Exists"),) if rng.random() < 0.1 else (),
        spread=(SpreadConstraint(1, ZONE, True, own),) if spread else (),
        anti_affinity=(PodAffinityTerm(HOST, own, ("default",)),) if apart else (),
    )


def made_cluster(nodes: int, pods: int, pending: int, seed: int = 1) -> Cluster:
    rng = random.Random(seed)
    specs = [(f"app{number}", made_spec(f"app{number}", rng)) for number in range(max(1, pods // 60))]

    def pod(number: int, node_name: str) -> Pod:
        app, spec = specs[number % len(specs)]
        phase = Phase.RUNNING if node_name else Phase.PENDING
        return Pod("default", f"{app}-{number}", spec, labels={"app": app}, node_name=node_name, phase=phase)

    placed = [pod(number, f"n{rng.randrange(nodes)}") for number in range(pods)]
    waiting = [pod(pods + number, "") for number in range(pending)]
    return Cluster(tuple(map(made_node, range(nodes))), (*placed, *waiting), complete=True)


def main(nodes: int = 5000, pods: int = 150_000, pending: int = 1000) -> None:
    """Measure both clusters and print what was found beside the times."""
    path = DATA / "openb" / "k8s_snapshot_gpuspec33_load55.json.gz"
    if path.exists():
        openb = normalise(read_snapshot([path]))
        matrix = timed("openb, 4,640 pods × 1,523 nodes", lambda: verdict_matrix(openb, openb.pods))
        sys.stdout.write(f"  {(matrix == PASS).mean():.1%} of {matrix.size} pairs pass\n")
    cluster = made_cluster(nodes, pods, pending)
    state = timed(f"state of {pods} pods on {nodes} nodes", lambda: State(cluster))
    waiting = [pod for pod in cluster.pods if not pod.is_bound]
    matrix = timed(f"{pending} pending pods × {nodes} nodes", lambda: verdict_matrix(cluster, waiting, state))
    sys.stdout.write(f"  {(matrix == PASS).mean():.1%} of {matrix.size} pairs pass\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
