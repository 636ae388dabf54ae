"""Random clusters with every construct that a Filter plugin looks at, and one pod to place."""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.live.worlds import devices, storage
from tests.live.worlds.nodes import labels, node, nodes
from tests.live.worlds.pods import THEMES, asked, present
from tests.live.worlds.terms import NAMESPACES

Json = dict[str, Any]


def world(random: Random) -> Json:
    """The cluster: objects by plural kind, and `pod`. One to four themes give it its constraints."""
    return _world(random, devices.world)


def plain_world(random: Random) -> Json:
    """The same without what 1.34 has only in name."""
    return _world(random, devices.plain_world)


def _world(random: Random, with_devices: Callable[[Random], Json]) -> Json:
    themes = set(random.sample(THEMES, random.choice((1, 2, 2, 3, 4))))
    if "volumes" in themes:
        found = _decorated(random, storage.world(random), themes)
    elif "devices" in themes:
        found = _decorated(random, with_devices(random), themes)
    else:
        found = {"nodes": nodes(random, random.randint(1, 5)), "pods": [], "pod": asked(random, themes)}
    count = len(found["nodes"])
    found["pods"] += [present(random, f"e{index}", count, themes) for index in range(random.choice((0, 1, 3, 6)))]
    found["namespaces"] = [_namespace(random, name) for name in NAMESPACES]
    return found


def _namespace(random: Random, name: str) -> Json:
    tier = random.choice(({"tier": "prod"}, {"tier": "dev"}, {}))
    metadata = {"name": name, "labels": {"kubernetes.io/metadata.name": name} | tier}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def _decorated(random: Random, found: Json, themes: set[str]) -> Json:
    """A world of volumes or devices whose nodes and pod get the other themes' constraints as well."""
    pod, other = found["pod"], asked(random, themes - {"room"})
    for field, value in other["spec"].items():
        pod["spec"].setdefault(field, value)
    pod["metadata"]["labels"] = other["metadata"]["labels"]
    for mine in found["nodes"]:
        name = mine["metadata"]["name"]
        mine["metadata"]["labels"] = labels(random, name) | mine["metadata"]["labels"]
        if themes - {"volumes", "devices", "deep"}:
            mine["spec"] |= node(random, name)["spec"]
    return found
