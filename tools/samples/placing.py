"""Places the demo's pods as a busy cluster would have them: least allocated first, by the real rules, then scaled
down.
"""

import random

from ksolver_cli.constraints.registry import prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.pod import Pod
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from tools.samples.world import Raw, World


def place(world: World, seed: int) -> None:
    """Give every unplaced pod of a controller a node; pods that fit nowhere stay pending."""
    raw = {f"{p['metadata']['namespace']}/{p['metadata']['name']}": p for p in world.objects["pods"]}
    cluster = normalise(Snapshot({kind: tuple(items) for kind, items in world.objects.items()}), complete=True)
    state = State(cluster)
    waiting = [pod for pod in cluster.pods if not pod.node_name]
    random.Random(seed).shuffle(waiting)
    for pod in waiting:
        node = _emptiest(pod, state)
        if node is None:
            raw[pod.key]["status"] = _unschedulable()
            continue
        state.add(pod, node)
        raw[pod.key]["spec"]["nodeName"] = node


def _emptiest(pod: Pod, state: State) -> str | None:
    best: tuple[float, str] | None = None
    judge = prepare(pod, state)
    for name, node in state.nodes.items():
        if not judge.passes(name):
            continue
        free = [1 - node.requested.get(r, 0) / node.node.allocatable[r] for r in ("cpu", "memory")]
        score = (-sum(free), name)
        best = score if best is None else min(best, score)
    return best[1] if best else None


def _unschedulable() -> Raw:
    return {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
