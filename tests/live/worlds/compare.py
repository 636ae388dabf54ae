"""Our verdicts beside the oracle's on one world, and the smallest world in which they still differ."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from ksolver_cli.constraints.grid.grid import FAIL, PASS, UNKNOWN, Grid
from ksolver_cli.constraints.registry import Judge, first_of, is_pre_filter, prepare
from ksolver_cli.constraints.state import State
from ksolver_cli.domain.cluster import Cluster
from ksolver_cli.domain.pod import Pod
from ksolver_cli.domain.verdict import Rejection, Unknown
from ksolver_cli.normalise.cluster import normalise
from ksolver_cli.render.phrases import reasons
from ksolver_cli.snapshot.model import Snapshot
from tests.live.oracle import Oracle, OracleError
from tests.live.worlds.known import known

Json = dict[str, Any]
Verdicts = dict[str, Json]


def ours(world: Json, version: str) -> Verdicts:
    """Per node: `unknown`, or the families that fail alone and the first one with its words.

    The array form must say the same, else `grid` is in the answer and there is a difference.
    """
    objects = {kind: tuple(items) for kind, items in world.items() if kind != "pod"}
    objects["pods"] = (*world["pods"], world["pod"])
    cluster = normalise(Snapshot(objects), complete=True, kubernetes_version=version)
    pod, state = _taken_out(cluster, world["pod"]["metadata"])
    judge = prepare(pod, state)
    said = {node.name: _said(judge, node.name) for node in cluster.nodes}
    grid = Grid(state)
    for name, code in zip(grid.names, grid.verdicts(pod).tolist(), strict=True):
        word = "fail" if said[name]["alone"] else "unknown" if "unknown" in said[name] else "pass"
        if _CODES[code] != word:
            said[name] = {**said[name], "grid": _CODES[code]}
    return said


_CODES = {int(PASS): "pass", int(UNKNOWN): "unknown", int(FAIL): "fail"}


def _taken_out(cluster: Cluster, metadata: Json) -> tuple[Pod, State]:
    key = f"{metadata.get('namespace', 'default')}/{metadata['name']}"
    pod: Pod = next(pod for pod in cluster.pods if pod.key == key)
    state = State(cluster)
    if state.node_of(pod) is not None:
        state.remove(pod)
    return pod, state


def _said(judge: Judge, node: str) -> Json:
    found = judge.objections(node)
    # A family that is unsure may be the one that the scheduler would name, alone or first.
    if any(isinstance(verdict, Unknown) for verdict in found):
        missing = [verdict.missing for verdict in found if isinstance(verdict, Unknown)]
        return {"unknown": missing, "alone": [str(v.family) for v in found if isinstance(v, Rejection)]}
    first = first_of(found)
    if first is None:
        return {"alone": [], "first": None}
    assert isinstance(first, Rejection)
    told = _told(str(first.family), list(reasons(first)))
    if is_pre_filter(first) and not first.params:
        told = ["PreFilterResult"]
    return {"alone": sorted(str(verdict.family) for verdict in found), "first": told}


def theirs(world: Json, oracle: Oracle) -> Verdicts:
    """The same from the scheduler itself; raises OracleError for a world that it refuses."""
    return {node: _heard(said) for node, said in oracle.filter(world, world["pod"]).items()}


def _heard(said: Json) -> Json:
    first = said.get("first_fail")
    if first is None:
        return {"alone": sorted(said["alone"]), "first": None}
    # Sorted, for the scheduler names short resources in the order of a Go map.
    # Two plugins that leave no node between them are named together; each of ours speaks for itself.
    narrowed = first["stage"] == "PreFilterResult" or "simultaneously" in first["reasons"][0]
    told = ["PreFilterResult"] if narrowed else _told(first["plugin"], first["reasons"])
    return {"alone": sorted(said["alone"]), "first": told}


def _told(plugin: str, words: list[str]) -> list[str]:
    """A plugin and its words; of an error in the search for devices only that it is one.

    Which of several errors is met first depends on the order of the search, and that on a Go map.
    """
    return [plugin, *(_ERROR if word.startswith(_ERROR) else word for word in sorted(words))]


_ERROR = 'running "DynamicResources" filter plugin: '


def differences(world: Json, oracle: Oracle, version: str) -> Verdicts:
    """Nodes on which the verdicts differ, with both; nodes of which we say that we do not know are left out."""
    return compared(world, oracle, version)[1]


def compared(world: Json, oracle: Oracle, version: str) -> tuple[Verdicts, Verdicts]:
    """Our verdicts, and the nodes on which they differ from the scheduler's, with both.

    Where the scheduler goes through a Go map, it may say one thing now and another later (devices of several pools):
    it is asked again before a difference counts, and ours must be among its answers.
    """
    said, heard = ours(world, version), theirs(world, oracle)
    for family in known(world, version):
        _forget(family, said, heard)
    found = _differing(said, heard)
    again = [theirs(world, oracle) for _ in range(_REPEATS)] if found else []
    for node in found:
        answers = [heard[node], *(answer[node] for answer in again)]
        if node in said and all(part in [a.get(name) for a in answers] for name, part in said[node].items()):
            said[node] = heard[node]
    return said, _differing(said, heard)


_REPEATS = 10


def _forget(family: str, *sides: Verdicts) -> None:
    """Leave a family out on both sides, and what comes first with it."""
    for side in sides:
        for verdict in side.values():
            verdict["alone"] = [name for name in verdict["alone"] if name != family]
            verdict["first"] = None
            verdict.pop("grid", None)


def _differing(said: Verdicts, heard: Verdicts) -> Verdicts:
    return {
        node: {"ours": said.get(node), "scheduler": heard[node]}
        for node in heard
        if ("unknown" not in said.get(node, {}) or "grid" in said[node]) and said.get(node) != heard[node]
    }


def signature(world: Json, oracle: Oracle, version: str) -> frozenset[str]:
    """What kinds of difference a world shows: the families at odds, else the words; none where a side refuses it."""
    try:
        found = differences(world, oracle, version)
    except (OracleError, StopIteration, KeyError, TypeError, IndexError):
        return frozenset()
    return frozenset(
        _at_odds(both["ours"] or {"alone": [], "first": None}, both["scheduler"]) for both in found.values()
    )


def _at_odds(said: Json, heard: Json) -> str:
    families = sorted(set(said["alone"]) ^ set(heard["alone"]))
    return " ".join(families) if families else f"words of {(said['first'] or heard['first'])[0]}"


def shrunk(world: Json, still: Callable[[Json], bool], rounds: int = 400) -> Json:
    """A smaller world for which `still` holds: parts are taken away one by one as long as it does."""
    current, left = copy.deepcopy(world), rounds
    progress = True
    while progress and left > 0:
        progress = False
        for path in list(_paths(current)):
            candidate = _without(current, path)
            if candidate is None or left <= 0:
                continue
            left -= 1
            if still(candidate):
                current, progress = candidate, True
                break
    return current


_KEPT = frozenset({
    "apiVersion", "kind", "metadata", "name", "namespace", "pod", "nodes", "pods", "spec", "status", "containers",
    "key", "operator", "values", "topologyKey", "maxSkew", "whenUnsatisfiable", "namespaces",
    "uid", "count", "allocationMode", "resourceClaimName", "resourceClaimTemplateName", "storageClassName", "pool",
    "driver", "generation", "resourceSliceCount", "exactly", "firstAvailable", "deviceClassName", "controller",
})  # fmt: skip
"""Keys without which an object would be no such object any more."""


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Ways to every part that may go, the largest parts first."""
    inner: list[tuple[Any, ...]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, _ in items:
        # An emptied list is often an invalid one; the whole field may go instead.
        last = isinstance(value, list) and len(value) == 1
        if key not in _KEPT and path[:1] != ("namespaces",) and not last:
            yield (*path, key)
        inner.append((*path, key))
    for deeper in inner:
        yield from _paths(value[deeper[-1]], deeper)


def _without(world: Json, path: tuple[Any, ...]) -> Json | None:
    candidate = copy.deepcopy(world)
    place: Any = candidate
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return candidate if candidate.get("pod") and candidate.get("nodes") else None
