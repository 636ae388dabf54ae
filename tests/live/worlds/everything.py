"""Random clusters with every construct that a Filter plugin looks at, and one pod to place."""

from random import Random
from typing import Any

from tests.live.worlds import devices
from tests.live.worlds.nodes import labels, nodes
from tests.live.worlds.pods import THEMES, asked, present
from tests.live.worlds.terms import NAMESPACES
from tests.live.worlds.volumes import ephemeral_claims, pod_volumes, storage

Json = dict[str, Any]


def world(seed: str) -> Json:
    """The cluster of a seed: objects by plural kind, and `pod`. Two to four themes give it its constraints."""
    random = Random(seed)
    themes = set(random.sample(THEMES, random.choice((1, 2, 2, 3, 4))))
    found = _with_devices(random, themes) if "devices" in themes else _plain(random, themes)
    count = len(found["nodes"])
    found["pods"] = [present(random, f"e{index}", count, themes) for index in range(random.choice((0, 1, 3, 6)))]
    tiers = ({"tier": "prod"}, {"tier": "dev"}, {})
    found["namespaces"] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": _named(name, random.choice(tiers))},
        }
        for name in NAMESPACES
    ]
    if "volumes" in themes:
        _add_volumes(random, found)
    return found


def _named(name: str, tier: Json) -> Json:
    return {"kubernetes.io/metadata.name": name} | tier


def _plain(random: Random, themes: set[str]) -> Json:
    return {"nodes": nodes(random, random.randint(1, 5)), "pod": asked(random, themes)}


def _with_devices(random: Random, themes: set[str]) -> Json:
    """A world of devices whose nodes and pod get the other themes' constraints as well."""
    found = devices.world(random)
    pod, other = found["pod"], asked(random, themes - {"room"})
    for field, value in other["spec"].items():
        pod["spec"].setdefault(field, value)
    pod["metadata"]["labels"] = other["metadata"]["labels"]
    for node in found["nodes"]:
        node["metadata"]["labels"] = labels(random, node["metadata"]["name"]) | node["metadata"]["labels"]
    return found


def _add_volumes(random: Random, found: Json) -> None:
    pod = found["pod"]
    namespace = pod["metadata"].get("namespace", "default")
    kept = storage(random, found["nodes"], namespace)
    claims = kept["persistentvolumeclaims"]
    pod["spec"]["volumes"] = pod_volumes(random, "p", claims)
    for other in found["pods"]:
        if other["metadata"]["namespace"] == namespace and random.random() < 0.5:
            other["spec"]["volumes"] = pod_volumes(random, other["metadata"]["name"], claims)
    claims += [claim for one in (pod, *found["pods"]) for claim in ephemeral_claims(random, one)]
    found |= kept
