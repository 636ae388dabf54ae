"""Small clusters to consolidate, drawn from a seed: every kind of constraint in each, so that none is met by luck."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
TYPE = "node.kubernetes.io/instance-type"
ZONES = ("eu-1a", "eu-1b", "eu-1c")
TYPES = {"small.2": (2000, 8192), "wide.4": (4000, 8192), "even.4": (4000, 16384), "deep.4": (4000, 32768)}
PRICES = {"small.2": 96_130, "wide.4": 171_270, "even.4": 192_410, "deep.4": 252_190}
"""Micro-dollars an hour."""
DRIVER = "disk.example"
LINGER = "test.example/linger"
"""Finalizer of pods that take their time to end."""
BLOCKED, PINNED, LOST = "vault", "pinned", "lost"

Raw = dict[str, object]


@dataclass(frozen=True)
class App:
    """A workload: scheduled at `peak` replicas, analysed at `replicas`. `budget` is the spec of its budget."""

    name: str
    replicas: int
    peak: int
    cpu: int
    memory: int
    kind: str = "Deployment"
    namespace: str = "shop"
    spec: Mapping[str, object] = field(default_factory=dict)
    budget: Mapping[str, object] | None = None
    annotations: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    zones: tuple[str, ...] = ()
    """With zones each pod of a StatefulSet has a volume, in these zones by turns."""
    lingers: bool = False
    """Its pods take seconds to end, as real ones do."""
    app: str = ""
    """The label `app`, where it is not the name."""

    @property
    def label(self) -> str:
        """Value of the label `app`."""
        return self.app or self.name


@dataclass(frozen=True)
class World:
    """Nodes as (name, type, zone, pool), and what runs on them."""

    seed: int
    nodes: tuple[tuple[str, str, str, str], ...]
    apps: tuple[App, ...]

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces with workloads."""
        return tuple(sorted({app.namespace for app in self.apps}))


def spread(app: str, key: str, skew: int, *, hard: bool = True, **more: object) -> Raw:
    """One topologySpreadConstraint, as a piece of a pod spec."""
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    term = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": _app(app), **more}
    return {"topologySpreadConstraints": [term]}


def affinity(kind: str, app: str, key: str, *, required: bool = True) -> Raw:
    """One term of pod affinity or anti-affinity, as a piece of a pod spec."""
    term = {"topologyKey": key, "labelSelector": _app(app)}
    if required:
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    weighted = {"weight": 50, "podAffinityTerm": term}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}}}


def draw(seed: int, nodes: int) -> World:
    """The world of a seed."""
    rng = random.Random(seed)
    fleet = tuple(_node(rng, index) for index in range(nodes))
    scale = nodes / 12
    return World(seed, fleet, tuple(_sized(rng, app, scale) for app in (*_bound(rng), *_free(rng, scale))))


def _node(rng: random.Random, index: int) -> tuple[str, str, str, str]:
    """Three nodes of the first dozen are tainted for data, three selected by batch, the rest take anything."""
    pool = "data" if index % 12 in (3, 4, 5) else "batch" if index % 12 in (6, 7, 8) else "web"
    kinds = {"data": ("even.4", "deep.4"), "batch": ("wide.4", "even.4"), "web": ("small.2", "even.4", "wide.4")}
    return f"node-{index:02d}", rng.choice(kinds[pool]), ZONES[index % 3], pool


def _sized(rng: random.Random, app: App, scale: float) -> App:
    """Unevenly sized requests, so that what fits is seldom what is promised by sums."""
    cpu = max(50, int(app.cpu * rng.uniform(0.6, 1.4)) // 10 * 10)
    memory = max(64, int(app.memory * rng.uniform(0.6, 1.4)) // 16 * 16)
    return replace(app, cpu=cpu, memory=memory)


def _bound(rng: random.Random) -> Sequence[App]:
    """One workload for each kind of constraint."""
    data = {"tolerations": [{"key": "dedicated", "value": "data", "effect": "NoSchedule"}]}
    on_data = {**data, "nodeSelector": {"pool": "data"}}
    in_types = {"key": TYPE, "operator": "In", "values": ["wide.4", "even.4", "deep.4"]}
    by_type = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [in_types]}]}
    }
    one, scratch = {"maxUnavailable": 1}, {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    return (
        App("zonal", rng.randint(4, 6), 9, 250, 512, spec=spread("zonal", ZONE, 1), budget=one, lingers=True),
        App("zonal-two", 5, 8, 200, 384, spec=spread("zonal-two", ZONE, 2)),
        App("soft", 4, 9, 200, 512, spec=spread("soft", ZONE, 1, hard=False), lingers=True),
        App("hosts", 4, 6, 150, 256, spec=spread("hosts", HOST, 2, nodeTaintsPolicy="Honor")),
        App(
            "apart",
            3,
            5,
            200,
            256,
            spec=affinity("podAntiAffinity", "apart", HOST),
            budget={"minAvailable": "50%"},
            lingers=True,
        ),
        App("aloof", 3, 6, 150, 512, spec=affinity("podAntiAffinity", "aloof", HOST, required=False)),
        App("near", 2, 4, 150, 256, spec=affinity("podAffinity", "zonal", ZONE)),
        App("typed", 3, 6, 300, 512, spec={"affinity": {"nodeAffinity": by_type}}),
        App("batch", 4, 9, 400, 512, spec={"nodeSelector": {"pool": "batch"}}),
        App("edge", 2, 4, 100, 128, ports=(8443,)),
        App("urgent", 2, 4, 300, 512, spec={"priorityClassName": "urgent"}),
        App("cache", 3, 6, 200, 512, spec=scratch),
        App("store", 4, 6, 300, 2048, "StatefulSet", "data", on_data, one, zones=ZONES, lingers=True),
        App("queue", 3, 5, 200, 1024, "StatefulSet", "data", data),
        App(BLOCKED, 1, 1, 150, 128, budget={"maxUnavailable": 0}),
        App(PINNED, 1, 1, 100, 128, annotations={"karpenter.sh/do-not-disrupt": "true"}),
        App("twin-blue", 2, 4, 150, 256, namespace="blue", app="twin"),
        App("twin-green", 2, 4, 150, 256, namespace="green", app="twin"),
        App(LOST, 1, 1, 64_000, 256),
    )


def _free(rng: random.Random, scale: float) -> list[App]:
    """Workloads that may go anywhere; pods large and small, so that the order in which they leave matters."""
    found = []
    for number in range(round(6 * scale)):
        replicas = rng.randint(1, 5)
        budget = {"maxUnavailable": "34%"} if number % 4 == 0 and replicas > 2 else None
        cpu, memory = rng.choice((150, 300, 700, 1200)), rng.choice((256, 1024, 2560))
        found.append(App(f"free-{number}", replicas, replicas + rng.randint(1, 4), cpu, memory, budget=budget))
    return found


def _app(name: str) -> Raw:
    return {"matchLabels": {"app": name}}
