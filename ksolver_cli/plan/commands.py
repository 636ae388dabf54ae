"""From a drain plan to kubectl: what to run, in which order, what to look at first, and how to undo it.

Commands are arguments, never strings; quoting is for whoever prints them. Only kubectl is used, so that they hold
on every cloud; ending the machine behind a removed node is said, not done.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from ksolver_cli.constraints.eviction import loses_local_data
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.plan import DrainPlan, Eviction, Wave
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.report.actions import Command

STEP_LABEL = "ksolver.dev/drain-step"
"""Put on pods about to be evicted where no label of theirs tells a step apart; their replacements do not carry it."""
PREFERRED_KEYS = ("app", "app.kubernetes.io/name", "app.kubernetes.io/instance", "k8s-app", "name")
_SETTLED = "every evicted pod's replacement is running"


@dataclass(frozen=True, slots=True)
class WaveCommands:
    """What one wave takes. `undo` puts back what is not removed yet."""

    prechecks: tuple[Command, ...]
    commands: tuple[Command, ...]
    undo: tuple[Command, ...]


def wave_commands(cluster: Cluster, plan: DrainPlan) -> tuple[WaveCommands, ...]:
    """Commands of each wave, in order. The first wave cordons every node of the plan: evicted pods then never come to a
    node that is to go.
    """
    return _Writer(cluster, plan).waves()


class _Writer:
    def __init__(self, cluster: Cluster, plan: DrainPlan) -> None:
        self._plan = plan
        self._pods = {p.key: p for p in cluster.pods}
        nodes = set(plan.nodes)
        self._left = {p.key for p in cluster.pods if p.is_bound and p.node_name in nodes and not p.is_daemon}
        self._step = 0

    def waves(self) -> tuple[WaveCommands, ...]:
        return tuple(self._wave(i, wave) for i, wave in enumerate(self._plan.waves))

    def _wave(self, number: int, wave: Wave) -> WaveCommands:
        commands: list[Command] = []
        if number == 0:
            commands.append(Command(("kubectl", "cordon", *self._plan.nodes), "take no new pods on nodes that will go"))
        for step in _steps(wave):
            commands += self._evict(step)
        if wave.nodes:
            commands += self._remove(wave)
        left = [n for later in self._plan.waves[number:] for n in later.nodes]
        undo = (
            (Command(("kubectl", "uncordon", *left), "let pods come back to nodes that are still there"),)
            if left
            else ()
        )
        return WaveCommands(_prechecks(self._plan) if number == 0 else _between(), tuple(commands), undo)

    def _evict(self, step: Sequence[Eviction]) -> Iterator[Command]:
        """Label the pods if need be, then drain exactly them; budgets are honoured and waited for by kubectl."""
        pods = [self._pods[e.pod] for e in step]
        self._left -= {p.key for p in pods}
        rest = [self._pods[key] for key in self._left]
        selector = telling_selector(pods, rest)
        if selector is None:
            self._step += 1
            selector = f"{STEP_LABEL}={self._step}"
            yield from _labels(pods, selector)
        nodes = list(dict.fromkeys(e.node for e in step))
        argv = ("kubectl", "drain", *nodes, *_flags(pods), f"--pod-selector={selector}")
        yield Command(argv, f"evict {len(pods)} pods from {len(nodes)} nodes", _SETTLED)

    def _remove(self, wave: Wave) -> Iterator[Command]:
        yield Command(
            ("kubectl", "drain", *wave.nodes, "--ignore-daemonsets", "--delete-emptydir-data"),
            "see that nothing is left on the nodes that go now",
            _SETTLED,
        )
        yield Command(
            ("kubectl", "delete", "node", *wave.nodes),
            "remove the nodes",
            "their machines are terminated, by their pool's own means; a node costs until then",
        )


def _steps(wave: Wave) -> Iterator[tuple[Eviction, ...]]:
    sizes = wave.steps or (len(wave.evictions),)
    for start, end in pairwise(accumulate(sizes, initial=0)):
        if wave.evictions[start:end]:
            yield wave.evictions[start:end]


def _flags(pods: Sequence[Pod]) -> tuple[str, ...]:
    loses = any(loses_local_data(p) or _has_memory_volume(p) for p in pods)
    return ("--ignore-daemonsets", "--delete-emptydir-data") if loses else ("--ignore-daemonsets",)


def _has_memory_volume(pod: Pod) -> bool:
    return any(v.kind.value.startswith("emptyDir") for v in pod.spec.volumes)


def _labels(pods: Sequence[Pod], label: str) -> Iterator[Command]:
    by_namespace: dict[str, list[str]] = defaultdict(list)
    for pod in pods:
        by_namespace[pod.namespace].append(pod.name)
    for namespace, names in by_namespace.items():
        yield Command(
            ("kubectl", "label", "pod", "-n", namespace, *names, label, "--overwrite"), "mark the pods of this step"
        )


def telling_selector(pods: Sequence[Pod], others: Sequence[Pod]) -> str | None:
    """A label selector that takes all of `pods` and none of `others`; None where no single key can tell them apart."""
    shared = set(pods[0].labels).intersection(*(p.labels for p in pods[1:]))
    ranked = sorted(shared, key=lambda k: (PREFERRED_KEYS.index(k) if k in PREFERRED_KEYS else len(PREFERRED_KEYS), k))
    for key in ranked:
        values = {p.labels[key] for p in pods}
        if all(values) and not any(p.labels.get(key) in values for p in others):
            return f"{key} in ({','.join(sorted(values))})" if len(values) > 1 else f"{key}={min(values)}"
    return None


def _prechecks(plan: DrainPlan) -> tuple[Command, ...]:
    if not plan.nodes:
        return ()
    return (
        Command(("kubectl", "get", "nodes", *plan.nodes), "the nodes are there and Ready"),
        *_between(),
        Command(("kubectl", "get", "poddisruptionbudgets", "-A"), "budgets allow at least one disruption each"),
    )


def _between() -> tuple[Command, ...]:
    pending = ("kubectl", "get", "pods", "-A", "--field-selector=status.phase=Pending")
    return (Command(pending, "no pod pends that did not before"),)
