"""Small clusters that each tell one story with a headline that can be checked by hand."""

from collections.abc import Callable
from dataclasses import dataclass

from tools.samples.world import World, anti_affinity, requests, spread

ZONES = ("a", "b", "c")
SMALL = requests("100m", "128Mi")


@dataclass(frozen=True)
class Story:
    """A sample: its folder, its title, what it shows, and the headline that the report must print."""

    folder: str
    title: str
    text: str
    nodes_removed: int
    monthly: str
    build: Callable[[], World]


def _fleet(world: World, count: int, shape: str, pool: str = "general") -> list[str]:
    names = [f"ip-10-0-{number // 250}-{10 + number % 250}.ec2.internal" for number in range(count)]
    for number, name in enumerate(names):
        world.node(name, shape, ZONES[number % 3], pool)
    return names


def _bind(world: World, app: str, nodes: list[str]) -> None:
    """Put an app's pods on nodes, one after the other."""
    pods = [
        p for p in world.objects["pods"] if p["metadata"]["labels"].get("app") == app and "nodeName" not in p["spec"]
    ]
    for pod, node in zip(pods, nodes, strict=True):
        pod["spec"]["nodeName"] = node


def _system(world: World) -> None:
    world.daemonset("kube-system", "kube-proxy", requests("50m", "64Mi"))
    world.daemonset("kube-system", "aws-node", requests("50m", "64Mi"))


def two_idle_nodes() -> World:
    """Six nodes, two of which hold nothing but DaemonSet pods."""
    world = World("two-idle-nodes")
    nodes = _fleet(world, 6, "m5.xlarge")
    _system(world)
    world.deployment("shop", "checkout", 12, requests("1200m", "3Gi"))
    _bind(world, "checkout", [node for node in nodes[:4] for _ in range(3)])
    return world


def pdb_allows_none() -> World:
    """A PodDisruptionBudget that allows no disruption keeps four idle nodes alive."""
    world = World("pdb-allows-none")
    nodes = _fleet(world, 4, "m5.xlarge")
    _system(world)
    world.deployment("payments", "ledger", 4, requests("200m", "512Mi"))
    world.budget("payments", "ledger", 4, 0, maxUnavailable=0)
    _bind(world, "ledger", nodes)
    return world


def zonal_volumes() -> World:
    """Volumes live in zones: one node must stay in each."""
    world = World("zonal-volumes")
    nodes = _fleet(world, 6, "m5.xlarge")
    _system(world)
    world.statefulset("data", "postgres", list(ZONES), requests("300m", "1Gi"), "50Gi")
    world.deployment("shop", "web", 6, requests("200m", "256Mi"))
    _bind(world, "postgres", nodes[3:])
    _bind(world, "web", nodes)
    return world


def anti_affinity_three() -> World:
    """Three replicas that must not share a node keep three nodes, however small they are."""
    world = World("anti-affinity-three")
    nodes = _fleet(world, 5, "m5.xlarge")
    _system(world)
    world.deployment("auth", "sso", 3, requests("150m", "256Mi"), affinity=anti_affinity("sso"))
    world.deployment("shop", "web", 5, requests("250m", "256Mi"))
    _bind(world, "sso", nodes[1:4])
    _bind(world, "web", nodes)
    return world


def daemonset_tax() -> World:
    """Agents take almost half of every small node; what is left decides."""
    world = World("daemonset-tax")
    nodes = _fleet(world, 6, "m5.large")
    _system(world)
    world.daemonset("monitoring", "log-agent", requests("400m", "512Mi"))
    world.daemonset("monitoring", "trace-agent", requests("400m", "512Mi"))
    world.deployment("shop", "cart", 6, requests("250m", "512Mi"))
    _bind(world, "cart", nodes)
    return world


def max_pods_full() -> World:
    """Every pod slot is taken while the processors idle: nothing can move."""
    world = World("max-pods-full")
    nodes = _fleet(world, 5, "t3.medium")
    _system(world)
    world.deployment("crm", "tenant", 75, requests("10m", "64Mi"))
    _bind(world, "tenant", [node for node in nodes for _ in range(15)])
    return world


