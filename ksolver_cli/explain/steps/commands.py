"""The waves of a drain plan as kubectl commands, to be run one after the other.

All nodes but those that go by themselves are cordoned first. A wave evicts batch after batch through `kubectl drain`,
which honours budgets and waits until the pods are gone; after each batch its workload is waited for, so that the next
eviction meets the state that the replay met. Then the wave's nodes are drained without a selector, which refuses where
something unplanned without a controller runs, and removed: a cordoned node is still a spread domain, and still costs.
A wave that is alone cordons, drains and removes its node, and only then waits for its pods.
"""

from collections.abc import Iterable, Iterator

from ksolver_cli.constraints.eviction import must_move
from ksolver_cli.domain.classes import Classes
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Wave
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.report.actions import Command
from ksolver_cli.explain.steps.batches import Batch, batches, has_local_data
from ksolver_cli.explain.steps.selecting import MARK, Selecting, selector_text
from ksolver_cli.explain.steps.waiting import Waiting

DRAIN_MINUTES = 30
"""What a budget may hold up a node's drain, besides the pods' own time to end; kubectl counts it for each node."""

LOOK = Command(
    ("kubectl", "get", "pods", "--all-namespaces", "--field-selector=status.phase=Pending"),
    "what waits for a node",
)


def wave_commands(cluster: Cluster, classes: Classes, plan: DrainPlan) -> list[tuple[Command, ...]]:
    """The commands of each wave, in the plan's order."""
    writer = _Writer(cluster, plan)
    found: list[tuple[Command, ...]] = []
    for number, wave in enumerate(plan.waves, start=1):
        if wave.alone:
            found.append(tuple(writer.by_itself(wave)))
            continue
        commands: list[Command] = []
        if number == 1:
            commands.append(Command(("kubectl", "cordon", *plan.cordoned_first), "no node of the plan takes new pods"))
        for count, batch in enumerate(batches(wave.evictions, writer.pods, classes), start=1):
            commands += writer.evict(batch, f"{number}-{count}")
        commands += _removal(wave.nodes)
        found.append(tuple(commands))
    return found


def _removal(nodes: tuple[str, ...]) -> tuple[Command, ...]:
    if not nodes:
        return ()
    sweep = ("kubectl", "drain", *nodes, "--ignore-daemonsets", _timeout(0))
    return (Command(sweep, "nothing but daemons is left"), Command(("kubectl", "delete", "node", *nodes), "remove"))


class _Writer:
    """Writes batches, and keeps in mind which pods are still on the nodes."""

    def __init__(self, cluster: Cluster, plan: DrainPlan) -> None:
        # A drain by itself evicts what is there by then, and that is any pod which the plan moves.
        moved = {e.pod for wave in plan.waves for e in wave.evictions}
        self._moves_local_data = any(has_local_data(pod) for pod in cluster.pods if pod.key in moved)
        self.pods = {pod.key: pod for pod in cluster.pods}
        self._selecting = Selecting(cluster)
        self._waiting = Waiting(cluster)
        self._left: dict[str, dict[str, Pod]] = {}
        for pod in cluster.pods:
            if must_move(pod):
                self._left.setdefault(pod.node_name, {})[pod.key] = pod

    def evict(self, batch: Batch, number: str) -> Iterator[Command]:
        """Mark the pods where their labels do not tell them apart; evict; wait until they are back."""
        for pod in batch.pods:
            self._left[pod.node_name].pop(pod.key, None)
        labels = self._selecting.labels(batch, tuple(self._others(batch.nodes)))
        if labels is None:
            names = (pod.name for pod in batch.pods)
            mark = f"{MARK}={number}"
            namespace = batch.sample.namespace
            yield Command(("kubectl", "label", "pods", "-n", namespace, *names, mark), "tell them from others")
            labels = {MARK: number}
        yield Command(_drain(batch, selector_text(labels)), "evict")
        back = self._waiting.until_back(batch.sample)
        if back is not None:
            yield back

    def by_itself(self, wave: Wave) -> Iterator[Command]:
        """Cordon, drain and remove the wave's nodes; what waited for that comes back only then."""
        pods = [self.pods[e.pod] for e in wave.evictions]
        data = ("--delete-emptydir-data",) if self._moves_local_data else ()
        grace = max((pod.spec.termination_grace_seconds for pod in pods), default=0)
        yield Command(("kubectl", "cordon", *wave.nodes), "takes no new pods")
        yield Command(("kubectl", "drain", *wave.nodes, "--ignore-daemonsets", *data, _timeout(grace)), "evict")
        yield Command(("kubectl", "delete", "node", *wave.nodes), "remove")
        yield from dict.fromkeys(back for pod in pods if (back := self._waiting.until_back(pod)) is not None)

    def _others(self, nodes: Iterable[str]) -> Iterator[Pod]:
        return (pod for node in nodes for pod in self._left[node].values())


def _drain(batch: Batch, selector: str) -> tuple[str, ...]:
    timeout = _timeout(batch.sample.spec.termination_grace_seconds)
    data = ("--delete-emptydir-data",) if batch.has_local_data else ()
    return ("kubectl", "drain", *batch.nodes, f"--pod-selector={selector}", "--ignore-daemonsets", *data, timeout)


def _timeout(grace_seconds: int) -> str:
    return f"--timeout={DRAIN_MINUTES + grace_seconds // 60}m"
