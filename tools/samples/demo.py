"""The demo: a shop's production cluster on EKS, two years old, grown by copy and paste.

Six node groups, a hundred workloads, spread and anti-affinity where somebody once had an outage, budgets that allow
nothing, volumes in zones, a GPU corner, and half of what is paid for unused.
"""

import random

from tools.samples.world import World, anti_affinity, requests, spread

SEED = 20260901
ZONES = ("a", "b", "c")
POOLS = (
    ("general", "m5.2xlarge", 84, None),
    ("compute", "c5.4xlarge", 30, None),
    ("memory", "r5.2xlarge", 24, ("dedicated", "data")),
    ("legacy", "m5.xlarge", 36, None),
    ("gpu", "g5.12xlarge", 6, ("nvidia.com/gpu", "present")),
    ("system", "m5.large", 6, ("CriticalAddonsOnly", "true")),
)
TEAMS = ("shop", "payments", "search", "logistics", "identity", "marketing", "analytics", "platform")
SERVICES = (
    "api gateway cart checkout catalog pricing inventory orders refunds ledger fraud payout invoices "
    "tax currency suggest ranking indexer spellcheck facets tracking routing labels warehouse "
    "returns sso profiles consent audit campaigns newsletter coupons segments ab-tests clickstream "
    "reports dashboards exports webhooks feature-flags rate-limiter images thumbnails reviews "
    "ratings wishlist chat notifications sms push geo maps eta drivers dispatch loyalty giftcards "
    "subscriptions billing-ui admin-ui partner-api public-api mobile-bff web-bff sitemap seo "
)
SHAPES = (
    ("150m", "256Mi"),
    ("250m", "512Mi"),
    ("300m", "1Gi"),
    ("500m", "1Gi"),
    ("500m", "2Gi"),
    ("1", "2Gi"),
    ("1500m", "4Gi"),
)


def demo() -> World:
    """All objects; pods of workloads are not placed yet."""
    rng = random.Random(SEED)
    world = World("shop-production")
    _nodes(world)
    _daemons(world)
    _services(world, rng)
    _data(world)
    _jobs(world)
    _gpu(world)
    return world


def _nodes(world: World) -> None:
    number = 0
    for pool, shape, count, taint in POOLS:
        taints = [{"key": taint[0], "value": taint[1], "effect": "NoSchedule"}] if taint else None
        for index in range(count):
            name = f"ip-10-{20 + index % 3}-{number // 200}-{10 + number % 200}.ec2.internal"
            world.node(name, shape, ZONES[index % 3], pool, taints)["metadata"]["labels"]["pool"] = pool
            number += 1


def _daemons(world: World) -> None:
    world.daemonset("kube-system", "aws-node", requests("50m", None))
    world.daemonset("kube-system", "kube-proxy", requests("100m", None))
    world.daemonset("kube-system", "ebs-csi-node", requests("30m", "120Mi"))
    world.daemonset("monitoring", "node-exporter", requests("50m", "64Mi"))
    world.daemonset("logging", "fluent-bit", requests("100m", "200Mi"))
    gpu = [n["metadata"]["name"] for n in world.objects["nodes"] if n["metadata"]["labels"]["pool"] == "gpu"]
    world.daemonset("gpu-operator", "nvidia-device-plugin", requests("50m", "64Mi"), gpu, nodeSelector={"pool": "gpu"})