def gpu_fleet() -> World:
    """Single-GPU pods smeared over eight four-GPU machines; four machines are enough."""
    world = World("gpu-fleet")
    taint = [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    gpu_nodes = [f"gpu-{number}" for number in range(8)]
    for number, name in enumerate(gpu_nodes):
        world.node(name, "g5.12xlarge", ZONES[number % 3], "gpu", taint)
    plain = _fleet(world, 2, "m5.xlarge", "system")
    _system(world)
    tolerate = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    world.deployment("ml", "embed", 12, requests("4", "20Gi", nvidia_com__gpu="1"), tolerations=tolerate)
    world.deployment("ml", "train", 1, requests("16", "100Gi", nvidia_com__gpu="4"), tolerations=tolerate)
    world.deployment("kube-system", "coredns", 2, requests("1500m", "7Gi"), affinity=anti_affinity("coredns"))
    _bind(world, "embed", [node for node in gpu_nodes[1:] for _ in range(2)][:12])
    _bind(world, "train", gpu_nodes[:1])
    _bind(world, "coredns", plain)
    return world


def mixed_prices() -> World:
    """Three machines in a rack and two spot nodes have no known price: they carry pods, but no dollars."""
    world = World("mixed-prices")
    nodes = _fleet(world, 4, "m5.xlarge")
    spot = {"eks.amazonaws.com/capacityType": "SPOT"}
    for number, zone in enumerate("ab"):
        world.node(f"spot-{number}", "m5.xlarge", zone, "spot")["metadata"]["labels"].update(spot)
    for number in range(3):
        rack = world.node(f"rack-{number}", "m5.xlarge", "a", "rack")
        rack["spec"] = {}
        for label in (
            "node.kubernetes.io/instance-type",
            "eks.amazonaws.com/nodegroup",
            "eks.amazonaws.com/capacityType",
        ):
            del rack["metadata"]["labels"][label]
    _system(world)
    world.deployment("shop", "search", 9, requests("800m", "2Gi"))
    _bind(world, "search", [*nodes, "spot-0", "spot-1", "rack-0", "rack-1", "rack-2"])
    return world


def four_times_three_cores() -> World:
    """Four nodes of four cores, four pods of three: half empty, and nothing to save."""
    world = World("four-times-three-cores")
    nodes = _fleet(world, 4, "m5.xlarge")
    world.deployment(
        "batch", "render", 4, requests("3", "4Gi"), topologySpreadConstraints=[spread("render", hard=False)]
    )
    _bind(world, "render", nodes)
    return world


STORIES = (
    Story(
        "two-idle-nodes",
        "Two idle nodes",
        "Two of six nodes hold nothing but DaemonSet pods.",
        2,
        "280.32",
        two_idle_nodes,
    ),
    Story(
        "pdb-allows-none",
        "A budget that allows nothing",
        "Four nodes at 5 % cpu. `payments/ledger` has `maxUnavailable: 0`, so no node can be drained.",
        0,
        "0.00",
        pdb_allows_none,
    ),
    Story(
        "zonal-volumes",
        "Volumes pin zones",
        "Three database pods with a volume in each zone, on six nodes. One node a zone must stay.",
        3,
        "420.48",
        zonal_volumes,
    ),
    Story(
        "anti-affinity-three",
        "Anti-affinity keeps three nodes",
        "Three tiny replicas that must not share a node, on five nodes. Two nodes can go.",
        2,
        "280.32",
        anti_affinity_three,
    ),
    Story(
        "daemonset-tax",
        "The DaemonSet tax",
        "Agents take 900m of 1930m on each small node. Six pods of 250m need two nodes, not one.",
        4,
        "280.32",
        daemonset_tax,
    ),
    Story(
        "max-pods-full",
        "Pod slots are full",
        "Seventeen pod slots a node, all taken, at 13 % cpu. Nothing can move.",
        0,
        "0.00",
        max_pods_full,
    ),
    Story(
        "gpu-fleet",
        "GPUs smeared thin",
        "Sixteen GPUs are asked for on eight machines of four. Four machines are enough.",
        4,
        "16562.24",
        gpu_fleet,
    ),
    Story(
        "mixed-prices",
        "Some nodes have no price",
        "Four priced nodes, two spot nodes and three machines in a rack without a price. Only the priced save money.",
        4,
        "560.64",
        mixed_prices,
    ),
    Story(
        "four-times-three-cores",
        "Half empty and nothing to save",
        "Four nodes of four cores, four pods of three cores: no two pods share a node.",
        0,
        "0.00",
        four_times_three_cores,
    ),
)
