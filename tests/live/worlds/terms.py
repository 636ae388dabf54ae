"""Random selectors, affinity terms, spread constraints and tolerations."""

from random import Random
from typing import Any

from tests.live.worlds.nodes import HOST, REGION, ZONE

Json = dict[str, Any]

APPS = ("web", "cache", "batch")
NAMESPACES = ("default", "ops", "lab")
KEYS = (ZONE, HOST, "team", REGION)
TOLERATIONS = (
    {"operator": "Exists"},
    {"key": "gpu", "operator": "Exists"},
    {"key": "gpu", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30},
    {"key": "gpu", "value": "yes"},
    {"key": "team", "operator": "Equal", "value": "red", "effect": "NoSchedule"},
    {"key": "team", "operator": "Equal", "value": "blue", "effect": ""},
    {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
    {"operator": "Exists", "effect": "NoExecute"},
    {"key": "level", "operator": "Equal", "value": "7", "effect": "NoSchedule"},
)


def tolerations(random: Random) -> list[Json]:
    return random.sample(TOLERATIONS, random.choice((1, 1, 2, 3)))


def requirement(random: Random) -> Json:
    key = random.choice((ZONE, HOST, "team", "gen", "kubernetes.io/os", "absent"))
    operator = random.choice(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"))
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    if operator in ("Gt", "Lt"):
        return {
            "key": random.choice(("gen", "gen", key)),
            "operator": operator,
            "values": [random.choice(("2", "4", "6", "-1"))],
        }
    pool = {ZONE: ("za", "zb", "zd"), HOST: ("n0", "n1", "n9"), "team": ("red", "blue", ""), "gen": ("3", "7", "08")}
    values = pool.get(key, ("linux", "x"))
    return {"key": key, "operator": operator, "values": random.sample(values, random.choice((1, 2)))}


def node_term(random: Random) -> Json:
    term: Json = {}
    if random.random() < 0.85:
        term["matchExpressions"] = [requirement(random) for _ in range(random.choice((1, 1, 2)))]
    if random.random() < 0.2:
        operator = random.choice(("In", "In", "NotIn"))
        term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [f"n{random.randint(0, 4)}"]}]
    return term


def node_affinity(random: Random) -> Json:
    found: Json = {}
    if random.random() < 0.9:
        terms = [node_term(random) for _ in range(random.choice((1, 1, 2, 3)))]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if random.random() < 0.2:
        wish = {"weight": 5, "preference": {"matchExpressions": [requirement(random)]}}
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [wish]
    return found


def label_selector(random: Random) -> Json | None:
    roll = random.random()
    if roll < 0.05:
        return None
    if roll < 0.12:
        return {}
    if roll < 0.7:
        return {"matchLabels": {"app": random.choice(APPS)} | ({"ver": "1"} if random.random() < 0.2 else {})}
    choices: tuple[Json, ...] = (
        {"key": "app", "operator": "In", "values": random.sample(APPS, 2)},
        {"key": "app", "operator": "NotIn", "values": [random.choice(APPS)]},
        {"key": "ver", "operator": "Exists"},
        {"key": "ver", "operator": "DoesNotExist"},
    )
    return {"matchExpressions": random.sample(choices, random.choice((1, 1, 2)))}


def with_selector(random: Random, body: Json) -> Json:
    selector = label_selector(random)
    return body if selector is None else body | {"labelSelector": selector}


def pod_term(random: Random) -> Json:
    term = with_selector(random, {"topologyKey": random.choice(KEYS)})
    if random.random() < 0.2:
        term["namespaces"] = random.sample(NAMESPACES, random.choice((1, 2)))
    if random.random() < 0.25:
        choices: tuple[Json, ...] = (
            {},
            {"matchLabels": {"tier": "prod"}},
            {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
            {"matchLabels": {"kubernetes.io/metadata.name": "ops"}},
        )
        term["namespaceSelector"] = random.choice(choices)
    if "labelSelector" in term and random.random() < 0.12:
        term[random.choice(("matchLabelKeys", "mismatchLabelKeys"))] = ["ver"]
    return term


def pod_affinity(random: Random, share: float) -> Json:
    found: Json = {}
    if random.random() < share:
        terms = [pod_term(random) for _ in range(random.choice((1, 1, 2)))]
        found["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    if random.random() < share:
        terms = [pod_term(random) for _ in range(random.choice((1, 1, 2)))]
        found["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    return found


def spread(random: Random) -> Json:
    hard = random.random() < 0.85
    found = with_selector(
        random,
        {
            "maxSkew": random.choice((1, 1, 2, 3)),
            "topologyKey": random.choice(KEYS),
            "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        },
    )
    if hard and random.random() < 0.25:
        found["minDomains"] = random.randint(1, 4)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if random.random() < 0.3:
            found[field] = random.choice(("Honor", "Ignore"))
    if found.get("labelSelector") and random.random() < 0.15:
        found["matchLabelKeys"] = ["ver"]
    return found