def _services(world: World, rng: random.Random) -> None:
    for number, app in enumerate(SERVICES.split()):
        cpu, memory = rng.choice(SHAPES)
        replicas = rng.choice((3, 4, 6, 8, 9, 12, 18, 24))
        spec: dict[str, object] = {}
        if number % 4 == 0:
            spec["topologySpreadConstraints"] = [spread(app)]
        elif number % 4 == 1:
            spec["topologySpreadConstraints"] = [spread(app, skew=2, hard=False)]
        if number % 9 == 4:
            spec["affinity"] = anti_affinity(app)
        if number % 6 == 5:
            spec["nodeSelector"] = {"pool": "compute"}
        elif number % 11 == 3:
            spec["nodeSelector"] = {"pool": "legacy"}
        namespace = TEAMS[number % len(TEAMS)]
        world.deployment(namespace, app, replicas, requests(cpu, memory), **spec)
        if number % 3 == 0:
            world.budget(namespace, app, replicas, max(1, replicas // 3), maxUnavailable=f"{100 // 3}%")
    # Somebody was careful once: no voluntary disruption, ever.
    world.deployment("payments", "card-vault", 3, requests("500m", "1Gi"), affinity=anti_affinity("card-vault"))
    world.budget("payments", "card-vault", 3, 0, maxUnavailable=0)
    world.deployment("identity", "hsm-proxy", 2, requests("250m", "512Mi"))
    world.budget("identity", "hsm-proxy", 2, 0, minAvailable=2)


def _data(world: World) -> None:
    tolerate = [{"key": "dedicated", "operator": "Equal", "value": "data", "effect": "NoSchedule"}]
    memory = {"tolerations": tolerate, "nodeSelector": {"pool": "memory"}}
    world.statefulset(
        "data", "kafka", list("abcabc"), requests("2", "16Gi"), "500Gi", **memory, affinity=anti_affinity("kafka")
    )
    world.statefulset("data", "opensearch", list("abcabcabc"), requests("2", "24Gi"), "300Gi", **memory)
    world.statefulset("data", "postgres-orders", list("abc"), requests("2", "20Gi"), "200Gi", **memory)
    world.statefulset("data", "postgres-ledger", list("abc"), requests("1500m", "16Gi"), "200Gi", **memory)
    world.statefulset("data", "redis", list("abcabc"), requests("500m", "6Gi"), None, affinity=anti_affinity("redis"))
    world.budget("data", "kafka", 6, 1, maxUnavailable=1)
    world.budget("data", "opensearch", 9, 1, maxUnavailable=1)
    world.budget("data", "redis", 6, 1, maxUnavailable=1)


def _jobs(world: World) -> None:
    system = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
    world.deployment(
        "kube-system", "coredns", 4, requests("100m", "70Mi"), tolerations=system, affinity=anti_affinity("coredns")
    )
    world.deployment("kube-system", "cluster-autoscaler", 1, requests("100m", "600Mi"), tolerations=system)
    world.deployment("kube-system", "metrics-server", 2, requests("100m", "200Mi"), tolerations=system)
    world.budget("kube-system", "coredns", 4, 1, maxUnavailable=1)
    job = {
        "containers": [{"name": "reindex", "image": "registry.example/reindex:3", "resources": requests("2", "8Gi")}]
    }
    pod = world.pod(
        "search", "reindex-28811-x7k2p", {**job, "restartPolicy": "Never"}, ("Job", "reindex-28811"), {"app": "reindex"}
    )
    pod["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    debug = {
        "containers": [
            {"name": "shell", "image": "registry.example/netshoot:1", "resources": requests("100m", "128Mi")}
        ]
    }
    world.pod("platform", "debug-anna", debug, None, {"app": "debug-anna"})
    lost = {
        "containers": [{"name": "trial", "image": "registry.example/trial:1", "resources": requests("64", "512Gi")}]
    }
    waiting = world.pod("analytics", "cohort-trial-0", lost, ("StatefulSet", "cohort-trial"), {"app": "cohort-trial"})
    waiting["status"] = {"phase": "Pending"}


def _gpu(world: World) -> None:
    tolerate = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
    spec = {"tolerations": tolerate, "nodeSelector": {"pool": "gpu"}}
    world.deployment("ml", "embeddings", 6, requests("4", "20Gi", nvidia_com__gpu="1"), **spec)
    world.deployment("ml", "image-tags", 4, requests("4", "16Gi", nvidia_com__gpu="1"), **spec)
