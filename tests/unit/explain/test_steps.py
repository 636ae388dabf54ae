"""The commands of a plan, run by a small stand-in for kubectl, evict what the plan evicts, in its order."""

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.node import Node
from ksolver_cli.domain.plan import DrainPlan, Eviction, Wave
from ksolver_cli.domain.report.actions import Command
from ksolver_cli.explain.steps.batches import counts_itself
from ksolver_cli.explain.steps.commands import wave_commands
from ksolver_cli.explain.steps.machines import machine_notes
from ksolver_cli.explain.steps.waiting import Waiting
from ksolver_cli.normalise.classes import classify
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.snapshot.model import Snapshot
from tools.samples.world import World, anti_affinity, requests, spread

NODES = [f"n{number}" for number in range(5)]
SMALL = requests("100m", "64Mi")
TWINS = ("blue", "green")


def _cluster(rng: random.Random) -> Cluster:
    """Twins that only their namespaces tell apart, spread and repelling workloads, ordinals, daemons, a bare pod."""
    world = World("steps")
    for number, name in enumerate(NODES):
        world.node(name, "m5.xlarge", "abc"[number % 3], "general")
    world.daemonset("kube-system", "proxy", SMALL)
    for namespace in TWINS:
        world.deployment(namespace, "twin", rng.randint(0, 4), SMALL)
    world.deployment("shop", "web", rng.randint(0, 6), SMALL, topologySpreadConstraints=[spread("web")])
    world.deployment("shop", "apart", rng.randint(0, 4), SMALL, affinity=anti_affinity("apart"))
    world.deployment("shop", "cache", rng.randint(0, 3), SMALL, volumes=[{"name": "s", "emptyDir": {}}])
    world.statefulset("data", "store", ["a"] * rng.randint(0, 3), SMALL, None)
    for pod in world.objects["pods"]:
        pod["spec"].setdefault("nodeName", rng.choice(NODES))
        if pod["metadata"]["labels"]["app"] == "twin":
            # The same template has the same hash in every namespace.
            pod["metadata"]["labels"]["pod-template-hash"] = "5d9f7c6b8"
    return normalise(Snapshot({kind: tuple(items) for kind, items in world.objects.items()}), complete=True)


def _plan(rng: random.Random, cluster: Cluster) -> DrainPlan:
    """Some nodes, their pods in a random order of classes, cut into waves anywhere between classes."""
    nodes = rng.sample(NODES, rng.randint(1, 4))
    classes = classify(cluster)
    order = list(range(len(classes.pods)))
    rng.shuffle(order)
    steps = [
        [Eviction(pod.key, pod.node_name) for pod in classes.pods[index].members if pod.node_name in nodes]
        for index in order
        if not classes.pods[index].sample.is_daemon
    ]
    cut = rng.randint(0, len(steps))
    parts = [[eviction for row in part for eviction in row] for part in (steps[:cut], steps[cut:])]
    late = {eviction.node for eviction in parts[1]}
    waves = (
        Wave(tuple(n for n in nodes if n not in late), tuple(parts[0])),
        Wave(tuple(n for n in nodes if n in late), tuple(parts[1])),
    )
    return DrainPlan(tuple(wave for wave in waves if wave.nodes or wave.evictions), 0, 0)


class _Kubectl:
    """Does to pods what kubectl would; `evicted` holds, per drain and node, the keys of what it evicted at once."""

    def __init__(self, cluster: Cluster) -> None:
        self.pods = {pod.key: pod for pod in cluster.pods}
        self.labels = {pod.key: dict(pod.labels) for pod in cluster.pods}
        self.nodes = {node.name for node in cluster.nodes}
        self.cordoned: set[str] = set()
        self.evicted: list[list[str]] = []

    def run(self, argv: Sequence[str]) -> None:
        assert argv[0] == "kubectl"
        words = [word for word in argv[2:] if not word.startswith("--")]
        flags = dict(word.partition("=")[::2] for word in argv if word.startswith("--"))
        verbs = {"cordon": self._cordon, "label": self._label, "drain": self._drain, "delete": self._delete}
        if argv[1] in verbs:
            verbs[argv[1]](words, flags)
        else:
            assert argv[1] in ("rollout", "wait")

    def _cordon(self, words: Sequence[str], flags: Mapping[str, str]) -> None:
        self.cordoned |= set(words)

    def _label(self, words: Sequence[str], flags: Mapping[str, str]) -> None:
        kind, flag, namespace, *names, mark = words
        assert (kind, flag) == ("pods", "-n")
        for name in names:
            key, _, value = mark.partition("=")
            self.labels[f"{namespace}/{name}"][key] = value

    def _drain(self, words: Sequence[str], flags: Mapping[str, str]) -> None:
        wanted = dict(part.split("=") for part in flags.get("--pod-selector", "").split(",") if part)
        for node in words:
            assert node in self.nodes
            here = [key for key, pod in self.pods.items() if pod.node_name == node]
            here = [key for key in here if wanted.items() <= self.labels[key].items()]
            gone = [key for key in here if not self.pods[key].is_daemon]
            assert len(gone) == len(here) or "--ignore-daemonsets" in flags
            if any(volume.kind.value.startswith("emptyDir") for key in gone for volume in self.pods[key].spec.volumes):
                assert "--delete-emptydir-data" in flags
            self.evicted.append(gone)
            for key in gone:
                del self.pods[key]

    def _delete(self, words: Sequence[str], flags: Mapping[str, str]) -> None:
        assert words[0] == "node"
        assert all(pod.is_daemon for pod in self.pods.values() if pod.node_name in words)
        self.nodes -= set(words[1:])


@given(seed=st.integers(0, 10**6))
@settings(max_examples=150, deadline=None)
def test_commands_do_what_the_plan_says(seed: int) -> None:
    rng = random.Random(seed)
    cluster = _cluster(rng)
    plan, classes = _plan(rng, cluster), classify(cluster)
    kubectl = _Kubectl(cluster)
    pods = dict(kubectl.pods)
    for wave, commands in zip(plan.waves, wave_commands(cluster, classes, plan), strict=True):
        start = len(kubectl.evicted)
        for command in commands:
            kubectl.run(command.argv)
            assert kubectl.cordoned >= set(plan.nodes)
        assert kubectl.nodes.isdisjoint(wave.nodes)
        together = [set(gone) for gone in kubectl.evicted[start:] if gone]
        order = [eviction.pod for eviction in wave.evictions]
        # One class after the other, and what counts its own kind one by one.
        assert sorted(key for gone in together for key in gone) == sorted(order)
        runs = [classes.pod_class_of[min(gone)] for gone in together]
        assert all(len({classes.pod_class_of[key] for key in gone}) == 1 for gone in together)
        assert _without_repeats(runs) == _without_repeats([classes.pod_class_of[key] for key in order])
        assert all(len(gone) == 1 for gone in together if counts_itself(pods[min(gone)]))


def _without_repeats(items: Sequence[int]) -> list[int]:
    return [item for number, item in enumerate(items) if number == 0 or items[number - 1] != item]


def _flat(commands: Sequence[Sequence[Command]]) -> list[Command]:
    return [command for wave in commands for command in wave]


def test_nothing_is_forced_and_nothing_waits_for_ever() -> None:
    rng = random.Random(7)
    cluster = _cluster(rng)
    commands = _flat(wave_commands(cluster, classify(cluster), _plan(rng, cluster)))
    for command in commands:
        assert not {"--force", "--disable-eviction"} & set(command.argv)
        if command.argv[1] in ("drain", "rollout", "wait"):
            assert any(word.startswith("--timeout=") for word in command.argv)


def test_an_empty_plan_has_no_commands() -> None:
    cluster = _cluster(random.Random(1))
    assert wave_commands(cluster, classify(cluster), DrainPlan((), 0, 0)) == []


@pytest.mark.parametrize(("grace", "timeout"), [(30, "30m"), (3600, "90m")])
def test_a_pod_that_takes_long_to_end_is_given_that_time(grace: int, timeout: str) -> None:
    world = World("grace")
    world.node("n0", "m5.xlarge", "a", "general")
    world.deployment("shop", "web", 1, SMALL, nodeName="n0", terminationGracePeriodSeconds=grace)
    cluster = normalise(Snapshot({kind: tuple(items) for kind, items in world.objects.items()}), complete=True)
    plan = DrainPlan((Wave(("n0",), (Eviction(cluster.pods[0].key, "n0"),)),), 0, 0)
    drains = [c.argv for c in _flat(wave_commands(cluster, classify(cluster), plan)) if c.argv[1] == "drain"]
    assert [f"--timeout={timeout}" in argv for argv in drains] == [True, timeout == "30m"]


@pytest.mark.parametrize(("ready", "waits"), [(True, True), (False, False)])
def test_only_a_whole_workload_is_waited_for(ready: bool, waits: bool) -> None:
    world = World("waiting")
    world.node("n0", "m5.xlarge", "a", "general")
    world.deployment("shop", "web", 2, SMALL, nodeName="n0")
    if not ready:
        world.objects["pods"][0]["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    cluster = normalise(Snapshot({kind: tuple(items) for kind, items in world.objects.items()}), complete=True)
    command = Waiting(cluster).until_back(cluster.pods[0])
    expected = ("kubectl", "rollout", "status", "deployment/web", "-n", "shop", "--timeout=15m")
    assert (command.argv if command else None) == (expected if waits else None)


def test_replicas_of_a_statefulset_are_counted() -> None:
    world = World("waiting")
    world.node("n0", "m5.xlarge", "a", "general")
    world.statefulset("data", "store", ["a", "a"], SMALL, None, nodeName="n0")
    cluster = normalise(Snapshot({kind: tuple(items) for kind, items in world.objects.items()}), complete=True)
    command = Waiting(cluster).until_back(cluster.pods[0])
    assert command is not None
    assert command.argv[:5] == ("kubectl", "wait", "statefulset/store", "-n", "data")
    assert "--for=jsonpath={.status.readyReplicas}=2" in command.argv


def _machine(name: str, provider: str, **labels: str) -> Node:
    return Node(name, {}, labels={key.replace("__", "/"): value for key, value in labels.items()}, provider_id=provider)


def test_every_machine_is_named_once_in_the_words_of_its_provider() -> None:
    nodes = [
        _machine("a", "aws:///us-east-1a/i-0abc"),
        _machine("b", "aws:///us-east-1b/i-0def", **{"karpenter.sh__nodepool": "default"}),
        _machine("c", "gce://project/europe-west1-b/gke-c"),
        _machine("d", "azure:///subscriptions/s/x/0", **{"kubernetes.azure.com__agentpool": "np1"}),
        _machine("e", "kind://docker/kind/e"),
    ]
    notes = machine_notes(nodes)
    assert len(notes) == 5
    assert sum("i-0abc" in note and "--should-decrement-desired-capacity" in note for note in notes) == 1
    assert not any("i-0def" in note for note in notes)
    assert any("Karpenter" in note for note in notes)
    assert any("--zone=europe-west1-b --instances=gke-c" in note for note in notes)
    assert any("--nodepool-name np1 --machine-names d" in note for note in notes)
    assert machine_notes([]) == ()
